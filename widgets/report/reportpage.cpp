// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/reportpage.h"

#include "forms/fieldform.h"
#include "models/numbertext.h"
#include "report/pagelayout.h"
#include "report/pdfwriter.h"
#include "settings/preferences.h"
#include "style/elidedlabel.h"
#include "style/icons.h"

#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtConcurrentRun>

namespace kvw::gui {

namespace {

/// What a layout brings back from its thread.
struct Laid
{
    std::shared_ptr<const RenderedReport> report;
    QStringList ids; ///< of all sections that may be left out
    QStringList titles;
    QString error;
};

Laid layOut(ReportSource source, Paper paper)
{
    Laid out;
    Result<ReportFonts> fonts = ReportFonts::find();
    if (!fonts) {
        out.error = QString::fromStdString(fonts.error().text());
        return out;
    }
    std::vector<std::string> leftOut = std::move(source.leftOut);
    source.leftOut.clear();
    Document document = reportOf(source);
    for (const Section& section : document.sections) {
        if (section.onCover)
            continue;
        out.ids.push_back(fromStd(section.id));
        out.titles.push_back(fromStd(section.title));
    }
    if (!leftOut.empty()) {
        source.leftOut = std::move(leftOut);
        document = reportOf(source);
    }
    std::vector<ReportSheet> sheets = layOutReport(document, paper, *fonts);
    out.report = std::make_shared<const RenderedReport>(
        RenderedReport {std::move(*fonts), paper, std::move(sheets), fromStd(document.title)});
    return out;
}

} // namespace

ReportPage::ReportPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("report"), tr("Report"), tr("What a reviewer will get: the pages as they will print"), parent)
    , m_document(document)
    , m_sections(new QListWidget(this))
    , m_paper(new QComboBox(this))
    , m_search(new QLineEdit(this))
    , m_hint(new QLabel(this))
    , m_preview(new PagePreview(this))
    , m_export(new QAction(icon(QStringLiteral("pdf")), tr("&Export PDF…"), this))
{
    m_export->setShortcut(QKeySequence(tr("Ctrl+E")));
    m_export->setStatusTip(tr("Writes the report as a PDF"));
    connect(m_export, &QAction::triggered, this, &ReportPage::exportDialog);
    auto* button = new QPushButton(tr("Export PDF…"), this);
    button->setDefault(true);
    connect(button, &QPushButton::clicked, m_export, &QAction::trigger);
    connect(m_export, &QAction::changed, button, [this, button] { button->setEnabled(m_export->isEnabled()); });
    headerActions()->addWidget(button);

    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->addWidget(makeSide(document));
    splitter->addWidget(makePages());
    splitter->setStretchFactor(1, 1);
    splitter->setChildrenCollapsible(false);
    splitter->setSizes({240, 900});
    content()->addWidget(splitter, 1);

    m_delay.setSingleShot(true);
    m_delay.setInterval(120);
    connect(&m_delay, &QTimer::timeout, this, &ReportPage::rebuild);
    connect(&document, &PlanDocument::planChanged, this, &ReportPage::markChanged);
    connect(&document, &PlanDocument::predictionChanged, this, &ReportPage::markChanged);
    connect(&document, &PlanDocument::runsChanged, this, &ReportPage::markChanged);
    connect(m_paper, &QComboBox::currentIndexChanged, this, &ReportPage::markChanged);
    connect(m_sections, &QListWidget::itemChanged, this, &ReportPage::markChanged);
    connect(&Preferences::instance(), &Preferences::changed, this, [this](Preferences::Key key) {
        if (key == Preferences::PaperSize)
            m_paper->setCurrentIndex(Preferences::instance().usesLetter() ? 1 : 0);
        else if (key == Preferences::Author)
            markChanged();
    });
}

