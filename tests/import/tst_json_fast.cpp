// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The fast reading against the exact one: it may leave a text to the other, but never read another tree, nor accept
// what the other refuses.

#include "import/json_tree.h"

#include <QDirIterator>
#include <QFile>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

using namespace kvw;

namespace {

/// Equality of type and value, of doubles by their bits.
bool same(const Json& a, const Json& b)
{
    if (a.type() != b.type() || a.size() != b.size())
        return false;
    if (a.is_number_float())
        return std::bit_cast<std::uint64_t>(a.get<double>()) == std::bit_cast<std::uint64_t>(b.get<double>())
            || (std::isnan(a.get<double>()) && std::isnan(b.get<double>()));
    if (a.is_object()) {
        const auto& left = a.get_ref<const Json::object_t&>();
        const auto& right = b.get_ref<const Json::object_t&>();
        return std::equal(left.begin(), left.end(), right.begin(),
            [](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); });
    }
    if (a.is_array())
        return std::equal(a.begin(), a.end(), b.begin(), same);
    return a == b;
}

enum class Reading { Fast, LeftToExact, Refused, Differs };

/// Reads by both ways and by parseJson(), which must give what the exact reading gives.
Reading compare(std::string_view text, const JsonLimits& limits = {})
{
    const std::optional<Json> fast = parseTreeFast(text, limits);
    const Result<Json> exact = parseTreeExactly(text, limits);
    const Result<JsonDocument> whole = parseJson(text, "t.json", limits);
    if (exact.ok() != whole.ok() || (fast && !exact.ok()))
        return Reading::Differs;
    if (!exact.ok()) {
        const Error& a = exact.error();
        const Error& b = whole.error();
        const bool equal = a.code == b.code && a.message == b.message && a.where.at == b.where.at && a.found == b.found
            && a.expected == b.expected && b.where.file == "t.json";
        return equal ? Reading::Refused : Reading::Differs;
    }
    if (!same(exact.value(), *whole.value().root) || (fast && !same(*fast, exact.value())))
        return Reading::Differs;
    return fast ? Reading::Fast : Reading::LeftToExact;
}

/// Valid text, with everything that the format has.
class RandomText
{
public:
    explicit RandomText(std::uint32_t seed, bool nonFinite = true)
        : m_random(seed)
        , m_literals(nonFinite ? 6 : 3)
    {}

    int below(std::size_t end) { return static_cast<int>(m_random() % end); }

    std::string value(int depth = 0)
    {
        static const char* const literals[] = {"null", "true", "false", "NaN", "Infinity", "-Infinity"};
        const int kind = below(depth < 5 ? 10 : 6);
        if (kind < 1)
            return literals[below(m_literals)];
        if (kind < 3)
            return number();
        if (kind < 6)
            return string(below(12));
        std::string out = kind < 8 ? "[" : "{";
        const int size = below(6);
        for (int i = 0; i < size; ++i) {
            out += (i > 0 ? "," : "") + space();
            if (kind >= 8) {
                std::string key = string(below(4));
                key.insert(1, std::to_string((i * 5) % 7) + "-"); // each once, not in order
                out += key + space() + ":" + space();
            }
            out += value(depth + 1) + space();
        }
        return out + space() + (kind < 8 ? "]" : "}");
    }

    std::string space()
    {
        static const char* const spaces[] = {"", "", "", "", " ", "\n", "\r\n", "\t", "  \n "};
        return spaces[below(std::size(spaces))];
    }

    std::string number()
    {
        std::string out = below(3) == 0 ? "-" : "";
        out += below(4) == 0 ? "0" : std::to_string(1 + below(9)) + digits(below(22));
        if (below(3) == 0)
            out += "." + digits(1 + below(20));
        if (below(3) == 0)
            out += (below(2) ? "e" : "E") + std::string(below(2) ? "" : below(2) ? "+" : "-") + digits(1 + below(2));
        return out;
    }

