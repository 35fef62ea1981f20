// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_plan.h"

#include "plan/plan_json.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <fstream>
#include <sstream>

using namespace kvw;
using namespace kvw::test;

namespace {

Result<Plan> parsed(const std::string& text)
{
    const Result<JsonDocument> document = parseJson(text, "test.kvplan");
    return document ? planFromJson(*document) : Result<Plan>(document.error());
}

std::string contentOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Where the field lies in the file: objects by the dots of its path, elements of lists by their ids.
const nlohmann::json* valueAt(const nlohmann::json& root, const std::string& path)
{
    const nlohmann::json* at = &root;
    std::stringstream parts(path);
    for (std::string part; std::getline(parts, part, '.');) {
        if (at->is_array()) {
            const auto element
                = std::find_if(at->begin(), at->end(), [&](const auto& entry) { return entry.at("id") == part; });
            if (element == at->end())
                return nullptr;
            at = &*element;
        } else {
            const auto member = at->find(part);
            if (member == at->end())
                return nullptr;
            at = &*member;
        }
    }
    return at;
}

/// The same document with the keys of every object in the opposite order.
nlohmann::ordered_json reversed(const nlohmann::ordered_json& json)
{
    if (json.is_object()) {
        nlohmann::ordered_json out = nlohmann::ordered_json::object();
        for (auto at = json.rbegin(); at != json.rend(); ++at)
            out[at.key()] = reversed(*at);
        return out;
    }
    if (!json.is_array())
        return json;
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const nlohmann::ordered_json& element : json)
        out.push_back(reversed(element));
    return out;
}

Source randomSource(RandomValues& random)
{
    return {static_cast<Source::Kind>(random.below(8)), random.text(), random.text(), random.text(), random.text(),
        random.below(2) == 0 ? "" : random.text(), random.text()};
}

long noWrite(int, const void*, std::size_t)
{
    errno = ENOSPC;
    return -1;
}

} // namespace

class PlanJsonTest : public QObject
{
    Q_OBJECT
private slots:
    void roundTrips();
    void everyFieldLiesWhereItsPathSays();
    void examples_data();
    void examples();
    void elementsWithoutFields();
    void keysInAnotherOrder();
    void hashFollowsWhatResultsDependOn();
    void hashTellsFieldsApart();
    void savesAndLoads();
};

void PlanJsonTest::roundTrips()
{
    RandomValues random(1);
    for (int i = 0; i < 400; ++i) {
        Plan plan = random.plan(i % 9);
        for (std::uint64_t k = random.below(4); k > 0; --k)
            plan.provenance.set(random.text(), randomSource(random));
        for (std::uint64_t k = random.below(4); k > 0; --k)
            plan.assumptions.push_back({random.text(), random.text(), random.below(2) == 0 ? "" : random.text()});
        const std::string json = planToJson(plan);
        const Result<Plan> read = parsed(json);
        QVERIFY2(read, read ? "" : read.error().text().c_str());
        QCOMPARE(planToJson(*read), json);
        QVERIFY(json.ends_with("}\n"));
        QVERIFY(textsOf(*read) == textsOf(plan));
        QCOMPARE(planHash(*read), planHash(plan));
        QVERIFY(read->assumptions == plan.assumptions);
        QCOMPARE(read->provenance.entries().size(), plan.provenance.entries().size());
        for (const auto& [path, source] : plan.provenance.entries())
            QVERIFY(*read->provenance.find(path) == *source);
        for (std::size_t k = 0; k < plan.worksheet.groups.size(); ++k)
            QVERIFY(read->worksheet.groups[k] == plan.worksheet.groups[k]);
    }
}

/// Read by another parser: a stated field is where its path says, as text or as a number; any other is absent.
void PlanJsonTest::everyFieldLiesWhereItsPathSays()
{
    RandomValues random(2);
    for (int i = 0; i < 50; ++i) {
        const Plan plan = random.plan(i % 2 == 0 ? 8 : 4);
        const nlohmann::json root = nlohmann::json::parse(planToJson(plan));
        QVERIFY(root.at("format") == "kvplan" && root.at("schemaVersion") == 1);
        forEachField(plan, [&](const FieldReference& reference) {
            const nlohmann::json* value = valueAt(root, reference.path);
            const std::string text = fieldText(*reference.field, reference.slot);
            const bool isThere = value != nullptr;
            bool same = isThere == !text.empty();
            if (isThere && value->is_string())
                same = same && *value == text
                    && (reference.field->type == FieldType::Text || reference.field->type == FieldType::Choice);
            else if (isThere && value->is_number_float())
                same = same && value->get<double>() == std::strtod(text.c_str(), nullptr)
                    && reference.field->type == FieldType::Real;
            else if (isThere)
                same = same && value->is_number_integer() && std::to_string(value->get<std::int64_t>()) == text;
            QVERIFY2(same, (reference.path + " = " + text).c_str());
        });
    }
}

void PlanJsonTest::examples_data()
{
    QTest::addColumn<QString>("path");
    const QDir folder = QFileInfo(QString::fromStdString(examplePath("reference.kvplan"))).dir();
    for (const QFileInfo& file : folder.entryInfoList({"*.kvplan"}))
        QTest::newRow(qPrintable(file.fileName())) << file.filePath();
}

