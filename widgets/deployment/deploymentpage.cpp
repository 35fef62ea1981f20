// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/deploymentpage.h"

#include "deployment/budgetbar.h"
#include "deployment/gpupicker.h"
#include "document/plandocument.h"
#include "engines/launch_line.h"
#include "forms/fieldform.h"
#include "models/figuremodel.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "models/tableview.h"
#include "style/elidedlabel.h"

#include <QAction>
#include <QEvent>
#include <QFontDatabase>
#include <QGridLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

namespace kvw::gui {

DeploymentPage::DeploymentPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("deployment"), tr("Deployment"),
        tr("On what hardware and by which engine's rules, and what is left for state"), parent)
    , m_document(document)
    , m_rules(new ElidedLabel({}, this))
    , m_device(new ElidedLabel({}, this))
    , m_figures(new FigureModel(this))
    , m_parts(new FigureModel(this))
    , m_figureTable(figureTable(m_figures, tr("What the engine makes of it")))
    , m_partTable(figureTable(m_parts, tr("Budget of one rank")))
    , m_bar(new BudgetBar(this))
    , m_note(new QLabel(this))
    , m_launch(new QPlainTextEdit(this))
    , m_launchAbout(new ElidedLabel({}, this))
{
    m_note->setWordWrap(true);
    m_note->setFont(smallFont(font()));
    m_note->setMargin(6);
    m_note->setAutoFillBackground(true);
    m_note->setBackgroundRole(QPalette::Base);
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setObjectName(QStringLiteral("deploymentSplit"));
    split->setChildrenCollapsible(false);
    auto* left = new QWidget(this);
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(makeForms(), 1);
    column->addWidget(makeLaunch());
    split->addWidget(left);
    split->addWidget(makeFigures());
    split->setStretchFactor(0, 5);
    split->setStretchFactor(1, 3);
    split->setSizes({700, 280});
    content()->addWidget(split, 1);
    makeGpuPicker();
    connect(m_bar, &BudgetBar::figureSelected, this, &DeploymentPage::figureSelected);
    connect(&document, &PlanDocument::planChanged, this, &DeploymentPage::refresh);
    refresh();
}

QWidget* DeploymentPage::formPane(const QString& title, QWidget* about, const QStringList& paths)
{
    auto* scroll = new QScrollArea(this);
    auto* inside = new QWidget(scroll);
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(6, 2, 6, 8);
    auto* form = new FieldForm(m_document, paths, 1, inside);
    connect(form, &FieldForm::refused, this, [this](const QString&, const QString& why) { emit message(why); });
    if (paths.front().startsWith(QLatin1String("budget.")))
        form->setImplied(tr(", per rank")); // the pane's title says it
    m_forms.push_back(form);
    layout->addWidget(form);
    layout->addStretch(1);
    scroll->setWidget(inside);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return pane(title, about, scroll, nullptr);
}

QWidget* DeploymentPage::makeForms()
{
    auto* out = new QWidget(this);
    auto* grid = new QGridLayout(out);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    grid->addWidget(formPane(tr("Engine"), m_rules,
                        {"engine.name", "engine.version", "engine.blockTokens", "engine.maxBatchedTokens",
                            "engine.maxSequences", "cache.elementType", "cache.allocation", "reuse.prefixCaching",
                            // Seldom stated: below what a low window shows.
                            "engine.cacheType", "engine.attentionBackend", "engine.stateMode", "engine.batchesInFlight",
                            "engine.asyncScheduling", "engine.runner", "engine.hybridManager", "engine.blocksOverride",
                            "engine.fitLength"}),
        0, 0);
    grid->addWidget(formPane(tr("Devices and ranks"), m_device,
                        {"deployment.gpu", "deployment.memoryBytes", "deployment.tp", "deployment.pp", "deployment.dp",
                            "loaded.weightBytes", "loaded.weightSource", "deployment.dcp"}),
        0, 1);
    grid->addWidget(
        formPane(tr("Limits and admission"), nullptr,
            {"limits.maxModelLen", "limits.promptTokens", "limits.outputTokens", "limits.concurrentSequences",
                "admission.whenExhausted", "admission.reservation", "admission.maxWaitSteps"}),
        1, 0);
    grid->addWidget(formPane(tr("Budget, and what few models need"),
                        new ElidedLabel(tr("budget of one rank: whole, or in parts"), this),
                        {"budget.kvBytesPerRank", "budget.utilization", "budget.activationBytes", "budget.otherBytes",
                            "engine.speculation", "limits.encoderTokens", "limits.imageTokens",
                            "engine.speculativeTokens", "engine.draftModules", "budget.kvBytesByRank"}),
        1, 1);
    for (int i : {0, 1}) {
        grid->setColumnStretch(i, 1);
        grid->setRowStretch(i, i == 0 ? 8 : 7);
    }
    return out;
}

