// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"

#include <QCryptographicHash>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace kvw;

namespace {

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

JsonLimits limitsOf(std::size_t bytes, std::size_t depth, std::size_t values)
{
    return {bytes, depth, values};
}

/// Equality where NaN equals NaN and nothing else.
bool same(const Json& a, const Json& b)
{
    if (a.type() != b.type())
        return false;
    if (a.is_number_float())
        return a == b || (std::isnan(a.get<double>()) && std::isnan(b.get<double>()));
    if (!a.is_structured())
        return a == b;
    if (a.size() != b.size())
        return false;
    if (a.is_object()) {
        for (const auto& member : a.items()) {
            if (!b.contains(member.key()) || !same(member.value(), b[member.key()]))
                return false;
        }
        return true;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!same(a[i], b[i]))
            return false;
    }
    return true;
}

/// A tree together with its text, where numbers that are not finite are written bare.
class RandomJson
{
public:
    explicit RandomJson(std::uint32_t seed)
        : m_random(seed)
    {}

    Json make(std::string& text, int depth = 0)
    {
        switch (below(depth < 4 ? 9 : 6)) {
        case 0:
            text += "NaN";
            return std::numeric_limits<double>::quiet_NaN();
        case 1:
            text += "Infinity";
            return std::numeric_limits<double>::infinity();
        case 2:
            text += "-Infinity";
            return -std::numeric_limits<double>::infinity();
        case 3:
        case 4: {
            const std::string value = word();
            text += Json(value).dump();
            return value;
        }
        case 5: {
            const int value = below(1000) - 500;
            text += std::to_string(value);
            return Json::parse(std::to_string(value));
        }
        case 6:
        case 7:
            return array(text, depth);
        default:
            return object(text, depth);
        }
    }

private:
    int below(int end) { return static_cast<int>(m_random() % static_cast<unsigned>(end)); }

    std::string word()
    {
        static const char* const pieces[] = {"n", "s", "NaN", "nNaN", "sNaN", "Infinity", "n-Infinity", "\"", "\\",
            "\\\"", "/", "{", "}", "[", "]", ",", ":", " ", "\n", "\xc3\xa4", "x"};
        std::string out;
        for (int i = below(5); i > 0; --i)
            out += pieces[below(std::size(pieces))];
        return out;
    }

    Json array(std::string& text, int depth)
    {
        Json out = Json::array();
        text += "[";
        for (int i = below(5); i > 0; --i) {
            if (!out.empty())
                text += " , ";
            out.push_back(make(text, depth + 1));
        }
        text += "]";
        return out;
    }

    Json object(std::string& text, int depth)
    {
        Json out = Json::object();
        text += "{";
        for (int i = below(5); i > 0; --i) {
            const std::string key = word() + std::to_string(i); // each once
            if (!out.empty())
                text += ",";
            text += Json(key).dump() + ": ";
            out[key] = make(text, depth + 1);
        }
        text += "}";
        return out;
    }

    std::mt19937 m_random;
};

} // namespace

Q_DECLARE_METATYPE(kvw::JsonLimits)

class JsonTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void accepted_data();
    void accepted();
    void refused_data();
    void refused();
    void excerpts();
    void nonFinite();
    void nonFiniteIsExact();

private:
    static void grammarRows();
    static void tokenRows();
    static void capRows();
    static void row(
        const char* name, const QByteArray& text, const char* code, const char* at, const JsonLimits& limits = {});
    static void syntax(const char* name, const QByteArray& text, const char* at);
};

void JsonTest::accepted_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<kvw::JsonLimits>("limits");

    const auto row
        = [](const char* name, QByteArray text, JsonLimits limits = {}) { QTest::newRow(name) << text << limits; };
    row("number", "1");
    row("string", "\"a\"");
    row("white space", " \t\r\n[ 1 , 2 ] \n");
    row("byte order mark", "\xef\xbb\xbf{}");
    row("same key in two objects", R"({"a":{"a":1},"b":{"a":1}})");
    row("keys that differ in case", R"({"a":1,"A":1})");
    row("escapes", R"(["\u00e4\n\"\\\/\ud83d\ude00"])");
    row("at the depth", "[[[1]]]", limitsOf(100, 3, 100));
    row("scalar at depth 0", "1", limitsOf(100, 0, 100));
    row("at the number of values", "[1,2]", limitsOf(100, 64, 3));
    row("keys are no values", R"({"a":1,"b":2})", limitsOf(100, 64, 3));
    row("at the size", "[1,2]", limitsOf(5, 64, 100));
    row("deep and back", "[[],[],[[],[]]]", limitsOf(100, 3, 100));
}

void JsonTest::accepted()
{
    QFETCH(QByteArray, text);
    QFETCH(kvw::JsonLimits, limits);
    const auto document = parseJson(text.toStdString(), "t.json", limits);
    QVERIFY2(document.ok(), document.ok() ? "" : document.error().text().c_str());
    QCOMPARE(document->file, std::string("t.json"));
    QCOMPARE(
        q(document->sha256), QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex()));
    QVERIFY(*document->root == Json::parse(text.toStdString()));
}

