// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tenants/isolationpane.h"

#include "document/plandocument.h"
#include "models/celltablemodel.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "models/tableview.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>
#include <atomic>

namespace kvw::gui {

namespace {

/// A bar from the left of a number's cell: its share of the column's largest value.
class BarDelegate final : public NumberDelegate
{
public:
    using NumberDelegate::NumberDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        NumberDelegate::paint(painter, option, index);
        if (index.column() == 0)
            return;
        double most = 0;
        for (int row = 0; row < index.model()->rowCount(); ++row)
            most = std::max(most, index.siblingAtRow(row).data(SortRole).toDouble());
        const int room = option.rect.width() - 12
            - QFontMetrics(strongFont(option.font)).horizontalAdvance(countText(static_cast<std::int64_t>(most)));
        if (most <= 0 || room < 8)
            return;
        const Tokens& tokens = tokensFor(option.palette);
        const int width = static_cast<int>(room * index.data(SortRole).toDouble() / most);
        const bool stale = index.data(MarkRole).toInt() == StaleMark;
        painter->fillRect(QRect(option.rect.left() + 4, option.rect.top() + 5, width, option.rect.height() - 10),
            stale ? tokens.line : tokens.sequential[2]);
    }
};

QVector<Cell> rowOf(const IsolationCost& cost)
{
    QString title = QString::fromUtf8(sharingPolicyTitle(cost.policy));
    title[0] = title[0].toUpper();
    Cell name = Cell::words(IsolationPane::tr("%1, %2").arg(
        title, counted(cost.domains, IsolationPane::tr("domain"), IsolationPane::tr("domains"))));
    QVector<Cell> out {name, Cell::count(cost.hitTokens), Cell::count(cost.computedPromptTokens),
        Cell::count(cost.peakBlocks), Cell::count(cost.keys), Cell::count(cost.preemptions)};
    const double share = cost.promptTokens > 0
        ? 100.0 * static_cast<double>(cost.hitTokens) / static_cast<double>(cost.promptTokens)
        : 0;
    out[1].exact = IsolationPane::tr("%1 of %2 prompt tokens, %3 %")
                       .arg(countText(cost.hitTokens), countText(cost.promptTokens), QLocale().toString(share, 'f', 1));
    for (Cell& cell : out)
        cell.strong = cost.policy == SharingPolicy::AsPlanned;
    return out;
}

} // namespace

/// What the two threads share.
struct IsolationPane::Job
{
    std::atomic<bool> cancelled = false;
    std::atomic<qint64> steps = 0;
    std::string planHash;
};

IsolationPane::IsolationPane(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_model(new CellTableModel(
          {tr("Policy"), tr("Hit tokens"), tr("Prompt computed"), tr("Peak blocks"), tr("Keys"), tr("Preempted")},
          this))
    , m_table(new TableView(this))
    , m_note(new QLabel(this))
    , m_button(new QPushButton(this))
{
    m_model->setHeaderTips({tr("Who shares state with whom; all else is as planned"),
        tr("Prompt tokens served from the cache, all admissions together"),
        tr("Prompt tokens that were computed at least once"), tr("Most blocks in block tables at the end of a step"),
        tr("Different block identities that were made findable"), tr("Requests that lost their state, times counted")});
    m_table->setModel(m_model);
    m_table->setItemDelegate(new BarDelegate(m_table));
    m_table->setAccessibleName(tr("Cost of isolation"));
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setMinimumHeight(4 * (fontMetrics().height() + 6) + 8); // all policies
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_note->setFont(smallFont(font()));
    m_note->setWordWrap(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_table, 1);
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(8, 4, 8, 4);
    foot->addWidget(m_note, 1);
    foot->addWidget(m_button);
    layout->addLayout(foot);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    connect(m_button, &QPushButton::clicked, this, [this] { isRunning() ? cancel() : start(); });
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &IsolationPane::done);
    m_ticks.setInterval(200);
    connect(&m_ticks, &QTimer::timeout, this, &IsolationPane::tick);
    connect(&document, &PlanDocument::planChanged, this, &IsolationPane::refresh);
    connect(&document, &PlanDocument::reset, this, [this] {
        cancel();
        m_costs.clear();
        refresh();
    });
    refresh();
}

IsolationPane::~IsolationPane()
{
    disconnect(&m_watcher, nullptr, this, nullptr);
    cancel();
    m_watcher.waitForFinished();
}

CellTableModel* IsolationPane::model() const
{
    return m_model;
}

bool IsolationPane::isRunning() const
{
    return m_watcher.isRunning();
}

bool IsolationPane::isStale() const
{
    return !m_costs.empty() && m_costsHash != m_document.hash();
}

QString IsolationPane::about() const
{
    return m_about;
}

void IsolationPane::start()
{
    if (isRunning())
        return;
    m_job = std::make_shared<Job>();
    m_job->planHash = m_document.hash();
    m_watcher.setFuture(QtConcurrent::run([plan = m_document.plan(), job = m_job] {
        return std::make_shared<Outcome>(isolationCosts(plan, [&job] {
            ++job->steps;
            return !job->cancelled;
        }));
    }));
    m_ticks.start();
    refresh();
}

void IsolationPane::cancel()
{
    if (isRunning())
        m_job->cancelled = true;
}

void IsolationPane::done()
{
    m_ticks.stop();
    const std::shared_ptr<Outcome> outcome = m_watcher.result();
    if (m_job->cancelled) {
        // What was shown stays; the plan may be another one by now.
    } else if (*outcome) {
        m_costs = **outcome;
        m_costsHash = m_job->planHash;
    } else {
        emit message(tr("No cost of isolation: %1").arg(QString::fromStdString(outcome->error().text())));
    }
    refresh();
    emit finished();
}

void IsolationPane::tick()
{
    if (isRunning())
        m_note->setText(tr("Predicting, step %1 of all policies together").arg(countText(m_job->steps)));
}

void IsolationPane::refresh()
{
    QVector<QVector<Cell>> rows;
    for (const IsolationCost& cost : m_costs)
        rows.push_back(rowOf(cost));
    m_model->setRows(rows);
    m_model->setStale(isStale());
    for (int column = 1; column < m_model->columnCount(); ++column)
        m_table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
    m_table->resizeColumnToContents(0);
    m_button->setText(isRunning() ? tr("Stop") : m_costs.empty() ? tr("Predict the policies") : tr("Predict again"));
    m_button->setEnabled(isRunning() || m_costs.empty() || isStale());
    const bool several = m_document.plan().tenants.size() > 1;
    if (m_costs.empty() && !isRunning())
        m_button->setEnabled(several);
    if (isRunning())
        tick();
    else if (!several)
        m_note->setText(tr("With one tenant there is nobody to be isolated from."));
    else if (m_costs.empty())
        m_note->setText(tr("Not predicted yet: each policy is a prediction of the whole workload."));
    else
        m_note->setText(isStale() ? tr("~ of an earlier plan")
                                  : tr("A salt separates; it does not authenticate, "
                                       "encrypt or complete isolation."));
    m_about = m_costs.empty() ? QString()
                              : tr("%1prediction of %2 under each policy")
                                    .arg(isStale() ? QStringLiteral("~ ") : QString(),
                                        counted(m_costs.front().offered, tr("request"), tr("requests")));
    emit aboutChanged(m_about);
}

} // namespace kvw::gui