    std::string string(int pieces)
    {
        static const char* const all[] = {"a", "plain text", "layer", "/", "~", "NaN", "{", "]", ",", ":", " ", "\\\"",
            "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0000", "\\u001f", "\\u00e4", "\\u20AC", "\\uffff",
            "\\ud83d\\ude00", "\\uDBFF\\uDFFF", "\x7f", "\xc2\x80", "\xc3\xa4", "\xe0\xa0\x80", "\xed\x9f\xbf",
            "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
        std::string out = "\"";
        for (int i = 0; i < pieces; ++i)
            out += all[below(std::size(all))];
        return out + "\"";
    }

    /// One to three small faults.
    void mutate(std::string& text)
    {
        static const std::string bytes
            = "{}[],:\"\\ \n-+.eE0123nNaItfu/\x01\x1f\x7f\x80\xbf\xc3\xed\xf4\xff" + std::string(1, '\0');
        for (int i = 1 + below(3); i > 0 && !text.empty(); --i) {
            const auto at = static_cast<std::size_t>(below(text.size()));
            const char byte = bytes[static_cast<std::size_t>(below(bytes.size()))];
            switch (below(6)) {
            case 0:
                text[at] = byte;
                break;
            case 1:
                text.insert(at, 1, byte);
                break;
            case 2:
                text.erase(at, 1 + static_cast<std::size_t>(below(3)));
                break;
            case 3:
                text.resize(at);
                break;
            case 4:
                text.insert(at, text.substr(static_cast<std::size_t>(below(text.size())), 8));
                break;
            default:
                std::swap(text[at], text[static_cast<std::size_t>(below(text.size()))]);
            }
        }
    }

private:
    std::string digits(int count)
    {
        std::string out;
        for (int i = 0; i < count; ++i)
            out += static_cast<char>('0' + below(10));
        return out;
    }

    std::mt19937 m_random;
    std::size_t m_literals;
};

QByteArray shown(const std::string& text)
{
    return QByteArray::fromStdString(text).toPercentEncoding(" {}[]:,\"\\");
}

} // namespace

class JsonFastTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void valid();
    void mutated();
    void limits();
    void numbers_data();
    void numbers();
    void bytesInStrings();
    void characters();
    void escapes();
    void keyOrders();
    void leftToExact();
    void longStrings();
    void deep();
    void files();
};

/// JSON without a fault is never left to the exact reading; with numbers that are not finite it is still read.
void JsonFastTest::valid()
{
    RandomText random(1, false);
    RandomText extended(5, true);
    int left = 0;
    for (int i = 0; i < 4'000; ++i) {
        std::string text = random.space() + random.value() + random.space();
        QVERIFY2(compare(text) == Reading::Fast, shown(text));
        text = extended.space() + extended.value() + extended.space();
        const Reading reading = compare(text);
        QVERIFY2(reading == Reading::Fast || reading == Reading::LeftToExact, shown(text));
        left += reading == Reading::LeftToExact ? 1 : 0;
    }
    QVERIFY(left > 400); // both kinds were tried
}

void JsonFastTest::mutated()
{
    RandomText random(2);
    int refused = 0;
    int read = 0;
    for (int i = 0; i < 12'000; ++i) {
        std::string text = random.value();
        random.mutate(text);
        const Reading reading = compare(text);
        QVERIFY2(reading != Reading::Differs, shown(text));
        refused += reading == Reading::Refused ? 1 : 0;
        read += reading == Reading::Fast ? 1 : 0;
    }
    QVERIFY2(refused > 3'000 && read > 1'000, std::to_string(refused).c_str()); // both kinds were tried
}

