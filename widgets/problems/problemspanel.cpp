// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "problems/problemspanel.h"

#include "models/numbertext.h"
#include "plan/field_table.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QButtonGroup>
#include <QEvent>
#include <QHBoxLayout>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int pathRole = Qt::UserRole + 1;
constexpr int severityRole = Qt::UserRole + 2;
constexpr int placeRole = Qt::UserRole + 3;

bool isBelow(const QString& path, const QStringList& prefixes)
{
    return prefixes.isEmpty() || std::any_of(prefixes.begin(), prefixes.end(), [&](const QString& prefix) {
        return path.startsWith(prefix);
    });
}

QString glyph(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return QStringLiteral("✗");
    case Severity::Warning:
        return QStringLiteral("!");
    case Severity::Note:
        break;
    }
    return QStringLiteral("i");
}

/// Glyph, sentence, and below it dim where it is.
class ProblemDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Tokens& tokens = tokensFor(option.palette);
        const bool selected = option.state.testFlag(QStyle::State_Selected);
        painter->save();
        if (selected)
            painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
        const QColor plain = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
        const auto severity = static_cast<Severity>(index.data(severityRole).toInt());
        const QColor mark = severity == Severity::Error ? tokens.differs
            : severity == Severity::Warning             ? tokens.warning
                                                        : tokens.derived;
        painter->setPen(selected ? plain : mark);
        painter->setFont(strongFont(option.font));
        painter->drawText(option.rect.adjusted(4, 3, 0, 0), Qt::AlignTop, glyph(severity));
        const QRect area = textArea(option);
        QRect used;
        painter->setFont(option.font);
        painter->setPen(plain);
        painter->drawText(area, Qt::TextWordWrap | Qt::AlignTop, index.data().toString(), &used);
        painter->setFont(smallFont(option.font));
        painter->setPen(selected ? plain : tokens.dimText);
        const QRect place(area.left(), used.bottom() + 1, area.width(), painter->fontMetrics().height());
        painter->drawText(place, Qt::AlignTop,
            painter->fontMetrics().elidedText(index.data(placeRole).toString(), Qt::ElideMiddle, place.width()));
        painter->setPen(tokens.hairLine);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem view = option;
        const auto* list = qobject_cast<const QListWidget*>(option.widget);
        view.rect = QRect(0, 0, list ? list->viewport()->width() : 240, 1000);
        const QRect text = option.fontMetrics.boundingRect(textArea(view), Qt::TextWordWrap, index.data().toString());
        const int small
            = index.data(placeRole).toString().isEmpty() ? 0 : QFontMetrics(smallFont(option.font)).height();
        return {60, text.height() + small + 8};
    }

private:
    static QRect textArea(const QStyleOptionViewItem& option) { return option.rect.adjusted(22, 3, -4, 0); }
};

} // namespace

QString ProblemCount::text() const
{
    QStringList parts;
    if (errors > 0)
        parts.push_back(counted(errors, ProblemsPanel::tr("error"), ProblemsPanel::tr("errors")));
    if (warnings > 0)
        parts.push_back(counted(warnings, ProblemsPanel::tr("warning"), ProblemsPanel::tr("warnings")));
    if (notes > 0)
        parts.push_back(counted(notes, ProblemsPanel::tr("note"), ProblemsPanel::tr("notes")));
    return parts.isEmpty() ? ProblemsPanel::tr("none") : parts.join(QStringLiteral(", "));
}

ProblemCount countProblems(const Diagnostics& diagnostics, const QStringList& prefixes)
{
    ProblemCount out;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!isBelow(QString::fromStdString(diagnostic.path), prefixes))
            continue;
        out.errors += diagnostic.severity == Severity::Error;
        out.warnings += diagnostic.severity == Severity::Warning;
        out.notes += diagnostic.severity == Severity::Note;
    }
    return out;
}

