// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "support/example_plans.h"
#include "units/version.h"
#include "worker/device_json.h"
#include "worker_client.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace kvw;
using namespace kvw::worker;
using namespace kvw::test;

namespace {

/// The JSON of `kvw probe` for a plan.
nlohmann::json commandLineProbe(const Plan& plan)
{
    const QTemporaryDir folder;
    const QString file = folder.filePath("small.kvplan");
    if (!savePlan(plan, file.toStdString()))
        return {};
    QProcess process;
    process.start(QString::fromLocal8Bit(std::getenv("KVW_BINARY")),
        {"probe", file, "--json", "--no-ceilings", "--record", folder.filePath("run.jsonl")});
    process.waitForFinished(120'000);
    return nlohmann::json::parse(process.readAllStandardOutput().toStdString(), nullptr, false);
}

/// Takes away what may differ between two runs of the same plan on the same machine.
nlohmann::json comparable(nlohmann::json json)
{
    json.erase("record");
    json["device"].erase("availableBytes");
    for (nlohmann::json& row : json["evidence"]) {
        if (row["id"] == "append_rate" || row["id"] == "read_rate") {
            row["measured"] = nullptr;
            row["tolerance"] = nullptr; // the spread of what was measured
        }
    }
    return json;
}

bool told(const std::vector<Message>& messages, std::uint64_t id)
{
    return std::any_of(messages.begin(), messages.end(), [&](const Message& message) {
        return std::visit(
            [&](const auto& one) {
                if constexpr (
                    requires { one.more; } || requires { one.samples; } || requires { one.events; })
                    return one.id == id;
                return false;
            },
            message);
    });
}

} // namespace

class WorkerTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void handshake();
    void refusesOtherVersions();
    void refusesOtherFrameVersions();
    void devices();
    void sameEvidenceAsTheCommandLine();
    void phasesInTheOrderAnnounced();
    void eventsAsInTheFile();
    void heldBackEventsAreTheSame();
    void cancelStopsTheRun();
    void cancelBeforeTheFirstStep();
    void barrierComesAfterWhatWasAsked();
    void oneProbeAtATime();
    void nextProbeRightAfterAResult();
    void aBadRequestCostsOnlyItself_data();
    void aBadRequestCostsOnlyItself();
    void requestInPieces();
};

void WorkerTest::initTestCase()
{
    if (!prepareWorkerTest())
        QSKIP("the program kvw is not built");
}

void WorkerTest::handshake()
{
    WorkerClient client;
    // It does not wait for the other side's hello.
    const std::optional<Hello> hello = client.until<Hello>();
    QVERIFY2(hello, client.error.c_str());
    QVERIFY(client.passed.empty());
    QCOMPARE(hello->product, std::string("kvw"));
    QCOMPARE(hello->version, std::string(version()));
    QCOMPARE(hello->process, client.process().processId());
    QCOMPARE(hello->watchdogSeconds, 30.0);
    client.greet();
    client.send(Barrier {42});
    QCOMPARE(client.until<Barrier>()->id, std::uint64_t(42));
    client.send(Stop {});
    QCOMPARE(client.until<Bye>()->reason, std::string("stop"));
    QCOMPARE(client.exitCode(), 0);
    QVERIFY(client.error.empty());
    QCOMPARE(client.process().readAllStandardError(), QByteArray());
}

void WorkerTest::refusesOtherVersions()
{
    WorkerClient client;
    Hello other = WorkerClient::hello();
    other.protocol = {2, 3};
    client.send(other);
    const std::optional<Failed> failed = client.until<Failed>();
    QVERIFY(failed);
    QCOMPARE(failed->id, std::uint64_t(0));
    QCOMPARE(failed->error.code, std::string("protocol.version"));
    QVERIFY(failed->error.text().find("test 7.8 speaks 2 to 3") != std::string::npos);
    QVERIFY(failed->error.text().find("kvw ") != std::string::npos);
    QCOMPARE(client.until<Bye>()->exitCode, 11);
    QCOMPARE(client.exitCode(), 11);
    QVERIFY(client.process().readAllStandardError().contains("speaks 2 to 3"));
}

void WorkerTest::refusesOtherFrameVersions()
{
    WorkerClient client;
    std::vector<std::byte> bytes;
    std::vector<std::byte> payload;
    putText(payload, "KVWP\2{}");
    QVERIFY(FrameWriter().write(helloType, payload, bytes));
    client.sendBytes(bytes);
    QCOMPARE(failureCode(client, 0), std::string("frame.version"));
    QCOMPARE(client.exitCode(), 11);
}

void WorkerTest::devices()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, DevicesRequest {});
    const std::optional<std::string> text = client->result();
    QVERIFY(text);
    QCOMPARE(std::get<Accepted>(client->passed.at(0)).kind, std::string("devices"));
    const Result<JsonDocument> document = parseJson(*text, "result");
    const Result<std::vector<OfferedDevice>> devices = devicesFromJson(*document);
    QVERIFY(devices.ok());
    QCOMPARE(devices->at(0).info.id, std::string("host"));
}

