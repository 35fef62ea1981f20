// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/evidencemodel.h"
#include "live/phasestrip.h"
#include "live/runsmodel.h"
#include "models/roles.h"
#include "style/tokens.h"
#include "support/example_plans.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <QTextDocumentFragment>

using namespace kvw;
using namespace kvw::gui;

namespace {

EvidenceRow row(
    const std::string& id, Unit unit, std::optional<Number> predicted, std::optional<Number> measured, Verdict verdict)
{
    EvidenceRow out;
    out.id = id;
    out.title = "Title of " + id;
    out.unit = unit;
    out.predicted = predicted;
    out.measured = measured;
    out.instrument = "an instrument";
    out.toleranceReason = "a count";
    out.verdict = verdict;
    return out;
}

std::vector<EvidenceRow> someRows()
{
    std::vector<EvidenceRow> out;
    out.push_back(
        row("first", Unit::Block, Number {std::int64_t {1234}}, Number {std::int64_t {1234}}, Verdict::Agrees));
    out.push_back(row(
        "bytes", Unit::Byte, Number {std::int64_t {503316480}}, Number {std::int64_t {547356672}}, Verdict::Differs));
    out.back().difference = 44040192; // 42 MiB
    out.back().below = 0;
    out.back().above = 4095;
    out.push_back(
        row("own", Unit::Request, Number {std::int64_t {9}}, Number {std::int64_t {9}}, Verdict::SameCounter));
    out.back().reason = "nobody else counts";
    out.push_back(row("rate", Unit::BytesPerSecond, std::nullopt, Number {3.21e9}, Verdict::NotComparable));
    out.back().toleranceReason.clear();
    out.push_back(row("other", Unit::Token, Number {std::int64_t {10}}, Number {std::int64_t {7}}, Verdict::Differs));
    out.back().difference = -3;
    return out;
}

QString text(const EvidenceModel& model, int row, int column)
{
    return model.index(row, column).data().toString();
}

} // namespace

class LiveModelsTest : public QObject
{
    Q_OBJECT
private slots:
    void evidence();
    void evidenceOfOtherKinds();
    void runs();
    void phases();
};

