// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// What a broken client may send to a worker process.

#include "support/wire_mutation.h"
#include "worker_client.h"

#include <QTest>

#include <random>

using namespace kvw;
using namespace kvw::worker;
using namespace kvw::test;

namespace {

std::string clientStream(const std::vector<Message>& messages)
{
    FrameWriter writer;
    std::vector<std::byte> out;
    for (const Message& message : messages)
        (void)writer.write(static_cast<std::uint8_t>(typeOf(message)), encode(message), out);
    return {reinterpret_cast<const char*>(out.data()), out.size()};
}

/// Sends the bytes, closes the worker's input, and gives back its exit code (−2: a signal) and what it wrote.
struct Told
{
    int code = -1;
    QByteArray output;
    QByteArray log;
};

Told tell(const std::string& bytes)
{
    QProcess process;
    process.start(QString::fromLocal8Bit(std::getenv("KVW_BINARY")), {"worker"});
    process.write(bytes.data(), static_cast<qint64>(bytes.size()));
    process.closeWriteChannel();
    Told out;
    if (!process.waitForFinished(60'000))
        return out;
    out.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    out.output = process.readAllStandardOutput();
    out.log = process.readAllStandardError();
    return out;
}

/// True when what the worker wrote is whole frames, from a hello to a bye that names its exit code.
bool isOrderly(const Told& told)
{
    FrameReader reader;
    reader.add(std::as_bytes(std::span(told.output.data(), static_cast<std::size_t>(told.output.size()))));
    std::optional<Message> last;
    for (;;) {
        const Result<std::optional<Frame>> frame = reader.next();
        if (!frame)
            return false;
        if (!*frame)
            break;
        const Result<Message> message = decode(**frame);
        if (!message)
            return false;
        last = *message;
    }
    const auto* bye = last ? std::get_if<Bye>(&*last) : nullptr;
    return bye && bye->exitCode == told.code && reader.pending() == 0;
}

} // namespace

class WorkerFuzzTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void changedStreams();
    void noise();
};

void WorkerFuzzTest::initTestCase()
{
    if (!prepareWorkerTest())
        QSKIP("the program kvw is not built");
}

void WorkerFuzzTest::changedStreams()
{
    std::mt19937 dice(59);
    const std::string stream
        = clientStream({WorkerClient::hello(), worker::Request {1, toJson(DevicesRequest {}), false}, Heartbeat {},
            worker::Request {2, toJson(smallProbe()), false}, Cancel {2}, Barrier {7}, Stop {}});
    const Told whole = tell(stream);
    QCOMPARE(whole.code, 0);
    QVERIFY(isOrderly(whole));
    int refused = 0;
    for (int round = 0; round < 100; ++round) {
        const Told told = tell(mutated(stream, dice));
        QVERIFY2(told.code == 0 || told.code == 10 || told.code == 11,
            qPrintable(QStringLiteral("round %1: %2, %3").arg(round).arg(told.code).arg(QString::fromUtf8(told.log))));
        QVERIFY2(isOrderly(told), qPrintable(QString::number(round)));
        refused += told.code == 0 ? 0 : 1;
        QCOMPARE(told.log.isEmpty(), told.code == 0);
    }
    QVERIFY(refused > 50);
}

void WorkerFuzzTest::noise()
{
    std::mt19937 dice(61);
    for (int round = 0; round < 60; ++round) {
        std::string bytes = round % 2 == 0 ? clientStream({WorkerClient::hello()}) : std::string();
        for (std::size_t count = 1 + dice() % 400; count > 0; --count)
            bytes.push_back(static_cast<char>(dice()));
        const Told told = tell(bytes);
        QVERIFY2(told.code == 10, qPrintable(QString::number(told.code)));
        QVERIFY(isOrderly(told));
        QVERIFY(told.log.startsWith("kvw worker: "));
    }
}

QTEST_GUILESS_MAIN(WorkerFuzzTest)
#include "tst_worker_fuzz.moc"