void WorkerTest::sameEvidenceAsTheCommandLine()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, smallProbe());
    const std::optional<std::string> text = client->result();
    QVERIFY2(text, client->error.c_str());
    const auto result = nlohmann::json::parse(*text);
    const nlohmann::json expected = commandLineProbe(test::smallPlan());
    QVERIFY(expected.is_object());
    QVERIFY(result.at("record").is_null());
    const nlohmann::json difference = nlohmann::json::diff(comparable(expected), comparable(result));
    QVERIFY2(difference.empty(), difference.dump().c_str());
    QVERIFY(result.at("verdicts").at("agrees").get<int>() > 10);
    QCOMPARE(result.at("verdicts").at("differs").get<int>(), 0);
    // The rows came before the result, and are the same.
    std::string rows;
    for (const Message& message : client->passed) {
        if (const auto* evidence = std::get_if<Evidence>(&message))
            rows += evidence->text;
    }
    QCOMPARE(nlohmann::json::parse(rows).dump(), result.at("evidence").dump());
    QVERIFY(evidenceFromJson(rows, "evidence").ok());
}

void WorkerTest::phasesInTheOrderAnnounced()
{
    const auto client = connected();
    QVERIFY(client);
    ProbeRequest probe = smallProbe();
    probe.options.ceilings = true;
    client->request(1, probe);
    const std::optional<std::string> text = client->result();
    QVERIFY(text);
    const auto& accepted = std::get<Accepted>(client->passed.at(0));
    std::vector<std::string> begun;
    std::optional<MemoryCeilings> ceilings;
    std::optional<MemoryReading> memory;
    bool open = false;
    for (const Message& message : client->passed) {
        const auto* phase = std::get_if<Phase>(&message);
        if (!phase)
            continue;
        QCOMPARE(phase->begins, !open);
        open = phase->begins;
        if (phase->begins)
            begun.emplace_back(phaseName(phase->phase));
        else
            QCOMPARE(std::string(phaseName(phase->phase)), begun.back());
        QCOMPARE(phase->reservation.has_value(), phase->begins && phase->phase == ProbePhase::Reserve);
        ceilings = phase->ceilings ? phase->ceilings : ceilings;
        memory = phase->memory ? phase->memory : memory;
        if (phase->reservation)
            QVERIFY(phase->reservation->bytes > 0 && phase->reservation->device.limitBytes > 0);
    }
    QCOMPARE(begun, accepted.phases);
    QCOMPARE(begun.size(), std::size_t(7));
    QVERIFY(ceilings && ceilings->copy.perSecond() > 0 && ceilings->repeats == 9);
    QVERIFY(memory && memory->poolBytes > 0);
}

void WorkerTest::eventsAsInTheFile()
{
    const QTemporaryDir folder;
    const auto client = connected();
    QVERIFY(client);
    ProbeRequest probe = smallProbe();
    probe.options.eventsFile = folder.filePath("log.kvev").toStdString();
    probe.options.recordFile = folder.filePath("run.jsonl").toStdString();
    client->request(1, probe);
    const std::optional<std::string> text = client->result();
    QVERIFY(text);
    Spool spool;
    QVERIFY(spool.takeAll(client->passed));
    const Result<std::unique_ptr<EventLog>> file = EventLog::open(probe.options.eventsFile);
    QVERIFY(file.ok());
    QVERIFY(spool.log->events() == (*file)->events());
    QVERIFY(spool.log->digests() == (*file)->digests());
    QVERIFY(*spool.log->finalState() == *(*file)->finalState());
    QCOMPARE(headerToJson(spool.log->header()), headerToJson((*file)->header()));
    const auto result = nlohmann::json::parse(*text);
    QCOMPARE(result.at("record").get<std::string>(), probe.options.recordFile);
    QCOMPARE(result.at("live").at("samples").size(), spool.samples.size());
}

void WorkerTest::heldBackEventsAreTheSame()
{
    const auto client = connected();
    QVERIFY(client);
    Spool plain;
    client->request(1, smallProbe());
    QVERIFY(client->result());
    QVERIFY(plain.takeAll(client->passed));
    ProbeRequest held = smallProbe();
    held.holdBack = true;
    Spool late;
    client->request(2, held);
    QVERIFY(client->result());
    QVERIFY(late.takeAll(client->passed));
    QVERIFY(plain.log->events() == late.log->events());
    QCOMPARE(plain.samples.size(), late.samples.size());
}

