// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/retypedialog.h"

#include "models/numbertext.h"
#include "plan/group_edits.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

const LayerGroup* groupIn(const Plan& plan, const QString& id)
{
    const Result<std::size_t> at = groupPosition(plan, id.toStdString());
    return at ? &plan.worksheet.groups[*at] : nullptr;
}

/// The preset that the group is like already, to begin with.
int presetOf(const LayerGroup& group)
{
    const auto presets = groupPresets();
    const bool mamba = std::any_of(
        group.tensors.begin(), group.tensors.end(), [](const StateTensor& tensor) { return tensor.id == "conv_bc"; });
    const auto found = mamba
        ? std::find_if(presets.begin(), presets.end(), [](const GroupPreset& one) { return one.id == "mamba2"; })
        : std::find_if(presets.begin(), presets.end(), [&](const GroupPreset& one) { return one.kind == group.kind; });
    return static_cast<int>(found - presets.begin());
}

/// One line a tensor: "k  8 × 128, min(v, 4096)".
QString keptBy(const LayerGroup& group)
{
    QStringList out;
    for (const StateTensor& tensor : group.tensors)
        out.push_back(QStringLiteral("%1: %2 × %3, %4")
                          .arg(fromStd(tensor.id), countText(tensor.heads), countText(tensor.width),
                              QString::fromStdString(growthText(tensor.growth))));
    if (out.isEmpty())
        out.push_back(RetypeDialog::tr("no state of its own; reads %1").arg(fromStd(group.readsGroup)));
    return out.join(QLatin1Char('\n'));
}

} // namespace

RetypeDialog::RetypeDialog(PlanDocument& document, const QString& group, QWidget* parent)
    : QDialog(parent)
    , m_document(document)
    , m_group(group)
    , m_presets(new QComboBox(this))
    , m_keeps(new QLabel(this))
    , m_form(new QFormLayout)
    , m_outcome(new QLabel(this))
{
    setObjectName(QStringLiteral("retypeDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Retype %1").arg(group));
    m_presets->setObjectName(QStringLiteral("retypePreset"));
    m_presets->setAccessibleName(tr("Preset"));
    for (const GroupPreset& one : groupPresets())
        m_presets->addItem(fromStd(one.title), fromStd(one.id));
    if (const LayerGroup* now = groupIn(document.plan(), group))
        m_presets->setCurrentIndex(presetOf(*now));
    m_outcome->setObjectName(QStringLiteral("retypeOutcome"));
    m_keeps->setForegroundRole(QPalette::PlaceholderText);
    for (QLabel* label : {m_keeps, m_outcome}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setMinimumWidth(fontMetrics().averageCharWidth() * 60);
    }
    m_form->setVerticalSpacing(4);
    auto* head = new QFormLayout;
    head->addRow(tr("&Preset:"), m_presets);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_retype = buttons->addButton(tr("&Retype"), QDialogButtonBox::AcceptRole);
    m_retype->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    layout->addLayout(head);
    layout->addWidget(m_keeps);
    layout->addLayout(m_form);
    layout->addWidget(m_outcome);
    layout->addWidget(buttons);
    layout->setSizeConstraint(QLayout::SetFixedSize); // as high as what the preset asks for
    connect(m_presets, &QComboBox::currentIndexChanged, this, &RetypeDialog::presetChanged);
    connect(buttons, &QDialogButtonBox::accepted, this, &RetypeDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &RetypeDialog::reject);
    connect(&document, &PlanDocument::planChanged, this, &RetypeDialog::refresh);
    presetChanged();
}

const GroupPreset& RetypeDialog::preset() const
{
    return groupPresets()[static_cast<std::size_t>(std::max(0, m_presets->currentIndex()))];
}

