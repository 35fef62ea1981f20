// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/devicepane.h"

#include "live/memorybar.h"
#include "models/numbertext.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr const char* plainProperty = "kvwPlain"; // what a name says without colours

enum AmountKind {
    AtMost,
    Share,
};

QString sizeText(std::int64_t bytes)
{
    const NumberText text = bytesText(bytes);
    return text.number + QLatin1Char(' ') + text.unit;
}

QString percentText(double share)
{
    return QLocale().toString(share * 100, 'f', 1) + QStringLiteral(" %");
}

/// "256 × 2.00 MiB", or how many in how many pools.
QString poolsText(const PoolLayout& layout, bool whole)
{
    QStringList out;
    std::int64_t blocks = 0;
    for (const PoolSpec& pool : layout.pools) {
        out.push_back(QStringLiteral("%1 × %2").arg(countText(pool.blocks.value), sizeText(pool.blockBytes.value)));
        blocks += pool.blocks.value;
    }
    if (whole || out.size() == 1)
        return out.join(QStringLiteral(" + "));
    return DevicePane::tr("%1 in %2 pools").arg(countText(blocks)).arg(out.size());
}

QString blockTokensText(const PoolLayout& layout)
{
    std::vector<std::int64_t> sizes;
    for (const GroupLayout& group : layout.groups)
        sizes.push_back(group.blockTokens);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    QStringList out;
    for (const std::int64_t size : sizes)
        out.push_back(countText(size));
    return DevicePane::tr("%1 tokens").arg(out.join(QStringLiteral(", ")));
}

} // namespace

DevicePane::DevicePane(QWidget* parent)
    : QWidget(parent)
    , m_device(new QComboBox(this))
    , m_bar(new MemoryBar(this))
    , m_kind(new QComboBox(this))
    , m_amount(new QLineEdit(this))
    , m_ceilings(new QCheckBox(tr("Measure memory rates first"), this))
    , m_note(new QLabel(this))
    , m_grid(new QGridLayout)
{
    setObjectName(QStringLiteral("devicePane"));
    m_device->setAccessibleName(tr("Device"));
    m_device->addItem(tr("host"), QStringLiteral("host"));
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_kind->addItem(tr("At most"), AtMost);
    m_kind->addItem(tr("Share of plan"), Share);
    m_kind->setAccessibleName(tr("How the size of the run is chosen"));
    m_amount->setAccessibleName(tr("Size of the run"));
    m_amount->setObjectName(QStringLiteral("runSize"));
    m_ceilings->setChecked(true);
    m_ceilings->setToolTip(tr("Copy, read and write rates of this machine in the same run: yardsticks for its rates. "
                              "Takes some seconds."));
    m_note->setWordWrap(true);
    m_note->hide();
    m_grid->setVerticalSpacing(3);
    m_grid->setHorizontalSpacing(8);
    m_grid->setColumnStretch(1, 1);

    auto* size = new QHBoxLayout;
    size->setSpacing(4);
    size->addWidget(m_kind);
    size->addWidget(m_amount, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 8, 0);
    layout->setSpacing(4);
    layout->addWidget(m_device);
    layout->addWidget(m_bar);
    layout->addLayout(size);
    layout->addWidget(m_note);
    layout->addWidget(m_ceilings);
    layout->addLayout(m_grid);
    layout->addStretch(1);
    showAmount();

    connect(m_device, &QComboBox::activated, this, &DevicePane::commit);
    connect(m_ceilings, &QCheckBox::clicked, this, &DevicePane::commit);
    connect(m_amount, &QLineEdit::editingFinished, this, [this] {
        if (m_amount->isModified())
            commit();
    });
    connect(m_kind, &QComboBox::activated, this, [this] {
        m_options.fraction.reset();
        if (m_kind->currentData().toInt() == Share)
            m_options.fraction = 0.1;
        showAmount();
        emit optionsChanged();
    });
}

const ProbeOptions& DevicePane::options() const
{
    return m_options;
}