void WorkerTest::cancelStopsTheRun()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, longProbe());
    QVERIFY(client->until<Samples>());
    client->send(Cancel {1});
    client->send(Barrier {5});
    QElapsedTimer timer;
    timer.start();
    const std::optional<std::string> text = client->result();
    QVERIFY2(text, client->error.c_str());
    QVERIFY(timer.elapsed() < 20'000);
    const auto result = nlohmann::json::parse(*text);
    QCOMPARE(result.at("stopped").at("code").get<std::string>(), std::string("run.cancelled"));
    QVERIFY(result.at("stopped").at("message").get<std::string>().find("cancelled after step") != std::string::npos);
    QVERIFY(!result.at("live").at("complete").get<bool>());
    QVERIFY(result.at("live").at("steps") < result.at("prediction").at("steps"));
    QCOMPARE(result.at("verdicts").at("differs").get<int>(), 0);
    // What comes after the barrier is not about the old request any more.
    QCOMPARE(client->until<Barrier>()->id, std::uint64_t(5));
    client->request(2, smallProbe());
    QVERIFY(client->result());
    QVERIFY(!told(client->passed, 1));
}

void WorkerTest::cancelBeforeTheFirstStep()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, longProbe());
    client->send(Cancel {1});
    QCOMPARE(failureCode(*client, 1), std::string("run.cancelled"));
    client->send(Cancel {1}); // no error
    client->send(Cancel {99});
    client->request(2, smallProbe());
    QVERIFY(client->result());
}

void WorkerTest::barrierComesAfterWhatWasAsked()
{
    const auto client = connected();
    QVERIFY(client);
    client->send(Barrier {1});
    client->request(1, smallProbe());
    client->send(Barrier {2});
    client->send(Barrier {3});
    QCOMPARE(client->until<Barrier>()->id, std::uint64_t(1));
    QCOMPARE(client->until<Barrier>()->id, std::uint64_t(2));
    QVERIFY(std::holds_alternative<Done>(client->passed.back()));
    QCOMPARE(client->until<Barrier>()->id, std::uint64_t(3));
    QVERIFY(client->passed.empty());
}

void WorkerTest::oneProbeAtATime()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, longProbe());
    client->request(2, smallProbe());
    QCOMPARE(failureCode(*client, 2), std::string("worker.busy"));
    client->request(3, DevicesRequest {});
    const std::optional<Done> devices = client->until<Done>();
    QVERIFY(devices);
    QCOMPARE(devices->id, std::uint64_t(3));
    client->send(Cancel {1});
    client->send(Barrier {1});
    QVERIFY(client->until<Barrier>());
}

void WorkerTest::nextProbeRightAfterAResult()
{
    const auto client = connected();
    QVERIFY(client);
    for (std::uint64_t id = 1; id <= 5; ++id) {
        client->request(id, smallProbe());
        QVERIFY2(client->result(), client->error.c_str());
        QVERIFY(told(client->passed, id));
    }
}

void WorkerTest::aBadRequestCostsOnlyItself_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("code");
    QTest::newRow("empty") << QByteArray() << QByteArray("json.syntax");
    QTest::newRow("no JSON") << QByteArray("probe this") << QByteArray("json.syntax");
    QTest::newRow("another kind") << QByteArray(R"({"kind":"format disk"})") << QByteArray("protocol.request");
    QTest::newRow("no plan") << QByteArray(R"({"kind":"probe"})") << QByteArray("protocol.format");
    QTest::newRow("a plan that is none") << QByteArray(R"({"kind":"probe","plan":{}})") << QByteArray("plan.format");
    Plan plan = test::smallPlan();
    plan.worksheet.groups.clear();
    QTest::newRow("a plan without groups")
        << QByteArray::fromStdString(toJson(probeOf(plan))) << QByteArray("engine.refusal");
    ProbeRequest probe = smallProbe();
    probe.options.device = "cuda:3";
    QTest::newRow("no such device") << QByteArray::fromStdString(toJson(probe)) << QByteArray("device.unknown");
    probe = smallProbe();
    probe.options.maximumBytes = 1;
    QTest::newRow("too small") << QByteArray::fromStdString(toJson(probe)) << QByteArray("run.too_small");
    probe = smallProbe();
    probe.options.recordFile = "/nowhere/at/all";
    QTest::newRow("no such folder") << QByteArray::fromStdString(toJson(probe)) << QByteArray("io.open");
}

void WorkerTest::aBadRequestCostsOnlyItself()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, code);
    const auto client = connected();
    QVERIFY(client);
    client->send(worker::Request {1, text.toStdString(), false});
    QCOMPARE(QByteArray::fromStdString(failureCode(*client, 1)), code);
    client->request(2, smallProbe());
    QVERIFY(client->result());
    client->send(Stop {});
    QVERIFY(client->until<Bye>());
    QCOMPARE(client->exitCode(), 0);
}

void WorkerTest::requestInPieces()
{
    const auto client = connected();
    QVERIFY(client);
    const std::string text = toJson(smallProbe());
    std::size_t at = 0;
    for (; at + 100 < text.size(); at += 100)
        client->send(worker::Request {4, text.substr(at, 100), true});
    client->send(worker::Request {4, text.substr(at), false});
    QVERIFY2(client->result(), client->error.c_str());
}

QTEST_GUILESS_MAIN(WorkerTest)
#include "tst_worker.moc"