QWidget* ReportPage::makeSide(PlanDocument& document)
{
    auto* side = new QWidget(this);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 8, 0);
    layout->setSpacing(4);
    layout->addWidget(paneTitle(tr("Sections"), side));
    m_sections->setAccessibleName(tr("Sections of the report"));
    m_sections->setToolTip(tr("A section that is not ticked is named on the cover as left out"));
    layout->addWidget(m_sections, 1);
    m_hint->setObjectName(QStringLiteral("reportHint"));
    m_hint->setWordWrap(true);
    m_hint->setFont(smallFont(font()));
    m_hint->setText(tr("! Nothing is predicted yet: block map and prediction will say so. Predict (F5) fills them."));
    layout->addWidget(m_hint);
    layout->addWidget(paneTitle(tr("Paper"), side));
    m_paper->addItems({tr("A4"), tr("Letter")});
    m_paper->setAccessibleName(tr("Paper"));
    m_paper->setCurrentIndex(Preferences::instance().usesLetter() ? 1 : 0);
    layout->addWidget(m_paper);
    layout->addWidget(paneTitle(tr("Title page"), side));
    m_fields = new FieldForm(document,
        {QStringLiteral("document.title"), QStringLiteral("document.author"),
            QStringLiteral("document.classification")},
        1, side);
    connect(m_fields, &FieldForm::refused, this, [this](const QString&, const QString& why) { emit message(why); });
    layout->addWidget(m_fields);
    side->setMinimumWidth(200);
    return side;
}

QWidget* ReportPage::makePages()
{
    auto* pages = new QWidget(this);
    auto* layout = new QVBoxLayout(pages);
    layout->setContentsMargins(8, 0, 0, 0);
    layout->setSpacing(4);
    auto* bar = new QHBoxLayout;
    bar->setSpacing(4);
    auto* zoom = new QComboBox(pages);
    zoom->addItems({tr("Whole page"), tr("Page width")});
    zoom->setAccessibleName(tr("Size of the pages"));
    connect(zoom, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_preview->setZoom(index == 0 ? PagePreview::Zoom::WholePage : PagePreview::Zoom::PageWidth);
    });
    auto* count = new QLabel(pages);
    m_search->setPlaceholderText(tr("Search the pages"));
    m_search->setClearButtonEnabled(true);
    m_search->setMaximumWidth(220);
    connect(m_search, &QLineEdit::textChanged, m_preview, &PagePreview::search);
    connect(m_search, &QLineEdit::returnPressed, this, [this] { m_preview->step(1); });
    connect(m_preview, &PagePreview::matchesChanged, count, [this, count] {
        count->setText(m_search->text().isEmpty()
                ? QString()
                : tr("%1 of %2").arg(m_preview->currentMatch() + 1).arg(m_preview->matchCount()));
    });
    const auto stepButton = [&](Qt::ArrowType arrow, const QString& name, int direction) {
        auto* button = new QToolButton(pages);
        button->setArrowType(arrow);
        button->setToolTip(name);
        button->setAccessibleName(name);
        connect(button, &QToolButton::clicked, this, [this, direction] { m_preview->step(direction); });
        bar->addWidget(button);
    };
    bar->addWidget(zoom);
    bar->addStretch(1);
    bar->addWidget(count);
    bar->addWidget(m_search);
    stepButton(Qt::UpArrow, tr("Previous match"), -1);
    stepButton(Qt::DownArrow, tr("Next match"), 1);
    layout->addLayout(bar);
    layout->addWidget(m_preview, 1);
    return pages;
}

QStringList ReportPage::fieldPrefixes() const
{
    return {QStringLiteral("document.")};
}

bool ReportPage::showField(const QString& path)
{
    return m_fields->showField(path);
}

QString ReportPage::badge() const
{
    return m_document.isPredictionStale() ? tr("stale") : QString();
}

QAction* ReportPage::exportAction() const
{
    return m_export;
}

PagePreview* ReportPage::preview() const
{
    return m_preview;
}

Paper ReportPage::paper() const
{
    return m_paper->currentIndex() == 1 ? Paper::Letter : Paper::A4;
}