void JsonFastTest::limits()
{
    RandomText random(3, false);
    int refused = 0;
    for (int i = 0; i < 3'000; ++i) {
        const std::string text = random.value();
        const JsonLimits limits {
            text.size(), static_cast<std::size_t>(random.below(5)), static_cast<std::size_t>(random.below(20))};
        const Reading reading = compare(text, limits);
        QVERIFY2(reading == Reading::Fast || reading == Reading::Refused, shown(text));
        refused += reading == Reading::Refused ? 1 : 0;
    }
    QVERIFY(refused > 300 && refused < 2'700);
}

void JsonFastTest::numbers_data()
{
    QTest::addColumn<bool>("accepted");
    for (const char* text : {"0", "-0", "0.0", "-0.0", "7", "-7", "9223372036854775807", "9223372036854775808",
             "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e5",
             "1E+5", "1e-5", "0e0", "-0e-0", "0.1", "1.7976931348623157e308", "2.2250738585072014e-308",
             "2.2250738585072011e-308", "4.9e-324", "1e-400", "-1e-400", "9007199254740993", "9007199254740993.0",
             "0.1000000000000000055511151231257827021181583404541015625", "NaN", "Infinity", "-Infinity"})
        QTest::newRow(text) << true;
    for (const char* text : {"", "-", "+1", "--1", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "1e-", "1e5.5", "0x10",
             "1_000", "1e309", "-1e309", "-NaN", "+Infinity", "NaN1", "Infinit", "-Infinit", "nan", "Inf", "-inf",
             "Infinity1", "- 1", "1 2", "tru", "True", "nul", "nulll", "truefalse"})
        QTest::newRow(text) << false;
}

void JsonFastTest::numbers()
{
    QFETCH(bool, accepted);
    const std::string number = QTest::currentDataTag();
    for (const std::string& text : {number, "[" + number + "]", "[1," + number + " ]", "{\"a\":" + number + "}",
             "{\"a\":[{\"b\":" + number + ",\"c\":1}]}"}) {
        const Reading reading = compare(text);
        QVERIFY(reading != Reading::Differs);
        if (text != "[]") // an empty array is one
            QCOMPARE(reading != Reading::Refused, accepted);
    }
    QVERIFY(compare("{" + number + ":1}") == Reading::Refused);
}

/// Every byte at every place of a string: in words of eight bytes and in the rest.
void JsonFastTest::bytesInStrings()
{
    for (int byte = 0; byte < 256; ++byte) {
        for (std::size_t at = 0; at < 19; ++at) {
            std::string content = "!a#Z[]^~ \x7f{}09,:/.-";
            content[at] = static_cast<char>(byte);
            for (const std::string& text : {"\"" + content + "\"", "{\"" + content + "\":0}"}) {
                const Reading reading = compare(text);
                const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
                QVERIFY2(
                    reading == (plain ? Reading::Fast : Reading::Refused) || (byte == '\\' && reading == Reading::Fast),
                    shown(text));
            }
        }
    }
}

/// All pairs of bytes, and triples and quadruples around the borders of well-formed UTF-8.
void JsonFastTest::characters()
{
    const auto check = [](const std::string& bytes) {
        const Reading reading = compare("\"" + bytes + "\"");
        return reading == Reading::Fast || reading == Reading::Refused;
    };
    const std::string border("\x20\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4"
                             "\xf5\xff");
    const std::string tails("\x7f\x80\xbf\xc0");
    for (int first = 0x80; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            const std::string pair {static_cast<char>(first), static_cast<char>(second)};
            QVERIFY2(check(pair), shown(pair));
        }
    }
    for (const char a : border) {
        for (const char b : border) {
            for (const char c : tails) {
                QVERIFY2(check({a, b, c}), shown({a, b, c}));
                for (const char d : tails)
                    QVERIFY2(check({a, b, c, d}), shown({a, b, c, d}));
            }
        }
    }
}

void JsonFastTest::escapes()
{
    const auto check = [](const std::string& content) {
        const Reading reading = compare("[\"" + content + "\",1]");
        return reading == Reading::Fast || reading == Reading::Refused;
    };
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text {'\\', static_cast<char>(byte)};
        QVERIFY2(check(text), shown(text));
    }
    const auto unit = [](int code) { return "\\u" + QByteArray::number(0x10000 + code, 16).mid(1).toStdString(); };
    for (int code = 0; code < 0x10000; code += 5)
        QVERIFY2(check(unit(code)), unit(code).c_str());
    const int border[] = {0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xd801, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff};
    for (const int first : border) {
        for (const int second : border)
            QVERIFY2(check(unit(first) + unit(second)), (unit(first) + unit(second)).c_str());
        for (const char* rest : {"", "\\", "\\u", "\\ud", "\\udc0", "\\udc0g", "\\n", "x",
                 "\\U"
                 "dc00"})
            QVERIFY2(check(unit(first) + rest), (unit(first) + rest).c_str());
    }
    for (const char* text : {"\\u", "\\u1", "\\u12", "\\u123", "\\u-123", "\\u+123", "\\u 123", "\\u0x12", "\\u12G4",
             "\\uABCD", "\\uabcd", "\\u"})
        QVERIFY2(check(text), text);
}

