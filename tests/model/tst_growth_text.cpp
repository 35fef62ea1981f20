// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/growth_text.h"

#include <QTest>

#include <random>

using namespace kvw;

class TestGrowthText : public QObject
{
    Q_OBJECT

private slots:
    void reads_data();
    void reads();
    void readsWhatIsWritten();
    void refused_data();
    void refused();
};

void TestGrowthText::reads_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QList<qint64>>("entries"); // at 0, 1, 10, 1000
    using Q = QList<qint64>;
    QTest::newRow("all") << "v" << Q {0, 1, 10, 1000};
    QTest::newRow("window") << "min(v, 128)" << Q {0, 1, 10, 128};
    QTest::newRow("window, plain") << " MIN( v,128 ) " << Q {0, 1, 10, 128};
    QTest::newRow("chunk") << "((v − 1) mod 300) + 1" << Q {0, 1, 10, 100};
    QTest::newRow("chunk, plain") << "((v-1)mod 300)+1" << Q {0, 1, 10, 100};
    QTest::newRow("fixed") << "3 (fixed)" << Q {0, 3, 3, 3};
    QTest::newRow("stride") << "⌊v ÷ 4⌋" << Q {0, 0, 2, 250};
    QTest::newRow("stride, plain") << "floor(v / 4)" << Q {0, 0, 2, 250};
    QTest::newRow("up") << "⌈v ÷ 4⌉" << Q {0, 1, 3, 250};
    QTest::newRow("nearest") << "round(v ÷ 4)" << Q {0, 0, 3, 250};
    QTest::newRow("offset") << "v + 3" << Q {3, 4, 13, 1003};
    QTest::newRow("offset, less") << "max(v − 3, 0)" << Q {0, 0, 7, 997};
    QTest::newRow("all in one") << "min(⌊(v + 3) ÷ 4⌋, 200)" << Q {0, 1, 3, 200};
    QTest::newRow("less in one") << "min(ceil(max(v-3,0)/4),200)" << Q {0, 0, 2, 200};
}

void TestGrowthText::reads()
{
    QFETCH(QString, text);
    const Result<GrowthLaw> law = parseGrowth(text.toStdString());
    QVERIFY2(law.ok(), law ? "" : law.error().text().c_str());
    QList<qint64> entries;
    for (const std::int64_t v : {0, 1, 10, 1000})
        entries.push_back(law->at(v));
    QTEST(entries, "entries");
}

void TestGrowthText::readsWhatIsWritten()
{
    std::mt19937_64 random(3);
    const auto upTo
        = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1)); };
    for (int i = 0; i < 20'000; ++i) {
        GrowthLaw law;
        law.form = static_cast<GrowthForm>(upTo(2));
        law.variable = law.form == GrowthForm::Fixed ? GrowthVariable::Tokens : static_cast<GrowthVariable>(upTo(2));
        if (law.form == GrowthForm::Fixed) {
            law.entries = upTo(1'000'000'000);
        } else if (law.form == GrowthForm::Chunked) {
            law.chunk = 1 + upTo(999'999);
        } else {
            law.offset = upTo(2) - 1 == 0 ? 0 : upTo(2'000) - 1'000;
            law.stride = upTo(1) == 0 ? 1 : 2 + upTo(500);
            law.rounding = law.stride == 1 ? Rounding::Down : static_cast<Rounding>(upTo(2));
            if (upTo(1) == 0)
                law.limit = 1 + upTo(999'999);
        }
        const Result<GrowthLaw> again = parseGrowth(growthText(law));
        QVERIFY2(again.ok(), growthText(law).c_str());
        QVERIFY2(*again == law, growthText(law).c_str());
    }
}

void TestGrowthText::refused_data()
{
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "w", "128", "min(v)", "min(v, )", "min(v, x)", "min(v, -1)", "v v", "v +", "v - 3",
             "((v − 2) mod 8) + 1", "((v − 1) mod 8) + 2", "⌊v⌋", "⌊v ÷ 4", "floor(v / 4) + 1", "(fixed)",
             "99999999999999999999 (fixed)", "min(min(v, 3), 4)", "max(v − 3, 1)"})
        QTest::newRow(text) << QString::fromUtf8(text);
}

void TestGrowthText::refused()
{
    QFETCH(QString, text);
    const Result<GrowthLaw> law = parseGrowth(text.toStdString());
    QVERIFY(!law.ok());
    QCOMPARE(law.error().code, std::string("growth.syntax"));
    QVERIFY(!law.error().expected.empty());
}

QTEST_APPLESS_MAIN(TestGrowthText)
#include "tst_growth_text.moc"
