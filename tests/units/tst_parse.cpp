// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/format.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <random>

using namespace kvw;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
const std::string mostText = "9223372036854775807";

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

/// Decimal digits times a factor as on paper, without the last `dropped` digits of the product.
std::string timesOnPaper(const std::string& digits, std::uint64_t factor, std::size_t dropped)
{
    const std::string factorDigits = std::to_string(factor);
    std::vector<int> product(digits.size() + factorDigits.size(), 0); // the last digit first
    for (std::size_t i = 0; i < digits.size(); ++i) {
        for (std::size_t j = 0; j < factorDigits.size(); ++j)
            product[i + j] += (digits[digits.size() - 1 - i] - '0') * (factorDigits[factorDigits.size() - 1 - j] - '0');
    }
    for (std::size_t i = 0; i + 1 < product.size(); ++i) {
        product[i + 1] += product[i] / 10;
        product[i] %= 10;
    }
    std::string out;
    for (std::size_t i = product.size(); i-- > dropped;)
        out += static_cast<char>('0' + product[i]);
    out.erase(0, out.find_first_not_of('0'));
    return out.empty() ? "0" : out;
}

bool isBeyond63Bits(const std::string& digits)
{
    return digits.size() > mostText.size() || (digits.size() == mostText.size() && digits > mostText);
}

struct NamedFactor
{
    const char* name;
    std::uint64_t factor;
};

constexpr std::array<NamedFactor, 13> byteUnits {{{"", 1}, {"B", 1}, {"KiB", std::uint64_t {1} << 10},
    {"MiB", std::uint64_t {1} << 20}, {"GiB", std::uint64_t {1} << 30}, {"TiB", std::uint64_t {1} << 40},
    {"PiB", std::uint64_t {1} << 50}, {"EiB", std::uint64_t {1} << 60}, {"kB", 1'000}, {"MB", 1'000'000},
    {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}, {"EB", 1'000'000'000'000'000'000}}};

} // namespace

class ParseTest : public QObject
{
    Q_OBJECT
private slots:
    void parsedBytes_data();
    void parsedBytes();
    void parsedBytesAreExact();
    void refusedBytes_data();
    void refusedBytes();
    void parsedCounts_data();
    void parsedCounts();
    void parsedReals_data();
    void parsedReals();
    void percentsAreRoundedOnce();
};