void DeploymentPage::makeGpuPicker()
{
    for (const FieldForm* form : std::as_const(m_forms)) {
        auto* edit = qobject_cast<QLineEdit*>(form->editor(QStringLiteral("deployment.gpu")));
        if (!edit)
            continue;
        auto* picker = new GpuPicker(m_document, *edit);
        auto* choose = new QAction(tr("Choose the device from the library…"), this);
        connect(choose, &QAction::triggered, picker, &GpuPicker::showAll);
        addAction(choose); // found by the command field
    }
}

QWidget* DeploymentPage::makeLaunch()
{
    m_launch->setObjectName(QStringLiteral("launchLine"));
    m_launch->setAccessibleName(tr("Launch line"));
    m_launch->setReadOnly(true);
    m_launch->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_launch->setFrameShape(QFrame::NoFrame);
    m_launch->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_launch->setFixedHeight(3 * QFontMetrics(m_launch->font()).lineSpacing() + 10);
    m_launch->setTabChangesFocus(true);
    return pane(tr("Launch line"), m_launchAbout, m_launch, nullptr);
}

void DeploymentPage::refreshLaunch()
{
    const Result<LaunchLine> line = launchLine(m_document.plan());
    if (!line) {
        m_launch->setPlainText({});
        m_launch->setPlaceholderText(tr("None: %1.").arg(QString::fromStdString(line.error().message)));
        m_launchAbout->setText({});
        return;
    }
    const QString text = QString::fromStdString(line->text());
    if (m_launch->toPlainText() != text) // a selection stays while other fields are edited
        m_launch->setPlainText(text);
    QStringList remarks;
    if (const Estimate* estimate = m_document.estimate(); estimate && !estimate->engine.refusal.empty())
        remarks.push_back(
            tr("The rules here refuse the plan: %1.").arg(QString::fromStdString(estimate->engine.refusal)));
    for (const std::string& remark : line->remarks)
        remarks.push_back(QString::fromStdString(remark));
    m_launchAbout->setText(remarks.isEmpty() ? tr("what is not stated is left to the engine's defaults")
                                             : QStringLiteral("! ") + remarks.join(QLatin1Char(' ')));
    QStringList sources;
    for (const LaunchArgument& argument : line->arguments)
        sources.push_back(QStringLiteral("%1: %2").arg(
            QString::fromStdString(argument.flag), QString::fromStdString(argument.field)));
    m_launch->setToolTip(sources.join(QLatin1Char('\n')));
}

TableView* DeploymentPage::figureTable(FigureModel* model, const QString& name)
{
    auto* table = new TableView(this);
    table->setModel(model);
    table->setAccessibleName(name);
    table->setFrameShape(QFrame::NoFrame);
    table->setShowGrid(false);
    table->horizontalHeader()->hide();
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    connect(table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        emit figureSelected(index.data(FigureRole).toString());
        emit selectionText(index.siblingAtColumn(1).data(ExactRole).toString());
    });
    return table;
}

QWidget* DeploymentPage::makeFigures()
{
    auto* budget = new QWidget(this);
    auto* layout = new QVBoxLayout(budget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_bar);
    layout->addWidget(m_partTable, 1);
    auto* out = new QSplitter(Qt::Vertical, this);
    out->setObjectName(QStringLiteral("deploymentFigures"));
    out->setChildrenCollapsible(false);
    out->addWidget(pane(tr("Budget of one rank"), nullptr, budget, nullptr));
    out->addWidget(pane(tr("What the engine makes of it"), nullptr, m_figureTable, m_note));
    out->setStretchFactor(0, 4);
    out->setStretchFactor(1, 5);
    return out;
}

