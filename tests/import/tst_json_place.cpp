// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"
#include "import/json_place.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <random>

using namespace kvw;

class TestJsonPlace : public QObject
{
    Q_OBJECT

private slots:
    void finds_data();
    void finds();
    void findsEveryValue();
    void agreesWithTheReader();
    void hostile();
};

void TestJsonPlace::finds_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("at");
    QTest::addColumn<QString>("found"); // what is selected; "": nothing
    const QString text = R"({"a": 1, "b": {"c": [10, {"d/e": "x, y"}, true], "~f": null}, "g": "\"h\""})";
    QTest::newRow("number") << text << "/a"
                            << "1";
    QTest::newRow("inside") << text << "/b/c/0"
                            << "10";
    QTest::newRow("slash") << text << "/b/c/1/d~1e"
                           << "\"x, y\"";
    QTest::newRow("literal") << text << "/b/c/2"
                             << "true";
    QTest::newRow("tilde") << text << "/b/~0f"
                           << "null";
    QTest::newRow("escapes") << text << "/g"
                             << R"("\"h\"")";
    QTest::newRow("object") << text << "/b/c"
                            << R"([10, {"d/e": "x, y"}, true])";
    QTest::newRow("not there") << text << "/b/z"
                               << "{"; // of the object that lacks it
    QTest::newRow("not there at all") << text << "/z"
                                      << "{";
    QTest::newRow("no such index") << text << "/b/c/7"
                                   << "[";
    QTest::newRow("root") << text << ""
                          << "";
    QTest::newRow("other") << text << "worksheet.groups"
                           << "";
    QTest::newRow("line") << "{\n \"a\": oops,\n}"
                          << "line 2, column 7"
                          << "oops";
    QTest::newRow("characters") << QStringLiteral("{\"ä€\": oops}") << "line 1, column 8"
                                << "oops}";
    QTest::newRow("end") << "{\"a\": "
                         << "line 1, column 7"
                         << "\"a\":";
    QTest::newRow("no line") << "{}"
                             << "line 9, column 1"
                             << "";
    QTest::newRow("broken behind") << R"({"a": 1, "b": )"
                                   << "/a"
                                   << "1";
    QTest::newRow("broken before") << R"({"a: 1, "b": 2})"
                                   << "/b"
                                   << "{";
}

void TestJsonPlace::finds()
{
    QFETCH(QString, text);
    QFETCH(QString, at);
    const std::string bytes = text.toStdString();
    const std::optional<TextPlace> place = jsonPlace(bytes, at.toStdString());
    QTEST(place ? QString::fromStdString(bytes.substr(place->offset, place->length)) : QString(), "found");
}

/// Every value of a random document is found where it stands, however it is written.
void TestJsonPlace::findsEveryValue()
{
    std::mt19937_64 random(5);
    const std::function<Json(int)> make = [&](int depth) -> Json {
        switch (random() % (depth > 3 ? 4 : 6)) {
        case 0:
            return static_cast<std::int64_t>(random()) / 7;
        case 1:
            return random() % 2 == 0 ? Json(true) : Json(nullptr);
        case 2:
            return std::string("a\"b\\c, {[") + std::to_string(random() % 100);
        case 3:
            return static_cast<double>(random() % 1000) / 8;
        case 4: {
            Json out = Json::array();
            for (std::uint64_t i = random() % 5; i > 0; --i)
                out.push_back(make(depth + 1));
            return out;
        }
        default: {
            Json out = Json::object();
            for (std::uint64_t i = random() % 5; i > 0; --i)
                out[std::string("k/~") + std::to_string(random() % 50)] = make(depth + 1);
            return out;
        }
        }
    };
    int checked = 0;
    for (int i = 0; i < 300; ++i) {
        const Json document = {{"root", make(0)}, {"after", 1}};
        const std::string text = document.dump(random() % 2 == 0 ? -1 : 3);
        const Json flat = document.flatten();
        for (const auto& [pointer, value] : flat.items()) {
            if (document.at(Json::json_pointer(pointer)).is_structured())
                continue; // an empty one
            const std::optional<TextPlace> place = jsonPlace(text, pointer);
            QVERIFY2(place, pointer.c_str());
            QCOMPARE(Json::parse(text.substr(place->offset, place->length), nullptr, false).dump(), value.dump());
            ++checked;
        }
    }
    QVERIFY(checked > 500);
}

/// The reader's own complaints lie at what it complains about.
void TestJsonPlace::agreesWithTheReader()
{
    for (const auto& [text, wrong] : std::initializer_list<std::pair<const char*, const char*>> {
             {"{\"a\": 1,\n \"b\": @}", "@}"}, {"{\"a\": 1,\n \"ä\": @}", "@}"}, {"{\"a\": tru }", "tru"}}) {
        const Result<JsonDocument> document = parseJson(text, "text");
        QVERIFY(!document.ok());
        const std::optional<TextPlace> place = jsonPlace(text, document.error().where.at);
        QVERIFY2(place, document.error().text().c_str());
        const std::string found = std::string(text).substr(place->offset, place->length);
        QVERIFY2(std::string(wrong).find(found) != std::string::npos || found.find(wrong) != std::string::npos,
            (document.error().text() + " | " + found).c_str());
    }
}

void TestJsonPlace::hostile()
{
    std::mt19937_64 random(9);
    const std::string deep(2'000'000, '[');
    QVERIFY(jsonPlace(deep, "/0/0/0").has_value());
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        static constexpr std::string_view signs = "{}[]\",:\\ \n1at/";
        for (std::uint64_t n = random() % 40; n > 0; --n)
            text += signs[random() % signs.size()];
        for (const char* at : {"/a", "/1/a", "/a/1", "line 1, column 3", "line 2, column 90", "/", "//"}) {
            if (const std::optional<TextPlace> place = jsonPlace(text, at))
                QVERIFY(place->length > 0 && place->offset + place->length <= text.size());
        }
    }
}

QTEST_APPLESS_MAIN(TestJsonPlace)
#include "tst_json_place.moc"
