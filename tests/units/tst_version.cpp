// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/version.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

class VersionTest : public QObject
{
    Q_OBJECT
private slots:
    void isTheOneOfTheProject();
};

/// The library must say what the top CMakeLists.txt says, not what some earlier configuration said.
void VersionTest::isTheOneOfTheProject()
{
    QFile file(qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/CMakeLists.txt"));
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName() + QStringLiteral(": ") + file.errorString()));
    const QRegularExpression pattern(QStringLiteral(R"(project\(KVWorkbench VERSION (\d+\.\d+\.\d+)\s)"));
    const QRegularExpressionMatch match = pattern.match(QString::fromUtf8(file.readAll()));
    QVERIFY2(match.hasMatch(), "CMakeLists.txt names no version");
    QCOMPARE(QString::fromUtf8(kvw::version()), match.captured(1));
}

QTEST_APPLESS_MAIN(VersionTest)
#include "tst_version.moc"