void DevicePane::showAmount()
{
    m_amount->setText(m_options.fraction ? percentText(*m_options.fraction) : sizeText(m_options.maximumBytes));
    m_amount->setModified(false);
    m_amount->setToolTip(m_options.fraction
            ? tr("Share of the planned blocks, such as 10% or 0.1")
            : tr("As many blocks as this holds, such as 512MiB; never more than planned"));
    m_amount->setPalette({});
    m_note->hide();
}

void DevicePane::commit()
{
    QString wrong;
    const std::string text = m_amount->text().remove(QLatin1Char(' ')).toStdString();
    if (m_kind->currentData().toInt() == Share) {
        const Result<double> share = parseReal(text);
        if (share && *share > 0 && *share <= 1)
            m_options.fraction = *share;
        else
            wrong = tr("A share is more than 0% and at most 100%.");
    } else {
        const Result<Bytes> most = parseBytes(text);
        if (most && most->value > 0)
            m_options.maximumBytes = most->value;
        else
            wrong = tr("A size is wanted, such as 512MiB.");
    }
    if (!wrong.isEmpty()) {
        QPalette palette = m_amount->palette();
        palette.setColor(QPalette::Text, tokensFor(palette).differs);
        m_amount->setPalette(palette);
        m_note->setText(QStringLiteral("✗ ") + wrong);
        m_note->show();
        return;
    }
    m_options.device = m_device->currentData().toString().toStdString();
    m_options.ceilings = m_ceilings->isChecked();
    showAmount();
    emit optionsChanged();
}

void DevicePane::setDevices(const std::vector<OfferedDevice>& devices)
{
    m_devices = devices;
    if (devices.empty())
        return;
    m_device->clear();
    for (const OfferedDevice& device : devices) {
        const QString id = QString::fromStdString(device.info.id);
        m_device->addItem(id + QStringLiteral(" · ") + QString::fromStdString(device.info.name), id);
        m_device->setItemData(m_device->count() - 1, m_device->itemText(m_device->count() - 1), Qt::ToolTipRole);
    }
    const int chosen = m_device->findData(QString::fromStdString(m_options.device));
    m_device->setCurrentIndex(std::max(0, chosen));
    m_device->setToolTip(m_device->currentText());
    m_options.device = m_device->currentData().toString().toStdString();
}

const OfferedDevice* DevicePane::device() const
{
    const auto found = std::find_if(m_devices.begin(), m_devices.end(),
        [&](const OfferedDevice& device) { return device.info.id == m_options.device; });
    return found == m_devices.end() ? nullptr : &*found;
}

void DevicePane::setRunning(bool running)
{
    for (QWidget* widget : std::initializer_list<QWidget*> {m_device, m_kind, m_amount, m_ceilings})
        widget->setEnabled(!running);
}

QString DevicePane::refusal(const PreviewResult* preview) const
{
    const OfferedDevice* offered = device();
    if (!preview || !preview->error.isEmpty() || !offered)
        return {};
    const Result<Bytes> bytes = preview->setup.layout.totalBytes();
    if (!bytes || bytes->value <= offered->limitBytes)
        return {};
    return tr("%1 are more than the limit of %2 (%3).")
        .arg(sizeText(bytes->value), sizeText(offered->limitBytes), QString::fromStdString(offered->limitSource));
}

void DevicePane::setFact(int row, const QString& name, const QString& value, const QString& tip)
{
    while (m_facts.size() <= static_cast<std::size_t>(row)) {
        auto* title = new QLabel(this);
        title->setForegroundRole(QPalette::PlaceholderText);
        title->setTextFormat(Qt::RichText);
        auto* text = new QLabel(this);
        text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
        const int at = static_cast<int>(m_facts.size());
        m_grid->addWidget(title, at, 0);
        m_grid->addWidget(text, at, 1);
        m_facts.emplace_back(title, text);
    }
    const auto& [title, text] = m_facts[static_cast<std::size_t>(row)];
    const bool measured = name.startsWith(QStringLiteral("● "));
    const QString mark = QStringLiteral("<span style=\"color:%1\">●</span> ").arg(tokensFor(palette()).measured.name());
    title->setText(measured ? mark + name.mid(2).toHtmlEscaped() : name.toHtmlEscaped());
    title->setProperty(plainProperty, name);
    text->setText(value);
    text->setToolTip(tip.isEmpty() ? value : tip);
    title->setVisible(!name.isEmpty());
    text->setVisible(!name.isEmpty());
}

