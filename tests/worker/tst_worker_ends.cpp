// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker_client.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <random>
#include <thread>

using namespace kvw;
using namespace kvw::worker;
using namespace kvw::test;

/// How a worker ends: told to, left alone, spoken to in other tongues, killed.
class WorkerEndsTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void stopEndsIt();
    void stopEndsARun();
    void closedInputEndsIt();
    void closedInputEndsARun();
    void closedInputInsideAFrame();
    void garbageEndsIt_data();
    void garbageEndsIt();
    void brokenRulesEndIt_data();
    void brokenRulesEndIt();
    void watchdogEndsIt();
    void heartbeatsKeepItAlive();
    void killedWorkerLeavesAWholePrefix();
};

void WorkerEndsTest::initTestCase()
{
    if (!prepareWorkerTest())
        QSKIP("the program kvw is not built");
}

void WorkerEndsTest::stopEndsIt()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, smallProbe());
    QVERIFY(client->result());
    client->send(Stop {});
    const std::optional<Bye> bye = client->until<Bye>();
    QVERIFY(bye);
    QCOMPARE(bye->exitCode, 0);
    QVERIFY(!client->next());
    QCOMPARE(client->exitCode(), 0);
}

void WorkerEndsTest::stopEndsARun()
{
    const auto client = connected();
    QVERIFY(client);
    client->request(1, longProbe());
    QVERIFY(client->until<Samples>());
    client->send(Stop {});
    const std::optional<std::string> text = client->result();
    QVERIFY(text);
    QCOMPARE(nlohmann::json::parse(*text).at("stopped").at("code").get<std::string>(), std::string("run.cancelled"));
    QVERIFY(client->until<Bye>());
    QCOMPARE(client->exitCode(), 0);
}

void WorkerEndsTest::closedInputEndsIt()
{
    const auto client = connected();
    QVERIFY(client);
    client->process().closeWriteChannel();
    QCOMPARE(client->until<Bye>()->reason, std::string("end of input"));
    QCOMPARE(client->exitCode(), 0);
}

void WorkerEndsTest::closedInputEndsARun()
{
    const auto client = connected();
    QVERIFY(client);
    client->silent = true;
    client->request(1, longProbe());
    QVERIFY(client->until<Samples>());
    client->process().closeWriteChannel();
    const std::optional<std::string> text = client->result();
    QVERIFY(text);
    QVERIFY(nlohmann::json::parse(*text).contains("stopped"));
    QVERIFY(client->until<Bye>());
    QCOMPARE(client->exitCode(), 0);
}

void WorkerEndsTest::closedInputInsideAFrame()
{
    const auto client = connected();
    QVERIFY(client);
    client->sendBytes(std::vector<std::byte>(7, std::byte {1}));
    client->process().closeWriteChannel();
    QCOMPARE(failureCode(*client, 0), std::string("frame.truncated"));
    QCOMPARE(client->exitCode(), 10);
}

void WorkerEndsTest::garbageEndsIt_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<bool>("afterHello");
    QTest::newRow("text") << QByteArray("GET / HTTP/1.1\r\n\r\n") << false;
    QTest::newRow("zeros") << QByteArray(100, '\0') << false;
    QTest::newRow("ones") << QByteArray(100, '\xff') << false;
    QTest::newRow("text after the hello") << QByteArray("what now? more text than a header\n") << true;
    QTest::newRow("zeros after the hello") << QByteArray(100, '\0') << true;
    std::mt19937 dice(23);
    for (int i = 0; i < 6; ++i) {
        QByteArray random(200, '\0');
        for (char& byte : random)
            byte = static_cast<char>(dice());
        QTest::addRow("random %d", i) << random << (i % 2 == 1);
    }
}

void WorkerEndsTest::garbageEndsIt()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const bool, afterHello);
    WorkerClient client;
    if (afterHello)
        client.greet();
    client.process().write(bytes);
    client.process().waitForBytesWritten();
    client.silent = true;
    const std::optional<Failed> failed = client.until<Failed>();
    QVERIFY(failed);
    QCOMPARE(failed->id, std::uint64_t(0));
    QVERIFY(failed->error.code.starts_with("frame."));
    QCOMPARE(client.until<Bye>()->exitCode, 10);
    QCOMPARE(client.exitCode(), 10);
    QVERIFY(client.process().readAllStandardError().startsWith("kvw worker: "));
}

