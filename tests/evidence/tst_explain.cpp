// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/explain.h"
#include "support/example_plans.h"
#include "worker/device_source.h"
#include "worker/probe_job.h"

#include <QTest>

#include <map>

using namespace kvw;

namespace {

std::map<std::string, std::string> factsOf(const Explanation& explanation)
{
    return {explanation.facts.begin(), explanation.facts.end()};
}

EvidenceContext contextOf(const Probe& probe)
{
    EvidenceContext out;
    out.run = "run1";
    out.device = "host";
    out.planHash = probe.setup.planHash;
    out.rules = probe.setup.behaviour.rule;
    out.poolFraction = probe.setup.poolFraction;
    return out;
}

} // namespace

class ExplainEvidenceTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void everyFigureOfEveryRow();
    void storedRowsSayTheSame();
    void theEstimateHasItsFormula();
    void aVerdictByHand();

private:
    Probe m_probe;
};

void ExplainEvidenceTest::initTestCase()
{
    ProbeOptions options;
    options.ceilings = false;
    ProbeSink nobody;
    Result<Probe> probe = runProbeJob(test::smallPlan(), options, HostDevices(), nobody);
    QVERIFY(probe.ok());
    m_probe = std::move(*probe);
    QVERIFY(m_probe.rows.size() >= 19);
}

void ExplainEvidenceTest::everyFigureOfEveryRow()
{
    for (const EvidenceRow& row : m_probe.rows) {
        for (const auto& [figure, number] :
            {std::pair {EvidenceFigure::Estimated, row.estimated}, std::pair {EvidenceFigure::Predicted, row.predicted},
                std::pair {EvidenceFigure::Measured, row.measured}}) {
            const Explanation out = explainEvidence(row, figure, contextOf(m_probe));
            auto facts = factsOf(out);
            QVERIFY2(!facts["What"].empty(), row.id.c_str()); // every row says what it is
            QVERIFY(out.title.starts_with(row.title));
            QCOMPARE(out.quantity.has_value(), number.has_value());
            if (number)
                QVERIFY(out.quantity->number() == *number);
            else
                QVERIFY2(!facts["No value"].empty(), row.id.c_str());
            if (figure == EvidenceFigure::Predicted && number)
                QVERIFY2(!facts["Counted from"].empty(), row.id.c_str());
            if (figure == EvidenceFigure::Estimated && number)
                QVERIFY2(!facts["Closed form"].empty(), row.id.c_str());
            if (figure == EvidenceFigure::Measured)
                QCOMPARE(facts["Instrument"], row.instrument);
        }
        const Explanation verdict = explainEvidence(row, EvidenceFigure::Verdict, contextOf(m_probe));
        auto facts = factsOf(verdict);
        QVERIFY(facts["Verdict"].starts_with(verdictName(row.verdict)));
        QVERIFY(facts["Rule"].find("tolerance") != std::string::npos);
        if (row.difference && verdict.quantity)
            QCOMPARE(verdict.quantity->real(), *row.difference);
    }
}

void ExplainEvidenceTest::storedRowsSayTheSame()
{
    const std::vector<EvidenceRow> stored = rowsOf(summaries(m_probe.rows, "run1"));
    QCOMPARE(stored.size(), m_probe.rows.size());
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const Explanation now = explainEvidence(m_probe.rows[i], EvidenceFigure::Measured, contextOf(m_probe));
        const Explanation then = explainEvidence(stored[i], EvidenceFigure::Measured, contextOf(m_probe));
        QCOMPARE(factsOf(then)["What"], factsOf(now)["What"]);
        QCOMPARE(then.quantity.has_value(), now.quantity.has_value());
        QVERIFY(factsOf(then)["Tolerance"].find(m_probe.rows[i].toleranceReason) != std::string::npos);
    }
}

void ExplainEvidenceTest::theEstimateHasItsFormula()
{
    int found = 0;
    for (const EvidenceRow& row : m_probe.rows) {
        const std::optional<Quantity> derived = evidenceEstimate(test::smallPlan(), m_probe.setup, row);
        if (!derived)
            continue;
        ++found;
        QVERIFY(derived->number() == *row.estimated);
        QVERIFY(derived->derivation()->operation != Operation::Input);
        const Explanation out = explainEvidence(row, EvidenceFigure::Estimated, contextOf(m_probe), derived);
        QCOMPARE(out.quantity->derivation().get(), derived->derivation().get());
        // Another plan's formula is not passed off as this row's.
        QVERIFY(!evidenceEstimate(test::with(test::smallPlan(), {{"worksheet.groups.full.tensors.k.width", "32"}}),
                    m_probe.setup, row)
            || row.id == "pool_bytes");
    }
    QCOMPARE(found, 2); // pool bytes and blocks are figures of the estimate
}

void ExplainEvidenceTest::aVerdictByHand()
{
    EvidenceRow row;
    row.id = "evictions";
    row.title = "Evictions";
    row.unit = Unit::Block;
    row.predicted = std::int64_t {100};
    row.measured = std::int64_t {93};
    row.difference = -7;
    row.below = 2;
    row.above = 3;
    row.toleranceReason = "for the test";
    row.verdict = Verdict::Differs;
    const Explanation out = explainEvidence(row, EvidenceFigure::Verdict, {});
    QCOMPARE(out.quantity->integer(), -7);
    auto facts = factsOf(out);
    QCOMPARE(facts["Tolerance"], std::string("−2 … +3: for the test"));
    QCOMPARE(facts["Verdict"], std::string("differs"));
    QCOMPARE(facts["Less the prediction"], std::string("-7"));
    QVERIFY(!facts.contains("Less the estimate"));
    QCOMPARE(out.of, std::string("no run yet"));
    for (const char* name : {"estimated", "predicted", "measured", "verdict"})
        QCOMPARE(std::string(evidenceFigureName(*evidenceFigureFromName(name))), std::string(name));
    QVERIFY(!evidenceFigureFromName("nothing"));
}

QTEST_GUILESS_MAIN(ExplainEvidenceTest)
#include "tst_explain.moc"