void RetypeDialog::presetChanged()
{
    while (m_form->rowCount() > 0)
        m_form->removeRow(0); // and deletes what is in it
    m_rows.clear();
    m_reads = nullptr;
    const LayerGroup* group = groupIn(m_document.plan(), m_group);
    if (!group) {
        close();
        return;
    }
    m_keeps->setText(fromStd(preset().keeps));
    if (preset().readsOther()) {
        m_reads = new QComboBox(this);
        m_reads->setObjectName(QStringLiteral("retypeReads"));
        for (const LayerGroup& other : m_document.plan().worksheet.groups) {
            if (other.id != group->id && other.kind != LayerKind::Shared)
                m_reads->addItem(fromStd(other.id));
        }
        connect(m_reads, &QComboBox::currentIndexChanged, this, &RetypeDialog::refresh);
        m_form->addRow(tr("Reads:"), m_reads);
    }
    const std::vector<PresetValue> values = presetValues(m_document.plan(), m_group.toStdString(), preset());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const PresetNumber& number = preset().numbers[i];
        Row row {new QLineEdit(QString::number(values[i].value), this), new QLabel(this)};
        row.editor->setObjectName(QStringLiteral("retype-") + fromStd(number.id));
        row.editor->setAccessibleName(fromStd(number.title));
        row.note->setFont(smallFont(font()));
        row.note->setMinimumWidth(fontMetrics().averageCharWidth() * 30);
        row.editor->setMinimumWidth(fontMetrics().averageCharWidth() * 14);
        auto* line = new QHBoxLayout;
        line->setSpacing(8);
        line->addWidget(row.editor);
        line->addWidget(row.note, 1);
        m_form->addRow(fromStd(number.title) + QLatin1Char(':'), line);
        connect(row.editor, &QLineEdit::textChanged, this, &RetypeDialog::refresh);
        m_rows.push_back(row);
    }
    refresh();
}

Result<Retyping> RetypeDialog::retyping() const
{
    Retyping out {std::string(preset().id)};
    if (m_reads)
        out.readsGroup = m_reads->currentText().toStdString();
    for (qsizetype i = 0; i < m_rows.size(); ++i) {
        const PresetNumber& number = preset().numbers[static_cast<std::size_t>(i)];
        const Result<std::int64_t> value = parseCount(m_rows[i].editor->text().toStdString());
        if (!value)
            return Error {"plan.type", std::string(number.title) + " is no whole number", {},
                m_rows[i].editor->text().toStdString(), "a whole number, such as 4096 or 4k"};
        out.numbers[std::string(number.id)] = *value;
    }
    return out;
}

void RetypeDialog::refresh()
{
    if (!groupIn(m_document.plan(), m_group)) {
        close(); // removed, by undo or otherwise
        return;
    }
    const Tokens& tokens = tokensFor(palette());
    const std::vector<PresetValue> values = presetValues(m_document.plan(), m_group.toStdString(), preset());
    for (qsizetype i = 0; i < m_rows.size(); ++i) {
        const PresetNumber& number = preset().numbers[static_cast<std::size_t>(i)];
        const PresetValue& value = values[static_cast<std::size_t>(i)];
        const Result<std::int64_t> typed = parseCount(m_rows[i].editor->text().toStdString());
        const bool same = typed && *typed == value.value;
        const bool assumed = same && value.carriedFrom.empty();
        const QString from = fromStd(value.carriedFrom).section(QLatin1Char('.'), -2, -2); // the tensor
        m_rows[i].note->setText(assumed ? tr("◇ a usual value, assumed")
                : same                  ? tr("carried over from %1").arg(from)
                                        : tr("entered"));
        QPalette ink = palette();
        ink.setColor(QPalette::WindowText, assumed ? tokens.assumed : tokens.dimText);
        m_rows[i].note->setPalette(ink);
        m_rows[i].note->setToolTip(fromStd(unitName(number.unit)));
    }
    Plan tried = m_document.plan();
    const Result<Retyping> wanted = retyping();
    const Result<void> done
        = wanted ? retypeGroup(tried, m_group.toStdString(), *wanted) : Result<void>(wanted.error());
    m_retype->setEnabled(done.ok());
    QPalette ink = palette();
    if (!done)
        ink.setColor(QPalette::WindowText, tokens.differs);
    m_outcome->setPalette(ink);
    m_outcome->setText(done ? tr("Each layer keeps:\n%1").arg(keptBy(*groupIn(tried, m_group)))
                            : QStringLiteral("✗ ") + QString::fromStdString(done.error().text()));
}

void RetypeDialog::accept()
{
    Plan tried = m_document.plan();
    const Result<Retyping> wanted = retyping();
    const Result<void> done
        = wanted ? retypeGroup(tried, m_group.toStdString(), *wanted) : Result<void>(wanted.error());
    if (!done) {
        emit refused(QString::fromStdString(done.error().text()));
        return;
    }
    disconnect(&m_document, nullptr, this, nullptr);
    m_document.edit(
        tr("Retype %1: %2").arg(m_group, fromStd(preset().title)), [&](Plan& plan) { plan = std::move(tried); });
    QDialog::accept();
    emit groupReady(m_group);
}

} // namespace kvw::gui