void ParseTest::parsedBytes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("value");
    const auto row = [](const char* text, qint64 value) { QTest::newRow(text) << QString::fromUtf8(text) << value; };
    row("0", 0);
    row("4294967296", 4'294'967'296);
    row("4,294,967,296", 4'294'967'296);
    row("1_000_000", 1'000'000);
    row("6.51GiB", 6'990'059'274); // floor of 6,990,059,274.24
    row("512 MiB", 536'870'912);
    row("512mib", 536'870'912);
    row(" 512  MiB ", 536'870'912);
    row("80GB", 80'000'000'000);
    row("80GiB", 85'899'345'920);
    row("1Ki", 1024);
    row("1Mi", 1'048'576);
    row("1Gi", 1'073'741'824);
    row("1e9 B", 1'000'000'000);
    row("1E3", 1000);
    row("1.5e3 kB", 1'500'000);
    row("0.999KiB", 1022);
    row(".5 KiB", 512);
    row("3 bytes", 3);
    row("1 byte", 1);
    row("7.99EiB", 9'211'842'821'808'707'338);
    row("0e99", 0);
    row("9223372036854775807", most);
    // The product with 2^50 leaves 128 bits; it is 2^20 exactly, and one digit less is one byte less.
    row(".000000000931322574615478515625 PiB", 1'048'576);
    row(".000000000931322574615478515624 PiB", 1'048'575);
}

void ParseTest::parsedBytes()
{
    QFETCH(QString, text);
    QFETCH(qint64, value);
    const Result<Bytes> parsed = parseBytes(text.toStdString());
    QVERIFY2(parsed, parsed ? "" : parsed.error().text().c_str());
    QCOMPARE(qint64 {parsed->value}, value);
}

void ParseTest::parsedBytesAreExact()
{
    std::mt19937_64 random(2);
    int inRange = 0;
    for (int i = 0; i < 50'000; ++i) {
        std::string digits;
        for (std::size_t count = random() % 29 + 1; digits.size() < count;)
            digits += static_cast<char>('0' + random() % 10);
        const std::size_t fraction = std::min<std::size_t>(random() % 30, digits.size());
        const NamedFactor& unit = byteUnits[random() % byteUnits.size()];
        std::string text = digits;
        if (fraction > 0)
            text.insert(digits.size() - fraction, ".");
        text += (random() % 2 == 0 ? "" : " ") + std::string(unit.name);
        const std::string expected = timesOnPaper(digits, unit.factor, fraction);
        const Result<Bytes> parsed = parseBytes(text);
        const bool cutsByte
            = unit.factor == 1 && digits.find_first_not_of('0', digits.size() - fraction) != std::string::npos;
        if (cutsByte && !isBeyond63Bits(expected)) {
            QVERIFY2(!parsed && parsed.error().code != "number.range", text.c_str());
        } else if (isBeyond63Bits(expected)) {
            QVERIFY2(!parsed && parsed.error().code == "number.range", text.c_str());
        } else {
            QVERIFY2(parsed, text.c_str());
            QCOMPARE(q(text + " = " + std::to_string(parsed->value)), q(text + " = " + expected));
            ++inRange;
        }
    }
    QVERIFY(inRange > 10'000);
}

void ParseTest::refusedBytes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    for (const char* text : {"", " ", ".", "B", "GiB", "abc", "-5", "- 5", "+5", "1.2.3", "1,5GiB", "12,34", "1,2345",
             "1234,567", ",500", "1,", "1,000,", "1,,000", "1_", "_1", "1__0", "1_000,000", "1,000_000", "1.0_0",
             "1.000,5", "5 G i B", "5 Gi B", "5 GiB x", "5 5", "0x10", "1e", "1e-3GiB", "½", "inf", "nan", "80G", "80M",
             "80K", "5 GiB/s", "5\tGiB", "5GiB\n", "%", "7.9", "7.9 B", "1234567890123456789012345678901"})
        QTest::addRow("\"%s\"", text) << QString::fromUtf8(text) << QStringLiteral("number.syntax");
    for (const char* text : {"9223372036854775808", "8EiB", "9.3EB", "1e19", "1e99", "1e400", "1e99999999999",
             "123456789012345678901234567890", "9007199254740992 KiB"})
        QTest::addRow("\"%s\"", text) << QString::fromUtf8(text) << QStringLiteral("number.range");
}

void ParseTest::refusedBytes()
{
    QFETCH(QString, text);
    QFETCH(QString, code);
    const Result<Bytes> parsed = parseBytes(text.toStdString());
    QVERIFY2(!parsed, parsed ? std::to_string(parsed->value).c_str() : "");
    QCOMPARE(q(parsed.error().code), code);
    QCOMPARE(q(parsed.error().found), QStringLiteral("\"%1\"").arg(text));
    QVERIFY(!parsed.error().expected.empty());
}

void ParseTest::parsedCounts_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("result"); // a number or an error code
    const auto row = [](const char* text, const char* result) {
        QTest::addRow("\"%s\"", text) << QString::fromUtf8(text) << QString::fromUtf8(result);
    };
    row("131072", "131072");
    row("32k", "32768");
    row("32K", "32768");
    row("32 k", "32768");
    row("32Ki", "32768");
    row("1M", "1048576");
    row("1g", "1073741824");
    row("1.5k", "1536");
    row("0.25k", "256");
    row("2.0", "2");
    row("1e3", "1000");
    row("1.5e3", "1500");
    row("1_000_000", "1000000");
    row("131,072", "131072");
    row("8192 tokens", "8192");
    row("-5", "-5");
    row(" -5 ", "-5");
    row("-32k", "-32768");
    row("-0", "0");
    row("9223372036854775807", "9223372036854775807");
    row("-9223372036854775807", "-9223372036854775807");
    row("9223372036854775808", "number.range");
    row("-9223372036854775809", "number.range");
    row("9007199254740992k", "number.range");
    for (const char* text : {"", "-", "--5", "- 5", "+5", "k", "2.5", "1.0001k", "1,5", "1,5k", "32kB", "32 GiB", "0.1",
             "abc", "nan", "1e-3", "5%", "1 000"})
        row(text, "number.syntax");
}

void ParseTest::parsedCounts()
{
    QFETCH(QString, text);
    QFETCH(QString, result);
    const Result<std::int64_t> parsed = parseCount(text.toStdString());
    QCOMPARE(parsed ? QString::number(*parsed) : q(parsed.error().code), result);
    if (!parsed) {
        QCOMPARE(q(parsed.error().found), QStringLiteral("\"%1\"").arg(text));
        QVERIFY(!parsed.error().expected.empty());
    }
}

void ParseTest::parsedReals_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("good");
    QTest::addColumn<double>("value");
    const auto row = [](const char* text, double value) {
        QTest::addRow("\"%s\"", text) << QString::fromUtf8(text) << true << value;
    };
    row("0.92", 0.92);
    row("92%", 0.92);
    row("92 %", 0.92);
    row(" 0.5 ", 0.5);
    row("-0.5", -0.5);
    row("1e-3", 0.001);
    row("2E3", 2000.0);
    row(".5", 0.5);
    row("5", 5.0);
    row("100%", 1.0);
    row("0%", 0.0);
    row("1.7976931348623157e308", std::numeric_limits<double>::max());
    for (const char* text : {"", "%", " ", "nan", "NaN", "inf", "-inf", "Infinity", "nan%", "inf%", "0x1p3", "1,5",
             "1e400", "1.5.2", "1 000", "+5", "--5", "1%%", "0.5x", "e5", "5e", "1e2%"})
        QTest::addRow("\"%s\"", text) << QString::fromUtf8(text) << false << 0.0;
}

void ParseTest::parsedReals()
{
    QFETCH(QString, text);
    QFETCH(bool, good);
    QFETCH(double, value);
    const Result<double> parsed = parseReal(text.toStdString());
    QCOMPARE(parsed.ok(), good);
    if (good) {
        QCOMPARE(QByteArray::number(*parsed, 'g', 17), QByteArray::number(value, 'g', 17));
    } else {
        QCOMPARE(q(parsed.error().code), QStringLiteral("number.syntax"));
        QCOMPARE(q(parsed.error().found), QStringLiteral("\"%1\"").arg(text));
    }
}

/// "92.7%" is the double nearest to 0.927, not one that was rounded twice.
void ParseTest::percentsAreRoundedOnce()
{
    for (int i = 0; i <= 100'000; ++i) {
        const std::string thousandths = std::to_string(i);
        const std::string padded = std::string(thousandths.size() < 4 ? 4 - thousandths.size() : 0, '0') + thousandths;
        std::string percent = padded;
        percent.insert(percent.size() - 3, ".");
        const double expected = std::strtod((thousandths + "e-5").c_str(), nullptr);
        QVERIFY2(*parseReal(percent + "%") == expected, percent.c_str());
    }
}

QTEST_APPLESS_MAIN(ParseTest)
#include "tst_parse.moc"