void JsonTest::refused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("at");
    QTest::addColumn<kvw::JsonLimits>("limits");
    grammarRows();
    tokenRows();
    capRows();
}

void JsonTest::row(const char* name, const QByteArray& text, const char* code, const char* at, const JsonLimits& limits)
{
    QTest::newRow(name) << text << QString::fromLatin1(code) << QString::fromLatin1(at) << limits;
}

void JsonTest::syntax(const char* name, const QByteArray& text, const char* at)
{
    row(name, text, "json.syntax", at, {});
}

void JsonTest::grammarRows()
{
    syntax("empty", "", "line 1, column 1");
    syntax("blank", "  \n ", "line 2, column 2");
    syntax("open object", "{", "line 1, column 2");
    syntax("comma at the end", "[1,]", "line 1, column 4");
    syntax("comma at the end of an object", "{\"a\":1,}", "line 1, column 8");
    syntax("key without quotes", "{a:1}", "line 1, column 2");
    syntax("single quotes", "'a'", "line 1, column 1");
    syntax("no comma", "[1 2]", "line 1, column 4");
    syntax("half a literal", "{\n  \"a\": tru\n}", "line 2, column 11");
    syntax("characters count, not bytes", "[\"\xc3\xa4\", x]", "line 1, column 7");
    syntax("leading zero", "[01]", "line 1, column 3");
    syntax("plus", "[+1]", "line 1, column 2");
    syntax("open string", "\"abc", "line 1, column 5");
    syntax("unknown escape", "\"\\x\"", "line 1, column 3");
    syntax("lone surrogate", "\"\\ud800\"", "line 1, column 8");
    syntax("line end in a string", "\"a\nb\"", "line 1, column 3");
    syntax("trailing word", "{} x", "line 1, column 4");
    syntax("two values", "1\n2", "line 2, column 1");
    syntax("closed twice", "[]]", "line 1, column 3");
    syntax("comment", "[1] // one", "line 1, column 5");
    syntax("NUL after the value", QByteArray("{}\0", 3), "line 1, column 3");
    syntax("NUL and more after the value", QByteArray("{}\0{}", 5), "line 1, column 3");
    syntax("NUL in a string", QByteArray("\"a\0b\"", 5), "line 1, column 3");
    syntax("only NUL", QByteArray("\0", 1), "line 1, column 1");
}

void JsonTest::tokenRows()
{
    syntax("UTF-8: wrong continuation", "\"\xc3(\"", "line 1, column 3");
    syntax("UTF-8: overlong", "\"\xc0\xaf\"", "line 1, column 2");
    syntax("UTF-8: surrogate", "\"\xed\xa0\x80\"", "line 1, column 2");
    syntax("UTF-8: cut short", "\"\xf0\x9f\"", "line 1, column 3");
    syntax("wrong byte outside strings", "[\xff]", "line 1, column 2");
    syntax("half a byte order mark", "\xef\xbb{}", "line 1, column 2");
    syntax("too large for a double", "[1e999]", "line 1, column 6");
    syntax("nan", "[nan]", "line 1, column 3");
    syntax("-NaN", "[-NaN]", "line 1, column 3");
    syntax("+Infinity", "[+Infinity]", "line 1, column 2");
    syntax("NaN with a tail", "[NaNs]", "line 1, column 5");
    syntax("NaN with a digit", "[NaN5]", "line 1, column 5");
    syntax("number before NaN", "[1NaN]", "line 1, column 3");
    syntax("string before NaN", "[\"a\"NaN]", "line 1, column 5");
    syntax("string after a number", "[1\"a\"]", "line 1, column 5"); // the end of what is too much
    syntax("string after NaN", "[NaN\"a\"]", "line 1, column 7");
    syntax("two NaN", "[NaN NaN]", "line 1, column 6");
    syntax("half Infinity", "[Infinit]", "line 1, column 2");
    syntax("NaN as a key", "{NaN:1}", "line 1, column 2");
    syntax("after NaN", "[NaN, -Infinity,\n \"NaN\", x]", "line 2, column 9");
}

void JsonTest::capRows()
{
    row("key twice", R"({"a":1,"a":1})", "json.duplicate_key", "/a");
    row("key twice, below", R"({"a":[0,{"b":{"c":1,"d":2,"c":3}}]})", "json.duplicate_key", "/a/1/b/c");
    row("key twice, escaped", R"({"a":1,"\u0061":2})", "json.duplicate_key", "/a");
    row("key twice, pointer escapes", R"([{"a/b~c":1,"a/b~c":2}])", "json.duplicate_key", "/0/a~1b~0c");
    row("key twice, empty", R"({"x":{"":1,"":2}})", "json.duplicate_key", "/x/");
    row("key twice, after NaN", R"({"s":NaN,"b":1,"b":2})", "json.duplicate_key", "/b");
    row("too deep", "[[[[1]]]]", "json.depth", "/0/0/0", limitsOf(100, 3, 100));
    row("too deep, mixed", R"({"a":[0,{"b":[]}]})", "json.depth", "/a/1/b", limitsOf(100, 3, 100));
    row("too deep at the root", " []", "json.depth", "line 1, column 2", limitsOf(100, 0, 100));
    row("too many values", "[1,2,3]", "json.values", "/2", limitsOf(100, 64, 3));
    row("too many values, below", R"({"a":1,"b":{"c":[true]}})", "json.values", "/b/c/0", limitsOf(100, 64, 4));
    row("too large", "[1,2]", "json.size", "", limitsOf(4, 64, 100));
}