void LiveModelsTest::evidence()
{
    EvidenceModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    QVERIFY(model.setRows(someRows(), EvidenceModel::Kind::Measured));
    QVERIFY(!model.setRows(someRows(), EvidenceModel::Kind::Measured)); // nothing new
    QCOMPARE(model.rowCount(), 5);
    // Rows that differ come first, the others keep their order.
    QCOMPARE(text(model, 0, EvidenceModel::Row), QStringLiteral("Title of bytes"));
    QCOMPARE(text(model, 1, EvidenceModel::Row), QStringLiteral("Title of other"));
    QCOMPARE(text(model, 2, EvidenceModel::Row), QStringLiteral("Title of first"));
    QCOMPARE(text(model, 0, EvidenceModel::Prediction), QStringLiteral("480.00"));
    QCOMPARE(model.index(0, EvidenceModel::Prediction).data(UnitRole).toString(), QStringLiteral("MiB"));
    QCOMPARE(model.index(0, EvidenceModel::Measured).data(Qt::ToolTipRole).toString(),
        QStringLiteral("547,356,672 B · F4 to explain"));
    QCOMPARE(text(model, 0, EvidenceModel::VerdictColumn), QStringLiteral("✗ differs +42.00 MiB"));
    QCOMPARE(text(model, 0, EvidenceModel::Tolerance), QStringLiteral("0 … +4.00 KiB"));
    QCOMPARE(text(model, 1, EvidenceModel::VerdictColumn), QStringLiteral("✗ differs −3"));
    QCOMPARE(text(model, 2, EvidenceModel::Measured), QStringLiteral("1,234"));
    QCOMPARE(text(model, 2, EvidenceModel::Estimate), QStringLiteral("–"));
    QCOMPARE(text(model, 2, EvidenceModel::Tolerance), QStringLiteral("0"));
    QCOMPARE(text(model, 3, EvidenceModel::VerdictColumn), QStringLiteral("– no verdict: same counter"));
    QVERIFY(model.detail(3).contains(QStringLiteral("nobody else counts")));
    QCOMPARE(text(model, 4, EvidenceModel::Measured), QStringLiteral("3.21"));
    QCOMPARE(model.index(4, EvidenceModel::Measured).data(UnitRole).toString(), QStringLiteral("GB/s"));
    QCOMPARE(text(model, 4, EvidenceModel::Tolerance), QStringLiteral("–"));
    QCOMPARE(verdictCountText(model.rows()), QStringLiteral("✓ 1 agree · ✗ 2 differ · – 2 without verdict"));
    QCOMPARE(model.detail(99), QString());
    std::vector<EvidenceRow> spread = someRows();
    spread[3].below = 0.21e9;
    spread[3].above = 0.79e9;
    spread[3].toleranceReason = "spread";
    model.setRows(spread, EvidenceModel::Kind::Measured);
    QCOMPARE(text(model, 4, EvidenceModel::Tolerance), QStringLiteral("3.00 … 4.00 GB/s"));
    model.setRows(someRows(), EvidenceModel::Kind::Measured);
    // In colours it says the same.
    QCOMPARE(QTextDocumentFragment::fromHtml(verdictCountRichText(model.rows(), lightPalette())).toPlainText(),
        verdictCountText(model.rows()));
    QVERIFY(verdictCountRichText(model.rows(), lightPalette()).contains(tokensFor(lightPalette()).differs.name()));
    // Tenants have names.
    std::vector<EvidenceRow> rows = someRows();
    rows[0].id = "hit_tokens.tenant";
    rows[0].title = "Prompt tokens by prefix hits, tenant";
    model.setRows(rows, EvidenceModel::Kind::Measured);
    model.setTenantNames({{"tenant", "Cedar"}});
    QCOMPARE(text(model, 2, EvidenceModel::Row), QStringLiteral("Prompt tokens by prefix hits, Cedar"));
    QCOMPARE(text(model, 0, EvidenceModel::Row), QStringLiteral("Title of bytes"));
}

void LiveModelsTest::evidenceOfOtherKinds()
{
    EvidenceModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::vector<EvidenceRow> rows = someRows();
    for (EvidenceRow& one : rows) {
        one.measured.reset();
        one.verdict = Verdict::NotComparable;
    }
    model.setRows(rows, EvidenceModel::Kind::Expected);
    QCOMPARE(text(model, 0, EvidenceModel::VerdictColumn), QStringLiteral("not run"));
    QCOMPARE(text(model, 0, EvidenceModel::Measured), QStringLiteral("–"));
    model.setRows(rows, EvidenceModel::Kind::Running);
    QCOMPARE(text(model, 0, EvidenceModel::VerdictColumn), QStringLiteral("… running"));
    QCOMPARE(text(model, 0, EvidenceModel::Measured), QStringLiteral("…"));
    model.setRows(someRows(), EvidenceModel::Kind::Stale);
    QVERIFY(model.headerData(EvidenceModel::Measured, Qt::Horizontal).toString().startsWith(QLatin1Char('~')));
    QCOMPARE(model.index(0, EvidenceModel::Measured).data(MarkRole).toInt(), static_cast<int>(StaleMark));
    model.setRows({}, EvidenceModel::Kind::Expected);
    QCOMPARE(model.rowCount(), 0);
}