QStringList DeploymentPage::fieldPrefixes() const
{
    return {QStringLiteral("engine."), QStringLiteral("deployment."), QStringLiteral("budget."),
        QStringLiteral("limits."), QStringLiteral("admission."), QStringLiteral("loaded."), QStringLiteral("cache."),
        QStringLiteral("reuse.")};
}

bool DeploymentPage::showField(const QString& path)
{
    for (FieldForm* form : std::as_const(m_forms)) {
        if (form->showField(path))
            return true;
    }
    return false;
}

bool DeploymentPage::showFigure(const QString& path)
{
    for (const auto& [table, model] : {std::pair {m_figureTable, m_figures}, std::pair {m_partTable, m_parts}}) {
        const QModelIndex index = model->indexOfFigure(path);
        if (!index.isValid())
            continue;
        table->setCurrentIndex(index);
        table->setFocus(Qt::OtherFocusReason);
        return true;
    }
    return false;
}

void DeploymentPage::refresh()
{
    refreshLaunch();
    refreshBudget();
    m_device->setText(gpuText(QString::fromStdString(m_document.plan().deployment.gpu)));
    const Estimate* estimate = m_document.estimate();
    if (!estimate) {
        m_figures->setLines({});
        m_rules->setText({});
        m_note->setText(QStringLiteral("✗ ") + m_document.estimateError());
        m_note->show();
        setHeadline({});
        return;
    }
    const EngineSizing& engine = estimate->engine;
    m_rules->setText(QString::fromStdString(engine.rules));
    m_figures->setLines({
        {tr("Bytes of a block, one rank"), "engine.bytesPerBlock", engine.bytesPerBlock},
        {tr("Available for state, per rank"), "engine.availableBytes", engine.availableBytes},
        {tr("Blocks"), "engine.blocks", engine.blocks},
        {tr("Pool, per rank"), "engine.poolBytes", engine.poolBytes},
        {tr("Tokens, as the engine prints"), "engine.tokens", engine.tokens},
        {tr("Concurrency, as printed"), "engine.maxConcurrency", engine.maxConcurrency},
        {tr("Need of one request"), "engine.needBytes", engine.needBytes},
        {tr("Longest request admitted"), "engine.largestLength", engine.largestLength},
        {tr("Longest request held"), "engine.largestHeld", engine.largestHeld},
        {tr("Engine need, all ranks"), "engine.engineNeedBytes", engine.engineNeedBytes},
    });
    QStringList notes;
    if (!engine.refusal.empty())
        notes.push_back(QStringLiteral("✗ ") + QString::fromStdString(engine.refusal));
    for (const std::string& missing : engine.unstated)
        notes.push_back(QStringLiteral("⚠ ") + QString::fromStdString(missing));
    m_note->setText(notes.join(QLatin1Char('\n')));
    m_note->setVisible(!notes.isEmpty());
    if (engine.availableBytes && engine.availableBytes->ok()) {
        const NumberText available = numberText(*engine.availableBytes);
        setHeadline(tr("<a href=\"figure\">%1 %2</a> for state on each rank").arg(available.number, available.unit),
            QStringLiteral("engine.availableBytes"));
    } else {
        setHeadline({});
    }
}

void DeploymentPage::refreshBudget()
{
    const Estimate* estimate = m_document.estimate();
    const bool has = estimate && estimate->budget.ranks > 0;
    const std::vector<BudgetPart> parts = has ? estimate->budget.each.parts : std::vector<BudgetPart>();
    std::vector<FigureModel::Line> lines;
    for (const BudgetPart& part : parts) {
        QString title = QString::fromStdString(part.title);
        title[0] = title[0].toUpper();
        const QString id = QString::fromStdString(part.id);
        lines.push_back({title, QStringLiteral("budget.") + id, part.bytes, budgetBrush(id, palette())});
    }
    m_parts->setLines(std::move(lines));
    m_bar->setParts(parts,
        !estimate ? m_document.estimateError()
            : has ? tr("No part of the budget is stated.")
                  : tr("No budget by rank: %1.").arg(QString::fromStdString(estimate->budget.missing)));
}

void DeploymentPage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refreshBudget();
}

} // namespace kvw::gui
