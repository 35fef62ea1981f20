// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/deploymentpage.h"
#include "document/plandocument.h"
#include "engines/launch_line.h"
#include "support/example_plans.h"

#include <QApplication>
#include <QClipboard>
#include <QPlainTextEdit>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

class DeploymentLaunchTest : public QObject
{
    Q_OBJECT

private slots:
    void launchLineFollowsThePlan();
    void launchLineIsSelectable();
};

void DeploymentLaunchTest::launchLineFollowsThePlan()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    DeploymentPage page(document);
    page.show();
    auto* line = page.findChild<QPlainTextEdit*>(QStringLiteral("launchLine"));
    QVERIFY(line);
    QVERIFY(line->toPlainText().startsWith(QStringLiteral("vllm serve 'reference shape' --max-model-len 8192 ")));
    QVERIFY(document.setField(QStringLiteral("limits.maxModelLen"), QStringLiteral("16k")));
    QVERIFY(line->toPlainText().contains(QStringLiteral("--max-model-len 16384 ")));
    document.undoStack()->undo();
    QCOMPARE(line->toPlainText().toStdString(), launchLine(document.plan())->text());
    QVERIFY(document.setField(QStringLiteral("engine.name"), QStringLiteral("none")));
    QCOMPARE(line->toPlainText(), QString());
    QVERIFY(line->placeholderText().contains(QStringLiteral("no engine is chosen")));
}

void DeploymentLaunchTest::launchLineIsSelectable()
{
    PlanDocument document;
    document.setPlan(test::examplePlan("reference.kvplan"), {});
    DeploymentPage page(document);
    page.show();
    auto* line = page.findChild<QPlainTextEdit*>(QStringLiteral("launchLine"));
    line->setFocus();
    QTest::keyClick(line, Qt::Key_X); // it cannot be edited
    QCOMPARE(line->toPlainText().toStdString(), launchLine(document.plan())->text());
    QTest::keyClick(line, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(line, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text().toStdString(), launchLine(document.plan())->text());
}

QTEST_MAIN(DeploymentLaunchTest)
#include "tst_deployment_launch.moc"
