// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace kvw;

namespace {

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

} // namespace

class JsonViewTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void integers_data();
    void integers();
    void typedAccess();
    void pointers();
    void prints();
};

void JsonViewTest::integers_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("result"); // the number, or the code of the error

    const auto row = [](const char* text, const char* result) {
        QTest::newRow(text) << QByteArray(text) << QString::fromLatin1(result);
    };
    row("0", "0");
    row("-0", "0");
    row("1e3", "1000");
    row("32.0", "32");
    row("-7", "-7");
    row("9223372036854775807", "9223372036854775807");
    row("-9223372036854775808", "-9223372036854775808");
    row("9223372036854775808", "json.range");
    row("18446744073709551615", "json.range");
    row("18446744073709551616", "json.range");
    row("-9223372036854775809", "-9223372036854775808"); // nlohmann reads it as the nearest double, which is -2^63
    row("9223372036854775808.0", "json.range");
    row("-9223372036854775808.0", "-9223372036854775808");
    row("1e300", "json.range");
    row("-1e300", "json.range");
    row("1.5", "json.type");
    row("1e-300", "json.type");
    row("true", "json.type");
    row("false", "json.type");
    row("null", "json.type");
    row("\"12\"", "json.type");
    row("[]", "json.type");
    row("{}", "json.type");
    row("NaN", "json.type");
    row("Infinity", "json.type");
}

void JsonViewTest::integers()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, result);
    const auto document = parseJson(text.toStdString(), "t.json");
    QVERIFY(document.ok());
    const auto value = JsonView(*document).integer();
    QCOMPARE(value.ok() ? QString::number(*value) : q(value.error().code), result);
}

void JsonViewTest::typedAccess()
{
    const auto document
        = parseJson(R"({"n":5,"r":0.5,"s":"x","b":false,"z":null,"a":[10,20],"big":18446744073709551615})", "t.json");
    QVERIFY(document.ok());
    const JsonView view(*document);
    QVERIFY(view.isObject());
    QCOMPARE(view.size(), std::size_t {7});
    QCOMPARE(view.keys(), (std::vector<std::string> {"a", "b", "big", "n", "r", "s", "z"}));
    QCOMPARE(*view.find("r")->real(), 0.5);
    QCOMPARE(*view.find("n")->real(), 5.0);
    QCOMPARE(*view.find("big")->real(), 18446744073709551615.0);
    QCOMPARE(*view.find("s")->string(), std::string("x"));
    QCOMPARE(*view.find("b")->boolean(), false);
    QCOMPARE(*view.find("a")->at(1).integer(), std::int64_t {20});
    QVERIFY(view.find("z")->isNull());
    QVERIFY(!view.findValue("z"));
    QVERIFY(!view.find("none"));
    QVERIFY(!view.find("a")->find("0")); // an array has no members
    QVERIFY(view.find("n")->keys().empty());
    QCOMPARE(view.find("s")->size(), std::size_t {0});

    QVERIFY(view.find("n")->integer(5, 5).ok());
    const auto below = view.find("n")->integer(6, 10);
    QCOMPARE(below.error().code, std::string("json.range"));
    QCOMPARE(below.error().expected, std::string("a whole number from 6 to 10"));
    QVERIFY(!view.find("n")->integer(1, 4).ok());
    for (const char* key : {"s", "b", "z", "a"})
        QCOMPARE(view.find(key)->real().error().code, std::string("json.type"));
    for (const char* key : {"n", "b", "z", "a"})
        QCOMPARE(view.find(key)->string().error().code, std::string("json.type"));
    for (const char* key : {"n", "s", "z", "a"})
        QCOMPARE(view.find(key)->boolean().error().code, std::string("json.type"));
}

void JsonViewTest::pointers()
{
    const auto document = parseJson(R"({"text_config":{"layer_types":["a",{"x/y":1,"~":2,"":3}]}})", "c.json");
    QVERIFY(document.ok());
    const JsonView root(*document);
    QCOMPARE(root.pointer(), std::string());
    const JsonView types = *root.find("text_config")->find("layer_types");
    QCOMPARE(types.at(0).pointer(), std::string("/text_config/layer_types/0"));
    QCOMPARE(types.at(1).find("x/y")->pointer(), std::string("/text_config/layer_types/1/x~1y"));
    // The standard's own resolver finds the same values by these pointers.
    for (const std::string& key : types.at(1).keys()) {
        const JsonView member = *types.at(1).find(key);
        QVERIFY(document->root->at(Json::json_pointer(member.pointer())) == member.json());
        QCOMPARE(member.file(), std::string("c.json"));
    }
}

void JsonViewTest::prints()
{
    std::string longText = "\"";
    for (int i = 0; i < 100; ++i)
        longText += "\xc3\xa4";
    longText += "\"";
    const auto document
        = parseJson(R"({"o":{"a":1},"a":[1,2],"n":-5,"t":true,"s":"x\"y","l":)" + longText + "}", "t.json");
    QVERIFY(document.ok());
    const JsonView view(*document);
    const auto found = [&](const char* key) { return q(view.find(key)->error("c", "m").found); };
    QCOMPARE(found("o"), QStringLiteral("an object with 1 members"));
    QCOMPARE(found("a"), QStringLiteral("an array of 2 elements"));
    QCOMPARE(found("n"), QStringLiteral("-5"));
    QCOMPARE(found("t"), QStringLiteral("true"));
    QCOMPARE(found("s"), QStringLiteral("\"x\\\"y\""));
    QVERIFY(found("l").size() < 70);
    QVERIFY(found("l").contains(u'…') && !found("l").contains(QChar::ReplacementCharacter));
    QCOMPARE(q(view.find("n")->error("c", "m", "e").text()), QStringLiteral("t.json: /n: m; found -5, expected e"));
}

QTEST_APPLESS_MAIN(JsonViewTest)
#include "tst_json_view.moc"