void DevicePane::setShown(const PreviewResult* preview, const RunProgress* run)
{
    const bool planned = preview && preview->error.isEmpty();
    const RunSetup* setup = run && run->setup ? run->setup.get() : planned ? &preview->setup : nullptr;
    const OfferedDevice* offered = run && run->reservation ? &run->reservation->device : device();
    const std::int64_t bytes = setup ? setup->layout.totalBytes().value().value : 0;
    if (offered)
        m_bar->setMemory(offered->info.totalBytes, offered->info.availableBytes, bytes, offered->limitBytes);
    else
        m_bar->setMemory(0, 0, 0, 0);
    int row = 0;
    const auto fact
        = [&](const QString& name, const QString& value, const QString& tip = {}) { setFact(row++, name, value, tip); };
    if (offered) {
        const QString source = QString::fromStdString(offered->info.memorySource);
        fact(tr("Device memory"), sizeText(offered->info.totalBytes),
            bytesText(offered->info.totalBytes).exact + QLatin1Char('\n') + source);
        // A reading has its moment: that of the run's start stays while the run is shown.
        fact(run && run->reservation ? tr("● Available at start") : tr("● Available"),
            sizeText(offered->info.availableBytes),
            bytesText(offered->info.availableBytes).exact + QLatin1Char('\n') + source);
        fact(tr("Limit"), sizeText(offered->limitBytes),
            bytesText(offered->limitBytes).exact + QLatin1Char('\n') + QString::fromStdString(offered->limitSource));
    }
    if (setup) {
        fact(run ? tr("Reserved") : tr("Will reserve"), sizeText(bytes), bytesText(bytes).exact);
        if (run && run->memory)
            fact(tr("● Resident"), sizeText(run->memory->poolBytes),
                bytesText(run->memory->poolBytes).exact + QLatin1Char('\n')
                    + QString::fromStdString(run->memory->instrument));
        fact(tr("Of the plan"), tr("%1 of %2").arg(percentText(setup->poolFraction), sizeText(setup->plannedPoolBytes)),
            tr("Pool fraction %1: lengths, batches and pool of the plan are scaled by it")
                .arg(QLocale().toString(setup->poolFraction, 'g', 6)));
        fact(tr("Blocks"), poolsText(setup->layout, false),
            tr("%1. Rank %2 of the plan, %3 in a block")
                .arg(poolsText(setup->layout, true))
                .arg(setup->layout.rank)
                .arg(blockTokensText(setup->layout)));
        fact(tr("Workload"),
            tr("%1 requests").arg(countText(static_cast<std::int64_t>(setup->workload.requests.size()))),
            QString::fromStdString(setup->workload.name));
        const QString rule = QString::fromStdString(setup->behaviour.rule);
        fact(tr("Rules"), rule.section(QStringLiteral(" ("), 0, 0).section(QLatin1Char(':'), 0, 0), rule);
        fact(tr("Does not run"), tr("weights, projections"),
            tr("Pools, block tables, writes and reads of state are real. There are no weights and no projections in a "
               "run, "
               "and it proves nothing about them."));
    }
    while (row < static_cast<int>(m_facts.size()))
        fact({}, {});
}

QStringList DevicePane::facts() const
{
    QStringList out;
    for (const auto& [title, text] : m_facts) {
        if (!title->text().isEmpty())
            out.push_back(title->property(plainProperty).toString() + QStringLiteral(": ") + text->text());
    }
    return out;
}

} // namespace kvw::gui