void PlanJsonTest::examples()
{
    QFETCH(QString, path);
    const std::string text = contentOf(path.toStdString());
    const Result<Plan> plan = loadPlan(path.toStdString());
    QVERIFY2(plan, plan ? "" : plan.error().text().c_str());
    const Result<Plan> again = parsed(planToJson(*plan));
    QVERIFY(again);
    QCOMPARE(planHash(*again), planHash(*plan));
    // Nothing of the file is dropped.
    const nlohmann::json before = nlohmann::json::parse(text);
    const nlohmann::json after = nlohmann::json::parse(planToJson(*plan));
    for (const auto& change : nlohmann::json::diff(before, after))
        QVERIFY2(change.at("op") == "add", change.dump().c_str());
}

/// The least that a file can say of an element: what is written back must be read again.
void PlanJsonTest::elementsWithoutFields()
{
    const Result<Plan> plan = parsed(R"({"format": "kvplan", "schemaVersion": 1, "tenants": [{"id": "a"}],
        "worksheet": {"groups": [{"id": "g", "tensors": [{"id": "t"}]}]}, "evidence": [{"id": "e"}],
        "runs": [{"id": "r"}]})");
    QVERIFY2(plan, plan ? "" : plan.error().text().c_str());
    const Result<Plan> again = parsed(planToJson(*plan));
    QVERIFY2(again, again ? "" : again.error().text().c_str());
    QCOMPARE(planToJson(*again), planToJson(*plan));
    QCOMPARE(again->worksheet.groups.at(0).tensors.at(0).id, std::string("t"));
    const Result<Plan> empty = parsed(planToJson(Plan {}));
    QVERIFY(empty);
    QCOMPARE(planHash(*empty), planHash(Plan {}));
}

void PlanJsonTest::keysInAnotherOrder()
{
    RandomValues random(3);
    for (int i = 0; i < 50; ++i) {
        const Plan plan = random.plan(6);
        const std::string json = planToJson(plan);
        const std::string other = reversed(nlohmann::ordered_json::parse(json)).dump();
        QVERIFY(other.find("\"format\"") > other.find("\"worksheet\""));
        const Result<Plan> read = parsed(other);
        QVERIFY2(read, read ? "" : read.error().text().c_str());
        QCOMPARE(planHash(*read), planHash(plan));
        QCOMPARE(planToJson(*read), json);
    }
}

void PlanJsonTest::hashFollowsWhatResultsDependOn()
{
    RandomValues random(4);
    Plan plan = random.plan(6);
    int followed = 0;
    for (const auto& [path, before] : textsOf(plan)) {
        const FieldReference reference = findField(plan, path).value();
        std::string value = random.valueFor(*reference.field);
        while (value == before)
            value = random.valueFor(*reference.field);
        const std::string hash = planHash(plan);
        QVERIFY(hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos);
        QVERIFY(setField(plan, path, value));
        const bool ignored = path.starts_with("document.") || path.starts_with("evidence.") || path.starts_with("runs.")
            || (path.starts_with("tenants.") && path.ends_with(".name"));
        QVERIFY2((planHash(plan) == hash) == ignored, path.c_str());
        followed += ignored ? 0 : 1;
    }
    QVERIFY(followed > 90);
    const std::string hash = planHash(plan);
    plan.assumptions.push_back({"x", "y", "z"});
    plan.provenance.set("model.name", Source {Source::Kind::File, "elsewhere"});
    QCOMPARE(planHash(plan), hash);
    std::swap(plan.tenants[0], plan.tenants[1]); // they take turns in this order
    QVERIFY(planHash(plan) != hash);
    std::swap(plan.tenants[0], plan.tenants[1]);
    plan.worksheet.groups[0].id = "other";
    QVERIFY(planHash(plan) != hash);
    plan.worksheet.groups.pop_back();
    QVERIFY(planHash(plan) != hash);
}

/// A value that looks like the next field does not pass for it.
void PlanJsonTest::hashTellsFieldsApart()
{
    Plan a;
    Plan b;
    a.model.name = "x\nmodel.architecture=1:y";
    b.model.name = "x";
    b.model.architecture = "y";
    QVERIFY(planHash(a) != planHash(b));
    a = {};
    b = {};
    a.limits.promptTokens = 12;
    b.limits.outputTokens = 12;
    QVERIFY(planHash(a) != planHash(b));
    b = {};
    b.limits.promptTokens = 0;
    QVERIFY(planHash(Plan {}) != planHash(b)); // not stated is not 0
}

void PlanJsonTest::savesAndLoads()
{
    const QTemporaryDir folder;
    const std::string path = folder.filePath("a.kvplan").toStdString();
    RandomValues random(5);
    const Plan plan = random.plan(7);
    QVERIFY(savePlan(plan, path));
    QCOMPARE(contentOf(path), planToJson(plan));
    const Result<Plan> loaded = loadPlan(path);
    QVERIFY(loaded);
    QCOMPARE(planHash(*loaded), planHash(plan));
    FileOperations full = systemFileOperations();
    full.write = noWrite;
    const Result<void> failed = savePlan(random.plan(7), path, full);
    QVERIFY(!failed && failed.error().code == "io.write");
    QCOMPARE(contentOf(path), planToJson(plan));
    const Result<Plan> missing = loadPlan(path + ".missing");
    QVERIFY(!missing && missing.error().code == "io.open");
}

QTEST_APPLESS_MAIN(PlanJsonTest)
#include "tst_plan_json.moc"
