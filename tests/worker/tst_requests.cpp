// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/plan_json.h"
#include "report/json_output.h"
#include "support/example_plans.h"
#include "worker/device_json.h"
#include "worker/request_json.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace kvw;
using namespace kvw::worker;

namespace {

ProbeRequest fullRequest()
{
    ProbeRequest out;
    out.plan = test::smallPlan();
    out.options.fraction = 0.25;
    out.options.maximumBytes = 1 << 20;
    out.options.device = "host";
    out.options.ceilings = false;
    out.options.eventsFile = "a \"b\".kvev";
    out.options.recordFile = "r.jsonl";
    out.holdBack = true;
    return out;
}

std::string requestError(const std::string& text)
{
    const Result<RequestBody> body = requestFromJson(text, "request 1");
    return body ? "" : body.error().code + " " + body.error().where.at;
}

} // namespace

class RequestsTest : public QObject
{
    Q_OBJECT
private slots:
    void requests();
    void requestsAreStrict();
    void evidence();
    void devices();
};

void RequestsTest::requests()
{
    const ProbeRequest request = fullRequest();
    const Result<RequestBody> body = requestFromJson(toJson(request), "request 1");
    QVERIFY2(body.ok(), body ? "" : body.error().text().c_str());
    const auto& back = std::get<ProbeRequest>(*body);
    QCOMPARE(planHash(back.plan), planHash(request.plan));
    QCOMPARE(planToJson(back.plan), planToJson(request.plan));
    QCOMPARE(*back.options.fraction, 0.25);
    QCOMPARE(back.options.maximumBytes, std::int64_t(1 << 20));
    QCOMPARE(back.options.ceilings, false);
    QCOMPARE(back.options.eventsFile, request.options.eventsFile);
    QCOMPARE(back.options.recordFile, request.options.recordFile);
    QCOMPARE(back.holdBack, true);
    const Result<RequestBody> least
        = requestFromJson(R"({"kind":"probe","plan":)" + planToJson(request.plan) + "}", "request 1");
    const auto& defaults = std::get<ProbeRequest>(*least);
    QVERIFY(!defaults.options.fraction && defaults.options.ceilings && !defaults.holdBack);
    QCOMPARE(defaults.options.maximumBytes, defaultProbeBytes);
    QCOMPARE(defaults.options.device, std::string("host"));
    QVERIFY(std::holds_alternative<DevicesRequest>(*requestFromJson(toJson(DevicesRequest {}), "request 1")));
}

void RequestsTest::requestsAreStrict()
{
    const std::string plan = R"("plan":)" + planToJson(test::smallPlan());
    QCOMPARE(requestError("{}"), std::string("protocol.format "));
    QCOMPARE(requestError(R"({"kind":"benchmark"})"), std::string("protocol.request /kind"));
    QCOMPARE(requestError(R"({"kind":"devices","all":true})"), std::string("protocol.unknown_field /all"));
    QCOMPARE(requestError(R"({"kind":"probe"})"), std::string("protocol.format "));
    for (const auto& [field, error] :
        std::vector<std::pair<std::string, std::string>> {{R"("fraction":0)", "protocol.format /fraction"},
            {R"("fraction":1.5)", "protocol.format /fraction"}, {R"("fraction":"1")", "json.type /fraction"},
            {R"("maximumBytes":0)", "json.range /maximumBytes"}, {R"("device":1)", "json.type /device"},
            {R"("ceilings":1)", "json.type /ceilings"}, {R"("events":false)", "json.type /events"},
            {R"("holdBack":"yes")", "json.type /holdBack"}, {R"("Fraction":1)", "protocol.unknown_field /Fraction"}})
        QCOMPARE(requestError(R"({"kind":"probe",)" + field + "," + plan + "}"), error);
    // The plan's own reader speaks for the plan.
    const Result<RequestBody> wrong = requestFromJson(R"({"kind":"probe","plan":{"format":"x"}})", "request 1");
    QVERIFY(wrong.error().code.starts_with("plan."));
    QVERIFY(wrong.error().where.file.find("request 1") != std::string::npos);
}

void RequestsTest::evidence()
{
    std::vector<EvidenceRow> rows(2);
    rows[0].id = "pool_bytes";
    rows[0].title = "Pool bytes";
    rows[0].unit = Unit::Byte;
    rows[0].estimated = std::int64_t {1} << 53;
    rows[0].predicted = 2.5;
    rows[0].measured = std::int64_t {-3};
    rows[0].instrument = "smaps";
    rows[0].difference = -5.5;
    rows[0].below = 1;
    rows[0].above = 4095;
    rows[0].toleranceReason = "pages";
    rows[0].verdict = Verdict::Differs;
    rows[1].id = "rate";
    rows[1].unit = Unit::BytesPerSecond;
    rows[1].verdict = Verdict::SameCounter;
    rows[1].reason = "why";
    const std::string text = evidenceJson(rows).dump();
    const Result<std::vector<EvidenceRow>> back = evidenceFromJson(text, "evidence");
    QVERIFY2(back.ok(), back ? "" : back.error().text().c_str());
    QCOMPARE(evidenceJson(*back).dump(), text);
    QCOMPARE(std::get<std::int64_t>(*back->at(0).estimated), std::int64_t {1} << 53);
    QCOMPARE(back->at(1).verdict, Verdict::SameCounter);
    QVERIFY(!evidenceFromJson("{}", "evidence").ok());
    QVERIFY(!evidenceFromJson("[{}]", "evidence").ok());
    std::string other = text;
    other.replace(other.find("differs"), 7, "is fine");
    QCOMPARE(evidenceFromJson(other, "evidence").error().where.at, std::string("/0/verdict"));
}

void RequestsTest::devices()
{
    const std::vector<OfferedDevice> devices = HostDevices().list();
    QCOMPARE(devices.size(), std::size_t(1));
    QVERIFY(devices[0].limitBytes > 0 && devices[0].limitBytes <= devices[0].info.availableBytes);
    const std::string text = devicesJson(devices).dump();
    const Result<JsonDocument> document = parseJson(text, "result");
    const Result<std::vector<OfferedDevice>> back = devicesFromJson(*document);
    QVERIFY(back.ok());
    QCOMPARE(devicesJson(*back).dump(), text);
    QVERIFY(HostDevices().open("host").ok());
    QCOMPARE(HostDevices().open("cuda:7").error().code, std::string("device.unknown"));
    QCOMPARE(HostDevices().find("cuda:7").error().code, std::string("device.unknown"));
}

QTEST_GUILESS_MAIN(RequestsTest)
#include "tst_requests.moc"