ReportSource ReportPage::source() const
{
    ReportSource out = sourceOf(m_document);
    if (out.plan.document.author.empty()) // no result depends on it
        out.plan.document.author = Preferences::instance().value(Preferences::Author).toString().toStdString();
    for (int i = 0; i < m_sections->count(); ++i) {
        const QListWidgetItem* item = m_sections->item(i);
        if (item->checkState() != Qt::Checked)
            out.leftOut.push_back(item->data(Qt::UserRole).toString().toStdString());
    }
    return out;
}

void ReportPage::markChanged()
{
    emit badgeChanged();
    m_changed = true;
    m_hint->setVisible(!m_document.prediction());
    if (isVisible())
        m_delay.start();
}

bool ReportPage::isBusy() const
{
    return m_changed || m_job != m_laidOut;
}

void ReportPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_changed)
        m_delay.start(0);
}

void ReportPage::rebuild()
{
    m_changed = false;
    m_delay.setInterval(120);
    const int job = ++m_job;
    if (!m_preview->report())
        m_preview->setPlaceholder(tr("Laying out the pages…"));
    auto* watcher = new QFutureWatcher<Laid>(this);
    connect(watcher, &QFutureWatcher<Laid>::finished, this, [this, watcher, job] {
        watcher->deleteLater();
        if (job != m_job)
            return;
        m_laidOut = job;
        const Laid laid = watcher->result();
        m_preview->setReport(laid.report);
        if (!laid.report) {
            m_preview->setPlaceholder(laid.error);
            return;
        }
        showSections(laid.ids, laid.titles);
        const std::size_t pages = laid.report->sheets.size();
        setHeadline(pages == 1 ? tr("1 page") : tr("%1 pages").arg(pages));
        emit laidOut();
    });
    watcher->setFuture(QtConcurrent::run(layOut, source(), paper()));
}

void ReportPage::showSections(const QStringList& ids, const QStringList& titles)
{
    QStringList known;
    QStringList unticked;
    for (int i = 0; i < m_sections->count(); ++i) {
        known.push_back(m_sections->item(i)->data(Qt::UserRole).toString());
        if (m_sections->item(i)->checkState() != Qt::Checked)
            unticked.push_back(known.back());
    }
    if (known == ids)
        return;
    const QSignalBlocker quiet(m_sections);
    m_sections->clear();
    for (qsizetype i = 0; i < ids.size(); ++i) {
        auto* item = new QListWidgetItem(titles[i], m_sections);
        item->setData(Qt::UserRole, ids[i]);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(unticked.contains(ids[i]) ? Qt::Unchecked : Qt::Checked);
    }
}

void ReportPage::exportDialog()
{
    if (!m_document.commitPending())
        return;
    QFileDialog dialog(this, tr("Export the report"));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setNameFilter(tr("PDF (*.pdf)"));
    dialog.setDefaultSuffix(QStringLiteral("pdf"));
    const QFileInfo plan(m_document.path());
    if (!m_document.path().isEmpty())
        dialog.setDirectory(plan.absolutePath());
    dialog.selectFile(
        (m_document.path().isEmpty() ? QStringLiteral("plan") : plan.completeBaseName()) + QStringLiteral(".pdf"));
    if (dialog.exec() == QDialog::Accepted && !dialog.selectedFiles().isEmpty())
        exportTo(dialog.selectedFiles().front());
}

void ReportPage::exportTo(const QString& path)
{
    m_export->setEnabled(false);
    auto* watcher = new QFutureWatcher<QString>(this);
    connect(watcher, &QFutureWatcher<QString>::finished, this, [this, watcher, path] {
        watcher->deleteLater();
        m_export->setEnabled(true);
        const QString error = watcher->result();
        const QString name = QFileInfo(path).fileName();
        if (error.isEmpty())
            emit done(tr("The report was written to %1.").arg(path));
        else
            emit message(tr("%1 was not written: %2").arg(name, error));
        emit exported(path, error);
    });
    watcher->setFuture(QtConcurrent::run([source = source(), paper = paper(), path] {
        const Result<void> written = writePdf(reportOf(source), paper, path);
        return written ? QString() : QString::fromStdString(written.error().text());
    }));
}

} // namespace kvw::gui