/// Keys in any order become the same object, and one that is there twice is found wherever it stands.
void JsonFastTest::keyOrders()
{
    std::mt19937 random(4);
    for (int round = 0; round < 60; ++round) {
        std::vector<int> keys(1 + random() % 60);
        std::iota(keys.begin(), keys.end(), 95);
        if (round % 3 == 1)
            std::reverse(keys.begin(), keys.end());
        if (round % 3 == 2)
            std::shuffle(keys.begin(), keys.end(), random);
        const bool twice = round % 2 == 1;
        if (twice)
            keys.insert(
                keys.begin() + static_cast<std::ptrdiff_t>(random() % (keys.size() + 1)), keys[random() % keys.size()]);
        std::string text = "{";
        for (std::size_t i = 0; i < keys.size(); ++i)
            text += (i > 0 ? ",\"" : "\"") + std::to_string(keys[i]) + "\":" + std::to_string(i);
        text += "}";
        QVERIFY2(compare(text) == (twice ? Reading::Refused : Reading::Fast), shown(text));
        if (twice)
            QCOMPARE(parseJson(text, "t.json").error().code, std::string("json.duplicate_key"));
    }
}

/// What the fast reading does not know is still read.
void JsonFastTest::leftToExact()
{
    QVERIFY(compare("\xef\xbb\xbf{\"a\": 1}") == Reading::LeftToExact);
    QVERIFY(compare("\xef\xbb{\"a\": 1}") == Reading::Refused);
    QVERIFY(compare("[1e-99999999999]") == Reading::LeftToExact);
    QVERIFY(compare("[NaN, -Infinity]") == Reading::LeftToExact);
}

/// Strings and numbers of many lengths, plain and with escapes: the parser hands them over in parts.
void JsonFastTest::longStrings()
{
    RandomText random(6, false);
    for (int length = 0; length < 1'400; length += 7) {
        const std::string content(static_cast<std::size_t>(length), 'x');
        std::string digits = "0." + std::string(static_cast<std::size_t>(length), '3') + "1";
        for (const std::string& text :
            {"[\"" + content + "\\n" + content + "\"]", "{\"" + content + "\\u20ac\":\"" + content + "\"}",
                "[" + random.string(length) + "]", "[" + digits + "]", digits, "{\"a\":-" + digits + "e-3}"})
            QVERIFY2(compare(text) == Reading::Fast, shown(text));
    }
    for (int length = 1; length < 400; ++length) { // more digits than any whole number has
        const std::string text(static_cast<std::size_t>(length), '9');
        const bool finite = length <= 308;
        QVERIFY2(compare(text) == (finite ? Reading::Fast : Reading::Refused), shown(text));
        QVERIFY2(compare("[-" + text + "]") == (finite ? Reading::Fast : Reading::Refused), shown(text));
    }
}

/// Depth costs neither reader its stack, whatever the cap says.
void JsonFastTest::deep()
{
    for (const std::size_t depth : {1U, 2U, 63U, 64U, 65U, 999U, 1'000U, 1'001U, 200'000U}) {
        const std::string arrays = std::string(depth, '[') + std::string(depth, ']');
        std::string objects;
        for (std::size_t i = 0; i < depth; ++i)
            objects += "{\"a\":";
        objects += "1" + std::string(depth, '}');
        for (const std::string& text : {arrays, objects}) {
            QVERIFY(compare(text) == (depth <= 64 ? Reading::Fast : Reading::Refused));
            const JsonLimits wide {.depth = 2'000};
            QVERIFY(compare(text, wide)
                == (depth <= 1'000       ? Reading::Fast
                        : depth <= 2'000 ? Reading::LeftToExact
                                         : Reading::Refused));
        }
    }
}

/// Every JSON file beside the sources and in the reference data.
void JsonFastTest::files()
{
    const QString source = qEnvironmentVariable("KVW_SOURCE_DIR");
    const QString shared = qEnvironmentVariable("KVW_SHARED_DIR");
    int read = 0;
    for (const QString& folder : {source + "/resources", source + "/tests/data", shared + "/data"}) {
        QDirIterator paths(folder, {"*.json"}, QDir::Files, QDirIterator::Subdirectories);
        while (paths.hasNext()) {
            QFile file(paths.next());
            QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
            const Reading reading = compare(file.readAll().toStdString());
            QVERIFY2(reading == Reading::Fast || reading == Reading::LeftToExact, qPrintable(file.fileName()));
            ++read;
        }
    }
    QVERIFY(read >= 2);
}

QTEST_APPLESS_MAIN(JsonFastTest)
#include "tst_json_fast.moc"