void WorkerEndsTest::brokenRulesEndIt_data()
{
    QTest::addColumn<int>("rule");
    QTest::addColumn<QByteArray>("code");
    QTest::newRow("a second hello") << 0 << QByteArray("protocol.order");
    QTest::newRow("what only the worker sends") << 1 << QByteArray("protocol.direction");
    QTest::newRow("an id again") << 2 << QByteArray("protocol.request_id");
    QTest::newRow("id 0") << 3 << QByteArray("protocol.request_id");
    QTest::newRow("pieces of two requests") << 4 << QByteArray("protocol.pieces");
    QTest::newRow("an unknown type") << 5 << QByteArray("protocol.type");
    QTest::newRow("a short payload") << 6 << QByteArray("protocol.length");
}

void WorkerEndsTest::brokenRulesEndIt()
{
    QFETCH(const int, rule);
    QFETCH(const QByteArray, code);
    WorkerClient client;
    client.silent = true;
    FrameWriter writer;
    std::vector<std::byte> bytes;
    const auto put = [&](const Message& message) {
        QVERIFY(writer.write(static_cast<std::uint8_t>(typeOf(message)), encode(message), bytes));
    };
    put(WorkerClient::hello());
    switch (rule) {
    case 0:
        put(WorkerClient::hello());
        break;
    case 1:
        put(Accepted {1, "probe", {}});
        break;
    case 2:
        put(worker::Request {7, toJson(DevicesRequest {}), false});
        put(worker::Request {7, toJson(DevicesRequest {}), false});
        break;
    case 3:
        put(worker::Request {0, toJson(DevicesRequest {}), false});
        break;
    case 4:
        put(worker::Request {1, "{", true});
        put(worker::Request {2, "{", true});
        break;
    case 5:
        QVERIFY(writer.write(77, {}, bytes));
        break;
    default:
        QVERIFY(writer.write(12, std::vector<std::byte>(3), bytes));
        break;
    }
    client.sendBytes(bytes);
    QCOMPARE(QByteArray::fromStdString(failureCode(client, 0)), code);
    QCOMPARE(client.exitCode(), 10);
}

void WorkerEndsTest::watchdogEndsIt()
{
    const auto client = connected({"--watchdog", "1"});
    QVERIFY(client);
    client->silent = true;
    client->request(1, longProbe());
    QCOMPARE(failureCode(*client, 0), std::string("worker.watchdog"));
    QCOMPARE(client->until<Bye>()->exitCode, 12);
    QCOMPARE(client->exitCode(), 12);
}

void WorkerEndsTest::heartbeatsKeepItAlive()
{
    const auto client = connected({"--watchdog", "3"});
    QVERIFY(client);
    client->next(5000); // sends a heartbeat each second
    QVERIFY(client->heartbeats >= 2);
    client->send(Barrier {1});
    QVERIFY(client->until<Barrier>());
}

void WorkerEndsTest::killedWorkerLeavesAWholePrefix()
{
    // The whole run first: what a killed one tells must be its beginning.
    const auto client = connected();
    QVERIFY(client);
    client->request(1, longProbe());
    QVERIFY(client->result());
    Spool whole;
    QVERIFY(whole.takeAll(client->passed));
    const std::size_t messages = client->passed.size();

    std::mt19937 dice(29);
    for (int round = 0; round < 6; ++round) {
        const auto victim = connected();
        QVERIFY(victim);
        victim->request(1, longProbe());
        Spool spool;
        // So many messages, and then some time in which it may be writing the next one.
        bool done = false;
        for (std::size_t count = dice() % messages; count > 0 && !done; --count) {
            const std::optional<Message> message = victim->next();
            QVERIFY(message && spool.take(*message));
            done = std::holds_alternative<Done>(*message); // batches differ in number from run to run
        }
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 30'000));
        ::kill(static_cast<pid_t>(victim->process().processId()), SIGKILL);
        while (const std::optional<Message> message = victim->next())
            QVERIFY(spool.take(*message));
        QVERIFY2(victim->error.empty(), victim->error.c_str());
        QCOMPARE(victim->exitCode(), -2);
        if (!spool.log)
            continue;
        const std::vector<Event>& events = spool.log->events();
        QVERIFY(events.size() <= whole.log->events().size());
        QVERIFY(std::equal(events.begin(), events.end(), whole.log->events().begin()));
        QVERIFY(spool.log->finalState().ok());
    }
}

QTEST_GUILESS_MAIN(WorkerEndsTest)
#include "tst_worker_ends.moc"