ProblemsPanel::ProblemsPanel(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_here(new QToolButton(this))
    , m_all(new QToolButton(this))
    , m_list(new QListWidget(this))
{
    setObjectName(QStringLiteral("problems"));
    auto* group = new QButtonGroup(this);
    auto* head = new QHBoxLayout;
    head->setSpacing(0);
    for (QToolButton* button : {m_here, m_all}) {
        button->setCheckable(true);
        group->addButton(button);
        head->addWidget(button);
    }
    head->addStretch(1);
    m_here->setText(tr("here"));
    m_here->setToolTip(tr("Only what this page's fields are about"));
    m_here->setChecked(true);
    m_all->setText(tr("all"));
    m_all->setToolTip(tr("Of the whole plan"));
    m_list->setItemDelegate(new ProblemDelegate(m_list));
    m_list->setResizeMode(QListView::Adjust);
    m_list->setWordWrap(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(tr("Problems"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->setSpacing(4);
    layout->addLayout(head);
    layout->addWidget(m_list, 1);
    connect(m_here, &QToolButton::toggled, this, &ProblemsPanel::refresh);
    connect(m_list, &QListWidget::itemClicked, this, &ProblemsPanel::activate);
    connect(m_list, &QListWidget::itemActivated, this, &ProblemsPanel::activate);
    connect(&document, &PlanDocument::planChanged, this, &ProblemsPanel::refresh);
    refresh();
}

void ProblemsPanel::setPagePrefixes(const QStringList& prefixes)
{
    if (prefixes == m_prefixes)
        return;
    m_prefixes = prefixes;
    refresh();
}

QString ProblemsPanel::title() const
{
    return (m_here->isChecked() ? tr("Problems here: %1") : tr("Problems: %1")).arg(m_count.text());
}

QString ProblemsPanel::shortTitle() const
{
    return tr("Problems (%1)").arg(m_count.errors + m_count.warnings + m_count.notes);
}

namespace {

/// Where a problem is, as people call it: "Tenants, acme: Salt made by".
QString placeOf(const PlanDocument& document, const std::string& path)
{
    // The table hands out writable slots; here only the title is read.
    const Result<FieldReference> field = findField(const_cast<Plan&>(document.plan()), path);
    return field ? fromStd(field->field->title) + QStringLiteral(" · ") + QString::fromStdString(path)
                 : QString::fromStdString(path);
}

} // namespace

void ProblemsPanel::refresh()
{
    Diagnostics shown;
    const QStringList prefixes = m_here->isChecked() ? m_prefixes : QStringList();
    for (const Diagnostic& diagnostic : m_document.diagnostics()) {
        if (isBelow(QString::fromStdString(diagnostic.path), prefixes))
            shown.push_back(diagnostic);
    }
    std::stable_sort(
        shown.begin(), shown.end(), [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    m_count = countProblems(shown, {});
    bool same = m_list->count() == static_cast<int>(shown.size());
    for (int i = 0; same && i < m_list->count(); ++i) {
        const Diagnostic& diagnostic = shown[static_cast<std::size_t>(i)];
        same = m_list->item(i)->text() == QString::fromStdString(diagnostic.message)
            && m_list->item(i)->data(pathRole).toString() == QString::fromStdString(diagnostic.path);
    }
    if (!same) {
        m_list->clear();
        for (const Diagnostic& diagnostic : shown) {
            auto* item = new QListWidgetItem(QString::fromStdString(diagnostic.message), m_list);
            item->setData(pathRole, QString::fromStdString(diagnostic.path));
            item->setData(severityRole, static_cast<int>(diagnostic.severity));
            item->setData(placeRole, placeOf(m_document, diagnostic.path));
            item->setToolTip(QString::fromStdString(diagnostic.id));
        }
    }
    emit summaryChanged();
}

void ProblemsPanel::activate()
{
    if (const QListWidgetItem* item = m_list->currentItem())
        emit goToField(item->data(pathRole).toString());
}

void ProblemsPanel::step(int direction)
{
    const int count = m_list->count();
    if (count == 0)
        return;
    const int now = m_list->currentRow();
    m_list->setCurrentRow(now < 0 ? 0 : (now + direction + count) % count);
    activate();
}

void ProblemsPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        m_list->viewport()->update();
}

} // namespace kvw::gui
