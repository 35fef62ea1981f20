// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/format.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <limits>
#include <locale>
#include <random>

using namespace kvw;

namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

struct NamedFactor
{
    const char* name;
    std::int64_t factor;
};

constexpr std::array<NamedFactor, 6> units {
    {{"KiB", std::int64_t {1} << 10}, {"MiB", std::int64_t {1} << 20}, {"GiB", std::int64_t {1} << 30},
        {"TiB", std::int64_t {1} << 40}, {"PiB", std::int64_t {1} << 50}, {"EiB", std::int64_t {1} << 60}}};

} // namespace

class FormatTest : public QObject
{
    Q_OBJECT
private slots:
    void bytes_data();
    void bytes();
    void bytesAreTheNearestHundredth();
    void groupedDigits_data();
    void groupedDigits();
    void roundTrips();
    void quantities();
    void inAnotherLocale();
};

void FormatTest::bytes_data()
{
    QTest::addColumn<qint64>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](qint64 value, const char* text) { QTest::newRow(text) << value << QString::fromUtf8(text); };
    row(0, "0 B");
    row(1, "1 B");
    row(1023, "1023 B");
    row(-1023, "-1023 B");
    row(1024, "1.00 KiB");
    row(1152, "1.12 KiB"); // 1.125: halves to even
    row(1408, "1.38 KiB"); // 1.375
    row(1536, "1.50 KiB");
    row(300 * 1024, "300.00 KiB");
    row(1'048'575, "1.00 MiB"); // never 1024.00 of the smaller unit
    row(1'048'570, "1023.99 KiB");
    row(-1'048'575, "-1.00 MiB");
    row(4'294'967'296, "4.00 GiB");
    row(6'990'059'274, "6.51 GiB");
    row(80'000'000'000, "74.51 GiB");
    row(std::int64_t {1} << 50, "1.00 PiB");
    row(most, "8.00 EiB");
    row(least, "-8.00 EiB");
}

void FormatTest::bytes()
{
    QFETCH(qint64, value);
    QFETCH(QString, text);
    QCOMPARE(q(format(Bytes(value))), text);
}

void FormatTest::bytesAreTheNearestHundredth()
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
        const auto value = static_cast<std::int64_t>(random() >> (random() % 54 + 1));
        if (value < 1024)
            continue;
        const std::string text = format(Bytes(value));
        const std::size_t space = text.find(' ');
        QVERIFY2(space != std::string::npos && space > 3 && text[space - 3] == '.', text.c_str());
        std::string digits = text.substr(0, space);
        digits.erase(space - 3, 1);
        const std::int64_t hundredths = std::stoll(digits);
        const auto unit = std::find_if(units.begin(), units.end(),
            [&](const NamedFactor& candidate) { return candidate.name == text.substr(space + 1); });
        QVERIFY2(unit != units.end(), text.c_str());
        const Wide off = static_cast<Wide>(hundredths) * unit->factor - static_cast<Wide>(value) * 100;
        QVERIFY2(2 * (off < 0 ? -off : off) <= Wide {unit->factor}, text.c_str());
        QVERIFY2(hundredths >= 100 && hundredths < 102'400, text.c_str());
    }
}

void FormatTest::groupedDigits_data()
{
    QTest::addColumn<qint64>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](qint64 value, const char* text) { QTest::newRow(text) << value << QString::fromUtf8(text); };
    row(0, "0");
    row(-7, "-7");
    row(999, "999");
    row(-999, "-999");
    row(1000, "1,000");
    row(-123456, "-123,456");
    row(7'311'458'304, "7,311,458,304");
    row(most, "9,223,372,036,854,775,807");
    row(least, "-9,223,372,036,854,775,808");
}

void FormatTest::groupedDigits()
{
    QFETCH(qint64, value);
    QFETCH(QString, text);
    QCOMPARE(q(grouped(value)), text);
}

void FormatTest::roundTrips()
{
    std::mt19937_64 random(3);
    for (int i = 0; i < 50'000; ++i) {
        const auto value = static_cast<std::int64_t>(random() >> (random() % 63 + 1));
        QCOMPARE(parseBytes(std::to_string(value))->value, value);
        QCOMPARE(parseBytes(grouped(value))->value, value);
        QCOMPARE(*parseCount(std::to_string(value)), value);
        QCOMPARE(*parseCount(grouped(value)), value);
        QCOMPARE(*parseCount(grouped(-value)), -value);
        const Result<Bytes> shown = parseBytes(format(Bytes(value)));
        if (shown) // 8.00 EiB is beyond
            QCOMPARE(format(*shown), format(Bytes(value)));
        const double real = std::bit_cast<double>(random());
        if (!std::isfinite(real))
            continue;
        const std::string text = formatNumber(real);
        QCOMPARE(std::strtod(text.c_str(), nullptr), real);
        if (std::fpclassify(real) != FP_SUBNORMAL)
            QCOMPARE(*parseReal(text), real);
        QCOMPARE(q(formatNumber(value)), q(std::to_string(value)));
    }
}

void FormatTest::quantities()
{
    const auto made = [](Number value, Unit unit) { return input("x", value, unit, Source {}); };
    QCOMPARE(formatQuantity(made(std::int64_t {6'990'059'274}, Unit::Byte)), std::string("6.51 GiB"));
    QCOMPARE(formatQuantity(made(std::int64_t {2048}, Unit::BytesPerToken)), std::string("2.00 KiB"));
    QCOMPARE(formatQuantity(made(std::int64_t {-131072}, Unit::Token)), std::string("-131,072"));
    QCOMPARE(formatQuantity(made(12.3456, Unit::Ratio)), std::string("12.35"));
    QCOMPARE(formatQuantity(made(12.3456, Unit::Ratio), 1), std::string("12.3"));
    QCOMPARE(formatQuantity(floorDivide(constant(1), constant(0))), std::string("no value (division by zero)"));
    QCOMPARE(formatRate(3.21e9), std::string("3.21 GB/s"));
    QCOMPARE(formatRate(0), std::string("0.00 GB/s"));
}

/// A decimal comma and a point between thousands, in C's locale where the machine has such a one and in C++'s always.
void FormatTest::inAnotherLocale()
{
    struct Commas : std::numpunct<char>
    {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale(), new Commas));
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"}) {
        if (std::setlocale(LC_ALL, name) != nullptr)
            break;
    }
    const std::vector<std::string> texts {format(Bytes(6'990'059'274)), grouped(1'234'567), formatNumber(1234.5),
        formatNumber(std::int64_t {12345}), formatRate(3.21e9),
        formatQuantity(input("x", 12.345, Unit::Ratio, Source {}), 1)};
    const Result<Bytes> size = parseBytes("6.51GiB");
    const Result<double> real = parseReal("1234.5");
    const Result<double> comma = parseReal("1234,5");
    std::setlocale(LC_ALL, "C");
    std::locale::global(before);
    QCOMPARE(texts, std::vector<std::string>({"6.51 GiB", "1,234,567", "1234.5", "12345", "3.21 GB/s", "12.3"}));
    QVERIFY(size && size->value == 6'990'059'274);
    QVERIFY(real && *real == 1234.5);
    QVERIFY(!comma);
}

QTEST_APPLESS_MAIN(FormatTest)
#include "tst_format.moc"
