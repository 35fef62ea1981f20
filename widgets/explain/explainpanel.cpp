// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "explain/explainpanel.h"

#include "explain/formulaview.h"

#include "models/numbertext.h"
#include "plan/explain_field.h"
#include "report/sections.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr QLatin1String planPrefix {"plan."};
constexpr int pathRole = Qt::UserRole + 1;
constexpr int mostUnfolded = 12; // inputs that are shown with their own inputs

/// The number alone, bytes as such: other units are in the tooltip, so that names have room.
QString nodeText(const Derivation& node)
{
    if (!node->error.empty())
        return QString::fromStdString(node->error);
    const Quantity quantity(node);
    if (quantity.isInteger() && !isByteUnit(quantity.unit()))
        return countText(quantity.integer());
    return numberText(quantity).exact;
}

} // namespace

ExplainPanel::ExplainPanel(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_pinnedText(new QLabel(this))
    , m_title(new QLabel(this))
    , m_value(new QLabel(this))
    , m_kind(new QLabel(this))
    , m_facts(new QLabel(this))
    , m_formula(new FormulaView(this))
    , m_inputs(new QTreeWidget(this))
    , m_excludes(new QLabel(this))
    , m_copy(new QPushButton(tr("Copy"), this))
    , m_pin(new QPushButton(tr("Pin"), this))
    , m_go(new QPushButton(tr("Go to input"), this))
{
    setObjectName(QStringLiteral("explain"));
    m_title->setObjectName(QStringLiteral("explainTitle"));
    m_value->setObjectName(QStringLiteral("explainValue"));
    m_facts->setObjectName(QStringLiteral("explainFacts"));
    m_formula->setObjectName(QStringLiteral("explainFormula"));
    QFont strong = font();
    strong.setWeight(QFont::DemiBold);
    m_title->setFont(strong);
    strong.setPointSizeF(strong.pointSizeF() * 1.25);
    m_value->setFont(strong);
    QFont mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    mono.setPointSizeF(font().pointSizeF() * 0.92);
    m_formula->setFont(mono);
    for (QLabel* label : {m_pinnedText, m_title, m_value, m_kind, m_facts, m_excludes}) {
        label->setWordWrap(true);
        label->setMinimumWidth(1); // a long name is cut, and what stands below it is not
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    m_facts->setTextFormat(Qt::RichText);
    m_facts->setAccessibleName(tr("What is known of the number"));
    m_formula->setAccessibleName(tr("Formula, in words and with numbers"));
    m_pinnedText->setFrameShape(QFrame::StyledPanel);
    m_pinnedText->setMargin(4);
    m_pinnedText->setAccessibleName(tr("Pinned figure"));
    m_inputs->setColumnCount(2);
    m_inputs->setHeaderHidden(true);
    m_inputs->header()->setStretchLastSection(false);
    m_inputs->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_inputs->header()->setSectionResizeMode(1, QHeaderView::Fixed); // as wide as its numbers: fitNumbers()
    m_inputs->setAccessibleName(tr("Inputs of the number"));
    m_inputs->setUniformRowHeights(true);
    m_inputs->setIndentation(10);
    m_inputs->setFrameShape(QFrame::NoFrame);
    m_pin->setCheckable(true);

    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {m_copy, m_pin, m_go})
        buttons->addWidget(button);
    // A dock may be low: what does not fit scrolls, and the window keeps its size.
    auto* body = new QWidget;
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(8, 8, 8, 4);
    layout->setSpacing(4);
    for (QWidget* part : std::initializer_list<QWidget*> {m_pinnedText, m_title, m_value, m_kind, m_facts, m_formula})
        layout->addWidget(part);
    layout->addWidget(m_inputs, 1);
    layout->addWidget(m_excludes);
    m_space = new QWidget(body); // stands where the inputs are while there is no number
    layout->addWidget(m_space, 1);
    auto* scroll = new QScrollArea(this);
    scroll->setWidget(body);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    body->setAutoFillBackground(false);
    scroll->viewport()->setAutoFillBackground(false);
    m_inputs->setMinimumHeight(6 * (fontMetrics().height() + 6));
    buttons->setContentsMargins(8, 0, 8, 8);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(4);
    outer->addWidget(scroll, 1);
    outer->addLayout(buttons);

    connect(m_copy, &QPushButton::clicked, this, &ExplainPanel::copyText);
    connect(m_pin, &QPushButton::toggled, this, [this](bool pinned) {
        m_pinned = pinned ? m_figure : QString();
        refreshPinned();
    });
    connect(m_go, &QPushButton::clicked, this, &ExplainPanel::goToInput);
    // Queued: the view lays itself out while it tells, and takes no new rows then.
    connect(
        m_inputs, &QTreeWidget::itemExpanded, this,
        [this](QTreeWidgetItem* item) {
            fillBelow(item);
            fitNumbers();
        },
        Qt::QueuedConnection);
    connect(m_inputs, &QTreeWidget::itemDoubleClicked, this, &ExplainPanel::goToInput);
    connect(&document, &PlanDocument::planChanged, this, &ExplainPanel::refresh);
    connect(&document, &PlanDocument::predictionChanged, this, &ExplainPanel::refresh);
    // Queued: whoever explains the figure must have seen the run first.
    connect(&document, &PlanDocument::runsChanged, this, &ExplainPanel::refresh, Qt::QueuedConnection);
    refresh();
}

void ExplainPanel::showFigure(const QString& path)
{
    if (path == m_figure || (isPinned() && path.isEmpty()))
        return;
    m_figure = path;
    refresh();
}

void ExplainPanel::addSource(const ExplanationSource* source)
{
    m_sources.push_back(source);
}

std::optional<Explanation> ExplainPanel::explanationOf(const QString& path) const
{
    if (path.isEmpty())
        return std::nullopt;
    if (const std::optional<Quantity> quantity = m_document.figure(path)) {
        Explanation out;
        out.title = quantity->name();
        out.quantity = quantity;
        out.of = "plan " + m_document.hash().substr(0, 8);
        return out;
    }
    if (path.startsWith(planPrefix)) {
        const QString field = path.mid(planPrefix.size());
        return explainField(m_document.plan(), field.toStdString());
    }
    for (const ExplanationSource* source : m_sources) {
        if (std::optional<Explanation> found = source->explanationOf(path))
            return found;
    }
    return std::nullopt;
}

QString ExplainPanel::figure() const
{
    return m_figure;
}

QString ExplainPanel::pinnedFigure() const
{
    return m_pinned;
}

bool ExplainPanel::isPinned() const
{
    return m_pin->isChecked();
}

void ExplainPanel::setPinned(bool pinned)
{
    m_pin->setChecked(pinned);
}

void ExplainPanel::focusInputs()
{
    if (m_inputs->isVisible())
        m_inputs->setFocus(Qt::ShortcutFocusReason);
    else
        m_pin->setFocus(Qt::ShortcutFocusReason);
}

void ExplainPanel::refreshPinned()
{
    m_pinnedText->setVisible(!m_pinned.isEmpty());
    if (m_pinned.isEmpty())
        return;
    const std::optional<Explanation> explanation = explanationOf(m_pinned);
    if (!explanation) {
        m_pinnedText->setText(tr("Pinned: %1 is no figure of this plan now.").arg(m_pinned));
        return;
    }
    QString text = tr("Pinned: %1").arg(QString::fromStdString(explanation->title)) + QLatin1Char('\n');
    if (const std::optional<Quantity>& quantity = explanation->quantity) {
        text += numberText(*quantity).exact;
        if (quantity->derivation()->operation != Operation::Input)
            text += QLatin1Char('\n') + QString::fromStdString(formulaInWords(quantity->derivation()));
    }
    m_pinnedText->setText(text);
}

void ExplainPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

void ExplainPanel::refresh()
{
    m_stale = !isVisible();
    if (m_stale)
        return; // done when somebody looks
    refreshPinned();
    const std::optional<Explanation> explanation = explanationOf(m_figure);
    m_folded.clear();
    m_inputs->clear();
    // Each part is shown or hidden once: every change lays out the whole panel.
    const bool derived
        = explanation && explanation->quantity && explanation->quantity->derivation()->operation != Operation::Input;
    for (QWidget* widget : std::initializer_list<QWidget*> {m_value, m_kind, m_copy})
        widget->setVisible(explanation.has_value());
    m_facts->setVisible(explanation && !explanation->facts.empty());
    for (QWidget* widget : std::initializer_list<QWidget*> {m_formula, m_inputs, m_go})
        widget->setVisible(derived);
    m_excludes->setVisible(derived && !explanation->quantity->derivation()->excludes.empty());
    m_space->setVisible(!derived);
    m_pin->setVisible(explanation || isPinned());
    if (!explanation) {
        m_title->setText(
            m_document.estimate() ? tr("Select a number to see how it came about (F4).") : m_document.estimateError());
        return;
    }
    showHead(*explanation);
    if (derived)
        showFormula(explanation->quantity->derivation());
}

namespace {

QString kindText(const Explanation& explanation)
{
    switch (explanation.kind) {
    case Explanation::Kind::Derived:
        return QStringLiteral("ƒ ") + ExplainPanel::tr("derived");
    case Explanation::Kind::Prediction:
        return ExplainPanel::tr("prediction, event by event");
    case Explanation::Kind::Measured:
        return QStringLiteral("● ") + ExplainPanel::tr("measured");
    case Explanation::Kind::Verdict:
        return ExplainPanel::tr("verdict");
    case Explanation::Kind::Field:
        return ExplainPanel::tr("stated in the plan");
    }
    return {};
}

QString factsText(const Explanation& explanation)
{
    QString out;
    for (const auto& [name, text] : explanation.facts)
        out += QStringLiteral("<p style='margin:0 0 3px 0'><b>%1:</b> %2</p>")
                   .arg(QString::fromStdString(name).toHtmlEscaped(), QString::fromStdString(text).toHtmlEscaped());
    return out;
}

} // namespace

/// What it is, exact value, kind, and of what.
void ExplainPanel::showHead(const Explanation& explanation)
{
    m_title->setText(QString::fromStdString(explanation.title));
    const NumberText text = explanation.quantity ? numberText(*explanation.quantity)
                                                 : NumberText {QStringLiteral("–"), {}, QStringLiteral("–"), {}, 0};
    const bool plain = text.unit.isEmpty() || text.unit == QLatin1String("B");
    m_value->setText((explanation.stale ? QStringLiteral("~ ") : QString()) + text.exact
        + (plain ? QString() : QStringLiteral("  %1%2%3").arg(text.number, QString(QChar::Nbsp), text.unit)));
    QStringList parts {kindText(explanation)};
    if (explanation.quantity) {
        const Derivation& node = explanation.quantity->derivation();
        if (node->source)
            parts.push_back(QString::fromStdString(sourceText(*node->source)));
        if (restsOnAssumption(node))
            parts.push_back(QStringLiteral("◇ ") + tr("rests on an assumption"));
    }
    if (explanation.stale)
        parts.push_back(QStringLiteral("~ ") + tr("of an earlier plan"));
    parts.push_back(QString::fromStdString(explanation.of));
    m_kind->setText(
        parts.join(QStringLiteral(" · ")).replace(QLatin1Char('_'), QStringLiteral("_\u200b"))); // may break
    m_facts->setText(factsText(explanation));
}

void ExplainPanel::showFormula(const Derivation& node)
{
    m_formula->setText(QString::fromStdString(formulaInWords(node)) + QLatin1Char('\n')
        + QString::fromStdString(formulaInNumbers(node)));
    for (const Derivation& operand : node->operands)
        fill(m_inputs->invisibleRootItem(), operand);
    // Two levels open, as long as they can be seen; a sum of dozens stays folded.
    if (m_inputs->topLevelItemCount() <= mostUnfolded) {
        for (int i = 0; i < m_inputs->topLevelItemCount(); ++i) {
            fillBelow(m_inputs->topLevelItem(i));
            m_inputs->topLevelItem(i)->setExpanded(true);
        }
    }
    QString excludes;
    for (const std::string& item : node->excludes)
        excludes += (excludes.isEmpty() ? QString() : QStringLiteral(", ")) + QString::fromStdString(item);
    m_excludes->setText(tr("Excludes %1").arg(excludes));
    fitNumbers();
    m_go->setEnabled(m_inputs->topLevelItemCount() > 0);
}

void ExplainPanel::fill(QTreeWidgetItem* parent, const Derivation& node)
{
    const bool leaf = node->operation == Operation::Input;
    if (leaf && node->name.empty())
        return; // a number of the formula itself
    if (!leaf && node->name.empty()) {
        for (const Derivation& operand : node->operands)
            fill(parent, operand); // unnamed steps are in the formula; their inputs belong to the step above
        return;
    }
    const Tokens& tokens = tokensFor(palette());
    auto* item = new QTreeWidgetItem(parent);
    const bool assumed = node->source && node->source->kind == Source::Kind::Assumption;
    const QString mark = leaf ? (assumed ? QStringLiteral("◇ ") : QStringLiteral("· ")) : QStringLiteral("ƒ ");
    item->setText(0, mark + QString::fromStdString(node->name));
    item->setText(1, nodeText(node));
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setToolTip(0, QString::fromStdString(node->name));
    item->setToolTip(1, numberText(Quantity(node)).exact);
    if (assumed)
        item->setForeground(0, tokens.assumed);
    if (node->source) {
        item->setData(0, pathRole, QString::fromStdString(node->source->at));
        auto* source = new QTreeWidgetItem(item);
        source->setText(0, QString::fromStdString(sourceText(*node->source)));
        source->setForeground(0, tokens.dimText);
        source->setFirstColumnSpanned(true);
        source->setData(0, pathRole, QString::fromStdString(node->source->at));
    }
    if (!leaf) {
        m_folded.insert(item, node);
        item->setChildIndicatorPolicy(QTreeWidgetItem::ShowIndicator);
    }
}

void ExplainPanel::fillBelow(QTreeWidgetItem* item)
{
    const Derivation node = m_folded.take(item);
    if (!node)
        return;
    for (const Derivation& operand : node->operands)
        fill(item, operand);
    // Sources are part of what an input is: seen with it.
    for (int i = 0; i < item->childCount(); ++i) {
        if (!m_folded.contains(item->child(i)))
            item->child(i)->setExpanded(true);
    }
}

void ExplainPanel::fitNumbers()
{
    const QFontMetrics metrics(m_inputs->font());
    const int margin = 2 * (style()->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, m_inputs) + 2);
    int widest = 0;
    for (QTreeWidgetItemIterator item(m_inputs); *item; ++item) {
        if (!(*item)->isFirstColumnSpanned())
            widest = std::max(widest, metrics.horizontalAdvance((*item)->text(1)) + margin);
    }
    if (m_inputs->columnWidth(1) != widest)
        m_inputs->setColumnWidth(1, widest);
}

void ExplainPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale)
        refresh();
}

void ExplainPanel::copyText() const
{
    const std::optional<Explanation> explanation = explanationOf(m_figure);
    if (!explanation)
        return;
    Section section {"explain", explanation->title, {}, {}};
    if (explanation->quantity)
        section.blocks.emplace_back(formulaOf(*explanation->quantity, "ƒ", explanation->title));
    Facts facts;
    facts.rows.emplace_back("Of", explanation->of);
    facts.rows.insert(facts.rows.end(), explanation->facts.begin(), explanation->facts.end());
    section.blocks.emplace_back(std::move(facts));
    QApplication::clipboard()->setText(QString::fromStdString(toText(section)));
}

void ExplainPanel::goToInput()
{
    const QTreeWidgetItem* item = m_inputs->currentItem();
    if (!item)
        item = m_inputs->topLevelItem(0);
    if (item)
        emit goToField(item->data(0, pathRole).toString());
}

} // namespace kvw::gui
