// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/splitdialog.h"

#include "models/numbertext.h"
#include "plan/group_edits.h"
#include "style/tokens.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

const LayerGroup* groupIn(const Plan& plan, const QString& id)
{
    const Result<std::size_t> at = groupPosition(plan, id.toStdString());
    return at ? &plan.worksheet.groups[*at] : nullptr;
}

/// "full: 9 layers, 0-16:2"
QString described(const LayerGroup& group)
{
    const QString count = counted(group.layers, SplitDialog::tr("layer"), SplitDialog::tr("layers"));
    return QStringLiteral("%1: %2%3")
        .arg(fromStd(group.id), count,
            group.layerIndices.empty() ? QString() : QStringLiteral(", ") + fromStd(group.layerIndices));
}

} // namespace

SplitDialog::SplitDialog(PlanDocument& document, const QString& group, QWidget* parent)
    : QDialog(parent)
    , m_document(document)
    , m_group(group)
    , m_count(new QSpinBox(this))
    , m_which(new QLineEdit(this))
    , m_outcome(new QLabel(this))
{
    setObjectName(QStringLiteral("splitDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Split %1").arg(group));
    const LayerGroup* whole = groupIn(document.plan(), group);
    m_count->setObjectName(QStringLiteral("splitCount"));
    m_count->setAccessibleName(tr("Layers that go into the second group"));
    m_which->setObjectName(QStringLiteral("splitWhich"));
    m_which->setAccessibleName(tr("Which layers go"));
    m_which->setToolTip(tr("As ranges: 0-34:2 is 0, 2, … 34"));
    m_outcome->setObjectName(QStringLiteral("splitOutcome"));
    m_outcome->setTextFormat(Qt::PlainText);
    m_outcome->setWordWrap(true);
    m_outcome->setMinimumWidth(fontMetrics().averageCharWidth() * 52);
    auto* form = new QFormLayout;
    form->setVerticalSpacing(4);
    form->addRow(tr("&Layers that go:"), m_count);
    if (whole && !whole->layerIndices.empty())
        form->addRow(tr("&Which of them:"), m_which);
    else
        m_which->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_split = buttons->addButton(tr("&Split"), QDialogButtonBox::AcceptRole);
    m_split->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    layout->addLayout(form);
    layout->addWidget(m_outcome);
    layout->addWidget(buttons);
    layout->setSizeConstraint(QLayout::SetFixedSize); // as high as what it says
    m_count->setRange(1, whole ? static_cast<int>(std::max<std::int64_t>(1, whole->layers - 1)) : 1);
    m_count->setValue(whole ? static_cast<int>(whole->layers / 2) : 1);
    connect(m_count, &QSpinBox::valueChanged, this, &SplitDialog::countChanged);
    connect(m_which, &QLineEdit::textChanged, this, &SplitDialog::refresh);
    connect(buttons, &QDialogButtonBox::accepted, this, &SplitDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &SplitDialog::reject);
    connect(&document, &PlanDocument::planChanged, this, &SplitDialog::refresh);
    countChanged(m_count->value());
    m_count->selectAll();
}

Result<std::string> SplitDialog::split(Plan& plan) const
{
    return m_which->text().isEmpty() ? splitGroup(plan, m_group.toStdString(), m_count->value())
                                     : splitGroupAt(plan, m_group.toStdString(), m_which->text().toStdString());
}

/// The last layers go, until somebody says which.
void SplitDialog::countChanged(int count)
{
    const LayerGroup* whole = groupIn(m_document.plan(), m_group);
    if (whole && !whole->layerIndices.empty()) {
        Plan tried = m_document.plan();
        const Result<std::string> second = splitGroup(tried, m_group.toStdString(), count);
        const QSignalBlocker quiet(m_which);
        m_which->setText(second ? fromStd(groupIn(tried, QString::fromStdString(*second))->layerIndices) : QString());
    }
    refresh();
}

void SplitDialog::refresh()
{
    const LayerGroup* whole = groupIn(m_document.plan(), m_group);
    if (!whole) {
        close(); // removed, by undo or otherwise
        return;
    }
    Plan tried = m_document.plan();
    const Result<std::string> second = split(tried);
    m_split->setEnabled(second.ok());
    QPalette ink = palette();
    if (!second)
        ink.setColor(QPalette::WindowText, tokensFor(palette()).differs);
    m_outcome->setPalette(ink);
    m_outcome->setText(second ? described(*groupIn(tried, m_group)) + QLatin1Char('\n')
                + described(*groupIn(tried, QString::fromStdString(*second)))
                              : QStringLiteral("✗ ") + QString::fromStdString(second.error().text()));
    if (!second)
        return;
    const QSignalBlocker quiet(m_count);
    m_count->setMaximum(static_cast<int>(std::max<std::int64_t>(1, whole->layers - 1)));
    m_count->setValue(static_cast<int>(groupIn(tried, QString::fromStdString(*second))->layers));
}

void SplitDialog::accept()
{
    Plan tried = m_document.plan();
    const Result<std::string> second = split(tried);
    if (!second) {
        emit refused(QString::fromStdString(second.error().text()));
        return;
    }
    const QString id = QString::fromStdString(*second);
    disconnect(&m_document, nullptr, this, nullptr);
    m_document.edit(
        tr("Split %1: %2 to %3").arg(m_group, counted(groupIn(tried, id)->layers, tr("layer"), tr("layers")), id),
        [&](Plan& plan) { plan = std::move(tried); });
    QDialog::accept();
    emit groupReady(id);
}

} // namespace kvw::gui