void LiveModelsTest::runs()
{
    PlanDocument document;
    Plan plan = test::smallPlan();
    RunReference known;
    known.id = "run4";
    known.kind = "live run";
    known.planHash = "of another plan";
    known.device = "host";
    known.at = "2026-01-31T12:00:00Z";
    plan.runs.push_back(known);
    plan.evidence = summaries(someRows(), "run4");
    document.setPlan(plan, QStringLiteral("/x.kvplan"));
    RunsModel model(document);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.index(0, RunsModel::ResultColumn).data().toString(), QStringLiteral("~ ✓ 1  ✗ 2"));
    QVERIFY(model.index(0, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("2026-01-31 12:00 UTC")));
    QCOMPARE(model.index(0, RunsModel::Run).data().toString(), QStringLiteral("run 4"));

    auto run = std::make_shared<LiveResult>();
    run->id = QStringLiteral("run5");
    run->device = QStringLiteral("host");
    run->state = QStringLiteral("running");
    run->planHash = document.hash();
    document.setRun(run);
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.idAt(0), QStringLiteral("run5")); // newest first
    QCOMPARE(model.rowOf(QStringLiteral("run4")), 1);
    QCOMPARE(model.rowOf(QStringLiteral("run9")), -1);
    QCOMPARE(model.index(0, RunsModel::ResultColumn).data().toString(), QStringLiteral("… running"));
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    auto stopped = std::make_shared<LiveResult>(*run);
    stopped->state = QStringLiteral("The worker was killed (signal 9) at step 3 of 9.");
    document.setRun(stopped);
    QCOMPARE(resets.size(), 0); // the selection stays
    QCOMPARE(model.index(0, RunsModel::ResultColumn).data().toString(), QStringLiteral("✗ stopped"));
    QVERIFY(model.index(0, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("signal 9")));
    auto done = std::make_shared<LiveResult>(*run);
    done->state = QStringLiteral("done");
    done->rows = someRows();
    document.setRun(done);
    QCOMPARE(model.index(0, RunsModel::ResultColumn).data().toString(), QStringLiteral("✓ 1  ✗ 2"));
    QVERIFY(document.setField(QStringLiteral("limits.maxModelLen"), QStringLiteral("2048")).ok());
    QCOMPARE(model.index(0, RunsModel::ResultColumn).data().toString(), QStringLiteral("~ ✓ 1  ✗ 2"));
    document.undoStack()->undo();
    QCOMPARE(model.index(0, RunsModel::ResultColumn).data().toString(), QStringLiteral("✓ 1  ✗ 2"));
}

void LiveModelsTest::phases()
{
    PhaseStrip strip;
    strip.setReservation(QStringLiteral("512.00 MiB"));
    QCOMPARE(strip.texts().size(), 7);
    QCOMPARE(strip.texts().at(2), QStringLiteral("○ Reserve 512.00 MiB"));
    strip.setProgress(nullptr, false);
    QCOMPARE(strip.texts().size(), 6);
    RunProgress progress;
    progress.phases = {{ProbePhase::Setup, PhaseStatus::State::Done, 0.44},
        {ProbePhase::Steps, PhaseStatus::State::Running, 0}, {ProbePhase::Count, PhaseStatus::State::Waiting, 0}};
    progress.step = 512;
    progress.predictedSteps = 1900;
    strip.setProgress(std::make_shared<const RunProgress>(progress), true);
    QCOMPARE(strip.texts(),
        (QStringList {QStringLiteral("✓ Predict 0.4 s"), QStringLiteral("▶ Step run 512 of 1,900"),
            QStringLiteral("○ Count bytes")}));
    progress.phases[1].state = PhaseStatus::State::CutShort;
    strip.setProgress(std::make_shared<const RunProgress>(progress), true);
    QCOMPARE(strip.texts().at(1), QStringLiteral("✗ Step run 512 of 1,900"));
    QCOMPARE(strip.accessibleDescription(), strip.texts().join(QStringLiteral(", ")));
    // Cancelled: the phase ended in good order, the run did not come to its end.
    progress.phases[1].state = PhaseStatus::State::Done;
    progress.samples.resize(1);
    progress.cancelling = true;
    strip.setProgress(std::make_shared<const RunProgress>(progress), true);
    QCOMPARE(strip.texts().at(1), QStringLiteral("✗ Step run cancelled at step 512 of 1,900"));
    progress.step = 1899; // it was at its end all the same
    strip.setProgress(std::make_shared<const RunProgress>(progress), true);
    QVERIFY(strip.texts().at(1).startsWith(QStringLiteral("✓ Step run 1,900")));
}

QTEST_MAIN(LiveModelsTest)
#include "tst_live_models.moc"