void JsonTest::refused()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, code);
    QFETCH(QString, at);
    QFETCH(kvw::JsonLimits, limits);
    const auto document = parseJson(text.toStdString(), "t.json", limits);
    QVERIFY(!document.ok());
    QCOMPARE(q(document.error().code), code);
    QCOMPARE(q(document.error().where.at), at);
    QCOMPARE(document.error().where.file, std::string("t.json"));
    QVERIFY(!document.error().message.empty());
    // A pointer says which value, not where in the text: the message says that too.
    if (code == u"json.syntax")
        QVERIFY(!document.error().found.empty());
    if (at.startsWith(u'/'))
        QVERIFY2(q(document.error().message).contains(QStringLiteral("(line ")), document.error().message.c_str());
}

void JsonTest::excerpts()
{
    const auto sentence = [](std::string_view text) { return q(parseJson(text, "t.json").error().text()); };
    QCOMPARE(sentence("{\n  \"a\": tru\n}"),
        QStringLiteral("t.json: line 2, column 11: not valid JSON: invalid literal; found \"  \"a\": tru\""));
    QCOMPARE(sentence("[1, 2"),
        QStringLiteral("t.json: line 1, column 6: not valid JSON: unexpected end of input; found the end of the text, "
                       "expected ']'"));
    QCOMPARE(sentence("{\"a\" 1}"),
        QStringLiteral("t.json: line 1, column 6: not valid JSON: unexpected number literal; found \"{\"a\" 1}\", "
                       "expected ':'"));
    // However long a token is, the sentence stays short.
    QVERIFY(sentence("[\"" + std::string(100'000, 'x')).size() < 200);
    QVERIFY(sentence("[1" + std::string(100'000, '0') + "]").size() < 200);
}

void JsonTest::nonFinite()
{
    const std::string text = R"({"a": NaN, "b": "NaN", "c": "nNaN", "d": "sNaN", "e": 1, "f": Infinity, "g": -Infinity,
        "h": [NaN, "n", "", "\"NaN\"", "\\", "\\\" NaN"], "n": 2, "NaN": 3, "nNaN": 4})";
    const auto document = parseJson(text, "t.json");
    QVERIFY2(document.ok(), document.ok() ? "" : document.error().text().c_str());
    const Json& root = *document->root;
    QVERIFY(root["a"].is_number_float() && std::isnan(root["a"].get<double>()));
    QCOMPARE(root["f"].get<double>(), std::numeric_limits<double>::infinity());
    QCOMPARE(root["g"].get<double>(), -std::numeric_limits<double>::infinity());
    QVERIFY(root["b"] == Json("NaN"));
    QVERIFY(root["c"] == Json("nNaN"));
    QVERIFY(root["d"] == Json("sNaN"));
    QVERIFY(std::isnan(root["h"][0].get<double>()));
    QVERIFY(root["h"][1] == Json("n"));
    QVERIFY(root["h"][2] == Json(""));
    QVERIFY(root["h"][3] == Json("\"NaN\""));
    QVERIFY(root["h"][4] == Json("\\"));
    QVERIFY(root["h"][5] == Json("\\\" NaN"));
    QVERIFY(root["n"] == Json(2));
    QVERIFY(root["NaN"] == Json(3));
    QVERIFY(root["nNaN"] == Json(4));

    // A file with NaN in a field that nobody reads is fine; a field that is read is refused at its place.
    const JsonView view(*document);
    QCOMPARE(*view.find("e")->integer(), std::int64_t {1});
    const auto integer = view.find("a")->integer();
    QVERIFY(!integer.ok());
    QCOMPARE(integer.error().code, std::string("json.type"));
    QCOMPARE(integer.error().where.at, std::string("/a"));
    QCOMPARE(integer.error().found, std::string("NaN"));
    QVERIFY(!view.find("f")->integer().ok());
    QVERIFY(!view.find("g")->real().ok());
    QCOMPARE(view.find("g")->real().error().found, std::string("-Infinity"));
}

void JsonTest::nonFiniteIsExact()
{
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
        RandomJson random(seed);
        std::string text;
        const Json tree = random.make(text);
        const auto document = parseJson(text, "t.json");
        QVERIFY2(document.ok(), (text + "\n" + (document.ok() ? "" : document.error().text())).c_str());
        QVERIFY2(same(*document->root, tree), text.c_str());
    }
}

QTEST_APPLESS_MAIN(JsonTest)
#include "tst_json.moc"
