// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_plan.h"

#include "plan/plan_json.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace kvw;
using namespace kvw::test;

namespace {

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

Result<Plan> parsed(const std::string& text)
{
    const Result<JsonDocument> document = parseJson(text, "test.kvplan");
    return document ? planFromJson(*document) : Result<Plan>(document.error());
}

std::string referenceText()
{
    std::ifstream file(examplePath("reference.kvplan"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

nlohmann::json list(int size)
{
    nlohmann::json out = nlohmann::json::array();
    for (int i = 0; i < size; ++i)
        out.push_back({{"id", "e" + std::to_string(i)}});
    return out;
}

} // namespace

class PlanRefusedTest : public QObject
{
    Q_OBJECT
private slots:
    void changed_data();
    void changed();
    void otherVersions_data();
    void otherVersions();
    void otherFormats_data();
    void otherFormats();
    void texts_data();
    void texts();
    void everyFieldOfAnotherType();
    void everyFieldOutOfRange();
    void cutAnywhere();
    void flippedBytes();
};

/// The reference plan with one value put in, at a JSON pointer; the error must name the place.
void PlanRefusedTest::changed_data()
{
    QTest::addColumn<QString>("pointer");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("at"); // empty: the pointer
    const auto row = [](const char* pointer, const std::string& value, const char* code, const char* at = "") {
        QTest::addRow("%s = %s", pointer, value.substr(0, 60).c_str())
            << QString::fromUtf8(pointer) << q(value) << QString::fromUtf8(code) << QString::fromUtf8(at);
    };
    // Unknown names.
    row("/extra", "1", "plan.unknown_field");
    row("/limits/extra", "null", "plan.unknown_field");
    row("/tenants/0/extra", R"("x")", "plan.unknown_field");
    row("/worksheet/groups/0/tensors/1/extra", "{}", "plan.unknown_field");
    row("/worksheet/groups/0/worksheet", "{}", "plan.unknown_field");
    row("/tenants/0/limits", "{}", "plan.unknown_field");
    row("/limits.maxModelLen", "4096", "plan.unknown_field"); // a path is no key
    row("/worksheet.groups", "[]", "plan.unknown_field");
    row("/deployment/tp.x", "1", "plan.unknown_field");
    row("/", "1", "plan.unknown_field");
    row("/limits/", "1", "plan.unknown_field");
    // Types.
    row("/limits", "null", "plan.type");
    row("/limits", "[]", "plan.type");
    row("/limits", "4", "plan.type");
    row("/limits/promptTokens", R"("7680")", "plan.type");
    row("/limits/promptTokens", "7680.5", "plan.type");
    row("/limits/promptTokens", "true", "plan.type");
    row("/limits/promptTokens", "null", "plan.type");
    row("/limits/promptTokens", "[7680]", "plan.type");
    row("/limits/promptTokens", "NaN", "plan.type");
    row("/budget/utilization", R"("92%")", "plan.type");
    row("/budget/utilization", "Infinity", "plan.type");
    row("/document/title", "7", "plan.type");
    row("/document/title", "{}", "plan.type");
    row("/cache/elementType", "16", "plan.type");
    row("/worksheet/groups", "{}", "plan.type");
    row("/worksheet/groups", "null", "plan.type");
    row("/worksheet/groups/0", "7", "plan.type");
    row("/worksheet/groups/0", "null", "plan.type");
    row("/worksheet/groups/0/tensors", R"("k, v")", "plan.type");
    row("/tenants/0/sharingGroup", "1", "plan.type");
    // Ranges and choices.
    row("/limits/promptTokens", "0", "plan.range");
    row("/limits/promptTokens", "-1", "plan.range");
    row("/limits/promptTokens", "1e30", "plan.range");
    row("/limits/promptTokens", "18446744073709551615", "plan.range");
    row("/limits/promptTokens", "1099511627777", "plan.range");
    row("/worksheet/groups/0/layers", "0", "plan.range");
    row("/worksheet/groups/0/layers", "10001", "plan.range");
    row("/worksheet/groups/0/tensors/0/heads", "0", "plan.range");
    row("/worksheet/groups/0/tensors/0/stride", "0", "plan.range");
    row("/worksheet/groups/0/tensors/0/chunk", "0", "plan.range");
    row("/budget/utilization", "1.01", "plan.range");
    row("/budget/utilization", "-0.01", "plan.range");
    row("/cache/elementType", R"("fp4")", "plan.choice");
    row("/worksheet/groups/0/kind", R"("Full")", "plan.choice");
    row("/worksheet/groups/0/kind", R"("")", "plan.not_clearable");
    row("/tenants/0/eligibility", R"("everybody")", "plan.choice");
    // Ids.
    row("/tenants/0/id", "7", "plan.type");
    row("/tenants/0/id", "null", "plan.id", "/tenants/0");
    row("/tenants/0", "{}", "plan.id");
    for (const char* bad : {R"("")", R"("a b")", R"("a.b")", R"("a/b")", R"("é")", R"("a\n")", R"("a\u0000")"})
        row("/tenants/0/id", bad, "plan.id");
    row("/tenants/0/id", "\"" + std::string(65, 'x') + "\"", "plan.id");
    row("/tenants/1/id", R"("acme")", "plan.id");
    row("/worksheet/groups/0/tensors/1/id", R"("k")", "plan.id");
    row("/worksheet/groups", R"([{"id": "a"}, {"id": "b"}, {"id": "a"}])", "plan.id", "/worksheet/groups/2/id");
    // Sizes of lists.
    row("/worksheet/groups", list(1025).dump(), "plan.range");
    row("/worksheet/groups/0/tensors", list(65).dump(), "plan.range");
    row("/tenants", list(4097).dump(), "plan.range");
    // Sources and assumptions.
    row("/provenance", "[]", "plan.type");
    row("/provenance", R"({"limits.tp": 1})", "plan.type", "/provenance/limits.tp");
    row("/provenance", R"({"limits.tp": {"kind": "hearsay"}})", "plan.choice", "/provenance/limits.tp");
    row("/provenance", R"({"limits.tp": {}})", "plan.choice", "/provenance/limits.tp");
    row("/provenance", R"({"a/b": {"kind": "user", "who": "me"}})", "plan.unknown_field", "/provenance/a~1b/who");
    row("/provenance", R"({"a": {"kind": "user", "note": 1}})", "plan.type", "/provenance/a/note");
    row("/assumptions", "{}", "plan.type");
    row("/assumptions", "[1]", "plan.type", "/assumptions/0");
    row("/assumptions", R"([{"id": "a"}, {"id": 1}])", "plan.type", "/assumptions/1/id");
    row("/assumptions", R"([{"when": ""}])", "plan.unknown_field", "/assumptions/0/when");
}

void PlanRefusedTest::changed()
{
    QFETCH(QString, pointer);
    QFETCH(QString, value);
    QFETCH(QString, code);
    QFETCH(QString, at);
    // nlohmann has no NaN in text: a marker is put in and replaced.
    nlohmann::json root = nlohmann::json::parse(referenceText());
    root[nlohmann::json::json_pointer(pointer.toStdString())] = "@@";
    std::string text = root.dump();
    const std::size_t marker = text.find("\"@@\"");
    QVERIFY(marker != std::string::npos);
    text.replace(marker, 4, value.toStdString());
    const Result<Plan> plan = parsed(text);
    QVERIFY2(!plan, "accepted");
    QCOMPARE(q(plan.error().code), code);
    QCOMPARE(q(plan.error().where.at), at.isEmpty() ? pointer : at);
    QCOMPARE(q(plan.error().where.file), QStringLiteral("test.kvplan"));
    QVERIFY(!plan.error().message.empty());
}

void PlanRefusedTest::otherVersions_data()
{
    QTest::addColumn<QString>("version");
    for (const char* version : {"0", "2", "-1", "1.5", "1e300", "\"1\"", "null", "[1]", "true"})
        QTest::newRow(version) << QString::fromUtf8(version);
}

/// Told by its version before anything else is looked at, however strange the rest is.
void PlanRefusedTest::otherVersions()
{
    QFETCH(QString, version);
    const Result<Plan> plan
        = parsed(R"({"limits": 7, "extra": {}, "format": "kvplan", "schemaVersion": )" + version.toStdString() + "}");
    QVERIFY(!plan);
    QCOMPARE(q(plan.error().code), QStringLiteral("plan.schema_version"));
    QCOMPARE(q(plan.error().where.at), QStringLiteral("/schemaVersion"));
    QCOMPARE(q(plan.error().expected), QStringLiteral("1"));
    QVERIFY(!plan.error().found.empty());
}

void PlanRefusedTest::otherFormats_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    QTest::newRow("no format") << R"({"schemaVersion": 1})"
                               << "plan.format";
    QTest::newRow("another") << R"({"format": "kvrun", "schemaVersion": 1})"
                             << "plan.format";
    QTest::newRow("no text") << R"({"format": 1, "schemaVersion": 1})"
                             << "plan.format";
    QTest::newRow("a model") << R"({"model_type": "llama", "num_hidden_layers": 32})"
                             << "plan.format";
    QTest::newRow("a list") << R"([{"format": "kvplan"}])"
                            << "plan.format";
    QTest::newRow("null") << "null"
                          << "plan.format";
    QTest::newRow("no version") << R"({"format": "kvplan", "limits": 7})"
                                << "plan.schema_version";
}

void PlanRefusedTest::otherFormats()
{
    QFETCH(QString, text);
    QFETCH(QString, code);
    const Result<JsonDocument> document = parseJson(text.toStdString(), "test.kvplan");
    QVERIFY(document);
    QCOMPARE(looksLikePlan(*document), code != "plan.format");
    const Result<Plan> plan = planFromJson(*document);
    QVERIFY(!plan);
    QCOMPARE(q(plan.error().code), code);
    QCOMPARE(q(plan.error().where.file), QStringLiteral("test.kvplan"));
}

void PlanRefusedTest::texts_data()
{
    QTest::addColumn<QString>("old");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("at");
    QTest::newRow("a key twice") << R"("promptTokens": 7680,)"
                                 << R"("promptTokens": 7680, "promptTokens": 1,)"
                                 << "json.duplicate_key"
                                 << "/limits/promptTokens";
    QTest::newRow("an id twice in one object") << R"("id": "acme",)"
                                               << R"("id": "acme", "id": "other",)"
                                               << "json.duplicate_key"
                                               << "/tenants/0/id";
    QTest::newRow("a section twice") << R"("reuse": {)"
                                     << R"("limits": {}, "reuse": {)"
                                     << "json.duplicate_key"
                                     << "/limits";
    QTest::newRow("the version twice") << R"("schemaVersion": 1,)"
                                       << R"("schemaVersion": 1, "schemaVersion": 2,)"
                                       << "json.duplicate_key"
                                       << "/schemaVersion";
    QTest::newRow("deep") << R"("reuse": {)"
                          << QStringLiteral("\"deep\": ") + QString(100'000, '[') + QString(100'000, ']')
            + QStringLiteral(", \"reuse\": {")
                          << "json.depth"
                          << "";
    QTest::newRow("deep in a section") << R"("reuse": {)"
                                       << QStringLiteral("\"deep\": ") + QStringLiteral("{\"reuse\":").repeated(100)
            + "1" + QString(100, '}') + QStringLiteral(", \"reuse\": {")
                                       << "json.depth"
                                       << "";
}

void PlanRefusedTest::texts()
{
    QFETCH(QString, old);
    QFETCH(QString, text);
    QFETCH(QString, code);
    QFETCH(QString, at);
    std::string changed = referenceText();
    const std::size_t place = changed.find(old.toStdString());
    QVERIFY(place != std::string::npos);
    changed.replace(place, old.toStdString().size(), text.toStdString());
    const Result<Plan> plan = parsed(changed);
    QVERIFY(!plan);
    QCOMPARE(q(plan.error().code), code);
    QVERIFY(!plan.error().where.at.empty());
    if (!at.isEmpty())
        QCOMPARE(q(plan.error().where.at), at);
}

/// Every field of a full plan, in turn, as each type of JSON that it is not.
void PlanRefusedTest::everyFieldOfAnotherType()
{
    RandomValues random(1);
    const nlohmann::json full = nlohmann::json::parse(planToJson(random.plan(8)));
    const nlohmann::json flat = full.flatten(); // by JSON pointer
    int tried = 0;
    for (const auto& [pointer, value] : flat.items()) {
        if (pointer == "/format" || pointer == "/schemaVersion")
            continue;
        for (const char* other : {"null", "true", "{}", "[]", "\"7\"", "7.25", "7"}) {
            const nlohmann::json replacement = nlohmann::json::parse(other);
            const bool fits = (value.is_string() && replacement.is_string())
                || (value.is_number() && replacement.is_number_integer())
                || (value.is_number_float() && replacement.is_number())
                || (pointer.ends_with("/id") && replacement.is_null()); // named as missing
            if (fits)
                continue;
            nlohmann::json root = full;
            root[nlohmann::json::json_pointer(pointer)] = replacement;
            const Result<Plan> plan = parsed(root.dump());
            QVERIFY2(!plan, (pointer + " = " + other).c_str());
            QCOMPARE(q(plan.error().code), QStringLiteral("plan.type"));
            QCOMPARE(q(plan.error().where.at), q(pointer));
            ++tried;
        }
    }
    QVERIFY(tried > 500);
}

void PlanRefusedTest::everyFieldOutOfRange()
{
    RandomValues random(2);
    Plan full = random.plan(8);
    std::vector<FieldReference> fields;
    forEachField(full, [&](const FieldReference& reference) { fields.push_back(reference); });
    int tried = 0;
    for (const FieldReference& reference : fields) {
        const Field& field = *reference.field;
        if (field.type != FieldType::Integer && field.type != FieldType::Count)
            continue;
        // Past the table, so that the file says what no editing can.
        for (const std::int64_t bad : {field.minimum - 1, field.maximum == INT64_MAX ? INT64_MIN : field.maximum + 1}) {
            Plan plan = full;
            const FieldSlot slot = findField(plan, reference.path)->slot;
            if (field.type == FieldType::Count)
                *std::get<std::int64_t*>(slot) = bad;
            else
                *std::get<std::optional<std::int64_t>*>(slot) = bad;
            const Result<Plan> read = parsed(planToJson(plan));
            QVERIFY2(!read, reference.path.c_str());
            QCOMPARE(q(read.error().code), QStringLiteral("plan.range"));
            QVERIFY(read.error().found.find(std::to_string(bad)) != std::string::npos);
            ++tried;
        }
    }
    QVERIFY(tried > 100);
}

void PlanRefusedTest::cutAnywhere()
{
    const std::string text = referenceText();
    const std::size_t end = text.find_last_of('}') + 1;
    QVERIFY(parsed(text.substr(0, end)));
    for (std::size_t size = 0; size < end; ++size) {
        const Result<Plan> plan = parsed(text.substr(0, size));
        QVERIFY2(!plan, qPrintable(QString::number(size)));
        QCOMPARE(q(plan.error().code), QStringLiteral("json.syntax"));
        QVERIFY(plan.error().where.at.starts_with("line "));
    }
}

/// Whatever a damaged file is taken for, it is a plan that saves and loads, or an error with a place.
void PlanRefusedTest::flippedBytes()
{
    RandomValues random(3);
    const std::string reference = referenceText();
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 4'000; ++i) {
        std::string text = reference;
        for (std::uint64_t k = random.below(3) + 1; k > 0; --k) {
            const std::size_t at = random.below(text.size());
            switch (random.below(3)) {
            case 0:
                text[at] = static_cast<char>(random.below(256));
                break;
            case 1:
                text.erase(at, random.below(20) + 1);
                break;
            default:
                text.insert(at, text.substr(random.below(text.size()), random.below(20)));
            }
        }
        const Result<Plan> plan = parsed(text);
        if (!plan) {
            QVERIFY(!plan.error().code.empty() && !plan.error().message.empty());
            QVERIFY(plan.error().where.file == "test.kvplan");
            ++refused;
            continue;
        }
        const Result<Plan> again = parsed(planToJson(*plan));
        QVERIFY(again);
        QCOMPARE(planHash(*again), planHash(*plan));
        ++accepted;
    }
    QVERIFY2(accepted > 100 && refused > 1'000, qPrintable(QStringLiteral("%1, %2").arg(accepted).arg(refused)));
}

QTEST_APPLESS_MAIN(PlanRefusedTest)
#include "tst_plan_refused.moc"
