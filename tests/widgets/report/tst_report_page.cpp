// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"
#include "report/reportpage.h"
#include "support/example_plans.h"

#include <QAction>
#include <QComboBox>
#include <QListWidget>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

constexpr int patience = 30'000;

/// Every text of the preview's pages in one string.
QString shown(const ReportPage& page)
{
    QString out;
    for (const ReportSheet& sheet : page.preview()->report()->sheets) {
        for (const PageOp& op : sheet.ops) {
            if (const auto* text = std::get_if<TextOp>(&op))
                out += text->text + QLatin1Char('\n');
        }
    }
    return out;
}

} // namespace

class ReportPageTest : public QObject
{
    Q_OBJECT

private slots:
    void followsTheDocument();
    void classificationIsOnEveryPage();
    void hiddenPageWaits();
    void sectionsCanBeLeftOut();
    void paper();
    void search();
    void exports();
    void paintsItsPages();
};

void ReportPageTest::followsTheDocument()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    page.resize(1100, 640);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    page.show();
    QVERIFY(laid.wait(patience));
    QVERIFY(shown(page).contains(QLatin1String("no prediction has been made for this plan yet")));
    QVERIFY(document.setField(QStringLiteral("document.title"), QStringLiteral("Another title")));
    QVERIFY(document.setField(QStringLiteral("limits.concurrentSequences"), QStringLiteral("3")));
    QVERIFY(laid.wait(patience));
    QVERIFY(shown(page).contains(QLatin1String("Another title")));
    QVERIFY(shown(page).contains(QLatin1String("3 sequences")));
    document.undoStack()->undo();
    document.undoStack()->undo();
    QVERIFY(laid.wait(patience));
    QVERIFY(!shown(page).contains(QLatin1String("Another title")));
    document.setPrediction(sourceOf(document.plan()).prediction);
    QVERIFY(laid.wait(patience));
    QVERIFY(!shown(page).contains(QLatin1String("no prediction has been made")));
    QVERIFY(shown(page).contains(QLatin1String("Blocks at step")));
    QVERIFY(document.setField(QStringLiteral("limits.concurrentSequences"), QStringLiteral("7")));
    QVERIFY(laid.wait(patience));
    QVERIFY(shown(page).contains(QLatin1String("~ Stale: this is of an earlier state of the plan")));
}

void ReportPageTest::classificationIsOnEveryPage()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    page.resize(1100, 640);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    page.show();
    QVERIFY(laid.wait(patience));
    page.preview()->search(QStringLiteral("Zebra only"));
    QCOMPARE(page.preview()->matchCount(), 0);
    const std::string hash = document.hash();
    QVERIFY(page.showField(QStringLiteral("document.classification"))); // it is edited here
    QVERIFY(document.setField(QStringLiteral("document.classification"), QStringLiteral("Zebra only")));
    QCOMPARE(document.hash(), hash);
    QVERIFY(laid.wait(patience));
    page.preview()->search(QStringLiteral("Zebra only"));
    const auto sheets = static_cast<int>(page.preview()->report()->sheets.size());
    QVERIFY(sheets > 3);
    QCOMPARE(page.preview()->matchCount(), sheets + 1); // every foot, and the top of the cover
    document.undoStack()->undo();
    QVERIFY(laid.wait(patience));
    page.preview()->search(QStringLiteral("Zebra only"));
    QCOMPARE(page.preview()->matchCount(), 0);
}

void ReportPageTest::hiddenPageWaits()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    QVERIFY(document.setField(QStringLiteral("limits.concurrentSequences"), QStringLiteral("3")));
    QVERIFY2(!laid.wait(600), "pages were laid out that nobody sees");
    page.show();
    QVERIFY(laid.wait(patience));
}

void ReportPageTest::sectionsCanBeLeftOut()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    page.show();
    QVERIFY(laid.wait(patience));
    auto* list = page.findChild<QListWidget*>();
    const std::size_t before = page.preview()->report()->sheets.size();
    const QList<QListWidgetItem*> steps
        = list->findItems(QStringLiteral("Appendix: formulas, step by step"), Qt::MatchExactly);
    QCOMPARE(steps.size(), 1);
    steps.front()->setCheckState(Qt::Unchecked);
    QVERIFY(laid.wait(patience));
    QVERIFY(page.preview()->report()->sheets.size() < before);
    QVERIFY(
        shown(page).contains(QLatin1String("left out of this document on request: Appendix: formulas, step by step")));
    QCOMPARE(
        list->findItems(QStringLiteral("Appendix: formulas, step by step"), Qt::MatchExactly).front()->checkState(),
        Qt::Unchecked);
}

void ReportPageTest::paper()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    page.show();
    QVERIFY(laid.wait(patience));
    QCOMPARE(page.preview()->report()->paper, Paper::A4);
    for (QComboBox* box : page.findChildren<QComboBox*>()) {
        if (box->accessibleName() == QLatin1String("Paper"))
            box->setCurrentIndex(1);
    }
    QVERIFY(laid.wait(patience));
    QCOMPARE(page.preview()->report()->paper, Paper::Letter);
}

void ReportPageTest::search()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    page.resize(1000, 600);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    page.show();
    QVERIFY(laid.wait(patience));
    PagePreview* preview = page.preview();
    preview->search(QStringLiteral("complete ISOLATION"));
    QVERIFY(preview->matchCount() >= 3); // on the cover, under the tenants, in scope and limits
    QCOMPARE(preview->currentMatch(), 0);
    preview->step(-1);
    QCOMPARE(preview->currentMatch(), preview->matchCount() - 1);
    QVERIFY2(preview->verticalScrollBar()->value() > 0, "the last match is not in sight");
    preview->search(QStringLiteral("no such words"));
    QCOMPARE(preview->matchCount(), 0);
    QCOMPARE(preview->currentMatch(), -1);
    preview->step(1);
}

void ReportPageTest::exports()
{
    QTemporaryDir folder;
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    QSignalSpy exported(&page, &ReportPage::exported);
    QSignalSpy message(&page, &Page::message);
    QCOMPARE(page.exportAction()->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_E));
    const QString target = folder.filePath(QStringLiteral("plan.pdf"));
    page.exportTo(target);
    QVERIFY(!page.exportAction()->isEnabled());
    QVERIFY(exported.wait(patience));
    QCOMPARE(exported.back().at(1).toString(), QString());
    QVERIFY(page.exportAction()->isEnabled());
    QFile file(target);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.read(5) == "%PDF-");
    page.exportTo(folder.filePath(QStringLiteral("no such folder/plan.pdf")));
    QVERIFY(exported.wait(patience));
    QVERIFY(!exported.back().at(1).toString().isEmpty());
    QVERIFY(message.back().at(0).toString().startsWith(QLatin1String("plan.pdf was not written")));
}

void ReportPageTest::paintsItsPages()
{
    PlanDocument document;
    document.setPlan(smallPlan(), {});
    ReportPage page(document);
    page.resize(1100, 700);
    QSignalSpy laid(&page, &ReportPage::laidOut);
    page.show();
    QVERIFY(laid.wait(patience));
    const QImage image = page.preview()->viewport()->grab().toImage();
    int white = 0;
    int dark = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            white += image.pixelColor(x, y) == QColor(Qt::white) ? 1 : 0;
            dark += image.pixelColor(x, y).lightness() < 120 ? 1 : 0;
        }
    }
    QVERIFY2(white > image.width() * image.height() / 8, "no sheet of paper");
    QVERIFY2(dark > 1000, "nothing printed on it");
}

QTEST_MAIN(ReportPageTest)
#include "tst_report_page.moc"
