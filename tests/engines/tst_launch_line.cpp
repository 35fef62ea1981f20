// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/launch_line.h"
#include "support/example_plans.h"

#include <QProcess>
#include <QTest>

using namespace kvw;

namespace {

QString lineOf(const Plan& plan)
{
    const Result<LaunchLine> line = launchLine(plan);
    return line ? QString::fromStdString(line->text()) : QString::fromStdString(line.error().code);
}

/// A plan that states nothing but its engine and model.
Plan bare(const char* model)
{
    Plan plan;
    plan.engine.name = "vllm";
    plan.model.name = model;
    return plan;
}

} // namespace

class LaunchLineTest : public QObject
{
    Q_OBJECT

private slots:
    void statedFieldsOnly();
    void everyArgumentNamesItsField();
    void engines();
    void remarks();
    void aShellReadsItBack();
};

void LaunchLineTest::statedFieldsOnly()
{
    QCOMPARE(lineOf(bare("org/model")), QStringLiteral("vllm serve org/model"));
    QCOMPARE(lineOf(test::examplePlan("reference.kvplan")),
        QStringLiteral("vllm serve 'reference shape' --max-model-len 8192 --block-size 16 --max-num-batched-tokens "
                       "2048 --max-num-seqs 8 --kv-cache-memory-bytes 6442450944"));
    const Plan parts = test::with(bare("m"),
        {{"limits.maxModelLen", "32k"}, {"budget.utilization", "0.92"}, {"deployment.tp", "8"},
            {"cache.elementType", "fp8_e4m3"}});
    QCOMPARE(lineOf(parts),
        QStringLiteral("vllm serve m --max-model-len 32768 --tensor-parallel-size 8 --kv-cache-dtype fp8_e4m3 "
                       "--gpu-memory-utilization 0.92"));
    // One rank needs no argument; stated bytes bypass the utilisation.
    const Plan both = test::with(
        bare("m"), {{"deployment.tp", "1"}, {"budget.utilization", "0.9"}, {"budget.kvBytesPerRank", "1GiB"}});
    QCOMPARE(lineOf(both), QStringLiteral("vllm serve m --kv-cache-memory-bytes 1073741824"));
    const Plan sized = test::with(bare("m"),
        {{"deployment.tp", "8"}, {"deployment.dcp", "2"}, {"engine.stateMode", "align"},
            {"engine.blocksOverride", "512"}, {"engine.hybridManager", "off"}});
    QCOMPARE(lineOf(sized),
        QStringLiteral("vllm serve m --tensor-parallel-size 8 --decode-context-parallel-size 2 --mamba-cache-mode "
                       "align --num-gpu-blocks-override 512"));
    QVERIFY(!launchLine(sized)->remarks.empty());
}

void LaunchLineTest::everyArgumentNamesItsField()
{
    Plan plan = test::examplePlan("reference.kvplan");
    const Result<LaunchLine> line = launchLine(plan);
    QVERIFY(line);
    QVERIFY(line->arguments.size() >= 5);
    for (const LaunchArgument& argument : line->arguments) {
        const Result<FieldReference> field = findField(plan, argument.field);
        QVERIFY(field);
        QVERIFY(isStated(field->slot));
        // The number on the line is the field's.
        if (field->field->type == FieldType::Integer)
            QCOMPARE(**std::get_if<std::optional<std::int64_t>*>(&field->slot),
                std::optional<std::int64_t>(std::stoll(argument.value)));
    }
}

void LaunchLineTest::engines()
{
    Plan plan = bare("m");
    plan.engine.name = "none";
    QCOMPARE(lineOf(plan), QStringLiteral("engine.launch"));
    plan.engine.name.clear();
    QCOMPARE(lineOf(plan), QStringLiteral("engine.launch"));
    QCOMPARE(lineOf(bare("")), QStringLiteral("engine.launch"));
}

void LaunchLineTest::remarks()
{
    QVERIFY(launchLine(bare("m"))->remarks.empty());
    QCOMPARE(launchLine(test::examplePlan("reference.kvplan"))->remarks.size(), std::size_t {1}); // hypothetical
    const Plan plan = test::with(bare("m"),
        {{"model.dtype", "bf16"}, {"cache.elementType", "int8"}, {"reuse.prefixCaching", "off"}, {"deployment.pp", "2"},
            {"budget.utilization", "0.9"}, {"budget.kvBytesPerRank", "1GiB"}});
    QCOMPARE(launchLine(plan)->remarks.size(), std::size_t {4});
    const Plan same = test::with(bare("m"), {{"model.dtype", "bf16"}, {"cache.elementType", "bf16"}});
    QVERIFY(launchLine(same)->remarks.empty());
}

void LaunchLineTest::aShellReadsItBack()
{
    for (const char* name : {"org/model-7B", "a b", "it's", "$(touch x)", "`id`", "\"q\"", "a;b|c&d", "*", "new\nline",
             "~", "#", "r\xc3\xb6t", "\\"}) {
        QProcess shell;
        shell.start(QStringLiteral("/bin/sh"),
            {QStringLiteral("-c"), QStringLiteral("printf %s ") + QString::fromStdString(shellWord(name))});
        QVERIFY(shell.waitForFinished());
        QCOMPARE(shell.readAllStandardOutput(), QByteArray(name));
    }
}

QTEST_GUILESS_MAIN(LaunchLineTest)
#include "tst_launch_line.moc"
