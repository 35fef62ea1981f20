// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "client_fixture.h"
#include "fake_worker.h"

#include "support/wire_mutation.h"
#include "worker/frame.h"
#include "worker/protocol.h"
#include "worker/request_json.h"

#include <QApplication>
#include <QFile>
#include <QTemporaryDir>

#include <random>
#include <thread>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;
using S = WorkerState;

namespace {

/// Frames one after another, as a worker sends them.
class Stream
{
public:
    Stream& add(const worker::Message& message)
    {
        return addRaw(static_cast<std::uint8_t>(worker::typeOf(message)), worker::encode(message));
    }
    Stream& addRaw(std::uint8_t type, const std::vector<std::byte>& payload)
    {
        std::vector<std::byte> out;
        (void)m_writer.write(type, payload, out);
        bytes.append(reinterpret_cast<const char*>(out.data()), out.size());
        return *this;
    }

    std::string bytes;

private:
    worker::FrameWriter m_writer {};
};

worker::Hello workerHello()
{
    worker::Hello out;
    out.product = "kvw";
    out.version = "9.9";
    out.heartbeatSeconds = 1;
    return out;
}

std::size_t helloBytes()
{
    return Stream().add(workerHello()).bytes.size();
}

worker::Phase phase(ProbePhase which, bool begins)
{
    worker::Phase out;
    out.id = 1;
    out.phase = which;
    out.begins = begins;
    return out;
}

/// A stream that begins a run properly.
Stream begun()
{
    Stream out;
    out.add(workerHello()).add(worker::Accepted {1, "probe", {"setup", "reserve", "steps"}});
    return out;
}

} // namespace

/// Workers that lie, stammer, fall silent or are of another time.
class WorkerFaultsTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void notTheProtocol_data();
    void notTheProtocol();
    void endsByItself_data();
    void endsByItself();
    void noSuchProgram();
    void neverAnswers();
    void stopsAnswering();
    void doesNotHearTheCancel();
    void doesNotStop();
    void otherPools();
    void mutatedStreams();
    void randomStreams();

private:
    ClientSettings fake(const std::string& bytes, std::size_t first, std::size_t piece, const QString& end);
    std::string realStream();

    QTemporaryDir m_folder;
    int m_files = 0;
};

void WorkerFaultsTest::initTestCase()
{
    QVERIFY(m_folder.isValid());
}

ClientSettings WorkerFaultsTest::fake(
    const std::string& bytes, std::size_t first, std::size_t piece, const QString& end)
{
    QFile file(m_folder.filePath(QString::number(++m_files)));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no room for the fake worker's words");
    file.write(bytes.data(), static_cast<qint64>(bytes.size()));
    ClientSettings out;
    out.program = QCoreApplication::applicationFilePath();
    out.arguments = {QStringLiteral("fake"), file.fileName(), QString::number(first), QString::number(piece), end};
    out.handshakeTime = 5'000;
    return out;
}

void WorkerFaultsTest::notTheProtocol_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const std::string& bytes, const char* sentence) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromUtf8(sentence);
    };
    row("text", "Welcome to the machine\n", "what its protocol does not allow");
    row("zeros", std::string(4096, '\0'), "what its protocol does not allow");
    worker::Hello other = workerHello();
    other.protocol = {2, 3};
    row("another version", Stream().add(other).bytes, "kvw 9.9 speaks 2 to 3");
    std::vector<std::byte> format;
    worker::putText(format, "KVWP\2{}");
    row("another frame format", Stream().addRaw(worker::helloType, format).bytes, "cannot be used");
    row("no hello first", Stream().addRaw(worker::helloType, {}).bytes, "what its protocol does not allow");
    row("a second hello", Stream().add(workerHello()).add(workerHello()).bytes, "a second hello");
    row("what only a client sends", Stream().add(workerHello()).add(worker::Stop {}).bytes, "found stop");
    row("a barrier that nobody asked for", Stream().add(workerHello()).add(worker::Barrier {7}).bytes, "found barrier");
    row("a request that nobody made", Stream().add(workerHello()).add(worker::Accepted {9, "probe", {}}).bytes,
        "a request that is not open");
    row("news before it is accepted", Stream().add(workerHello()).add(worker::Samples {1, {{}}}).bytes,
        "found samples");
    row("accepted twice", begun().add(worker::Accepted {1, "probe", {"setup"}}).bytes, "found accepted");
    row("phases of another trade", Stream().add(workerHello()).add(worker::Accepted {1, "probe", {"baking"}}).bytes,
        "the phases are not those of a probe");
    row("an end without a beginning", begun().add(phase(ProbePhase::Steps, false)).bytes, "out of order");
    row("two phases at once", begun().add(phase(ProbePhase::Setup, true)).add(phase(ProbePhase::Steps, true)).bytes,
        "out of order");
    row("a phase that was not announced", begun().add(phase(ProbePhase::Release, true)).bytes, "out of order");
    row("events without a log", begun().add(worker::Events {1, 0, {{}}}).bytes, "does not allow");
    row("a log that is none", begun().add(worker::LogHeader {1, "{}"}).bytes, "does not allow");
    row("evidence that is none", begun().add(worker::Evidence {1, "[{}]", false}).bytes, "does not allow");
}

void WorkerFaultsTest::notTheProtocol()
{
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, sentence);
    for (const std::size_t piece : {std::size_t(1), std::size_t(100'000)}) {
        const std::size_t first = bytes.startsWith(Stream().add(workerHello()).bytes.c_str()) ? helloBytes() : 0;
        Watched watched(m_folder.path(),
            fake(bytes.toStdString(), first == 0 ? static_cast<std::size_t>(bytes.size()) : first, piece,
                QStringLiteral("hang")));
        const Plan plan = smallPlan();
        const auto end = watched.run(orderOf(plan, QStringLiteral("run1")));
        QVERIFY(end);
        QVERIFY(watched.reaches(S::Dead));
        QVERIFY2(end->how == RunEnd::How::Died, qPrintable(end->sentence));
        QVERIFY2(end->sentence.contains(sentence), qPrintable(end->sentence));
        QVERIFY(end->sentence.startsWith(QStringLiteral("The worker ")) && end->sentence.endsWith(QLatin1Char('.')));
        QVERIFY(watched.legal);
        QVERIFY(!end->complete);
    }
}

void WorkerFaultsTest::endsByItself_data()
{
    QTest::addColumn<QString>("how");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("code 0") << QStringLiteral("exit") << QStringLiteral("The worker ended by itself");
    QTest::newRow("code 7") << QStringLiteral("exit7") << QStringLiteral("The worker ended with exit code 7");
    QTest::newRow("abort") << QStringLiteral("abort") << QStringLiteral("The worker gave up (signal 6)");
}

void WorkerFaultsTest::endsByItself()
{
    QFETCH(const QString, how);
    QFETCH(const QString, sentence);
    Stream stream = begun();
    stream.add(phase(ProbePhase::Setup, true));
    Watched watched(m_folder.path(), fake(stream.bytes, helloBytes(), 7, how));
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(end);
    QVERIFY(end->how == RunEnd::How::Died);
    QCOMPARE(end->sentence, sentence + QStringLiteral(" in the phase \"Predict\"."));
    QVERIFY(end->progress.phases.at(0).state == PhaseStatus::State::CutShort);
}

void WorkerFaultsTest::noSuchProgram()
{
    ClientSettings settings;
    settings.program = QStringLiteral("/nowhere/kvw");
    Watched watched(m_folder.path(), settings);
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(end && end->how == RunEnd::How::Died);
    QVERIFY2(end->sentence.contains(QStringLiteral("/nowhere/kvw")), qPrintable(end->sentence));
    // A program that is not for this machine.
    QFile file(m_folder.filePath("broken"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("\x7f"
               "ELF and nothing more");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    settings.program = file.fileName();
    Watched broken(m_folder.path(), settings);
    const auto other = broken.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(other && other->how == RunEnd::How::Died);
    QVERIFY2(other->sentence.startsWith(QStringLiteral("The worker ")), qPrintable(other->sentence));
    QVERIFY(broken.reaches(S::Dead));
}

void WorkerFaultsTest::neverAnswers()
{
    ClientSettings settings = fake({}, 0, 1, QStringLiteral("hang"));
    settings.handshakeTime = 1'000;
    Watched watched(m_folder.path(), settings);
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(end && end->how == RunEnd::How::Died);
    QCOMPARE(end->sentence, QStringLiteral("The worker did not answer within 1 seconds and was killed."));
}

void WorkerFaultsTest::stopsAnswering()
{
    Stream stream = begun();
    stream.add(phase(ProbePhase::Setup, true));
    ClientSettings settings = fake(stream.bytes, helloBytes(), 1000, QStringLiteral("hang"));
    settings.heartbeatTime = 100;
    settings.silenceTime = 1'000;
    Watched watched(m_folder.path(), settings);
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(end && end->how == RunEnd::How::Died);
    QCOMPARE(end->sentence,
        QStringLiteral(
            "The worker stopped answering in the phase \"Predict\": nothing was heard for 1 seconds. It was killed."));
}

void WorkerFaultsTest::doesNotHearTheCancel()
{
    ClientSettings settings = fake(begun().bytes, helloBytes(), 1000, QStringLiteral("hang"));
    settings.cancelTime = 500;
    Watched watched(m_folder.path(), settings);
    watched.client().run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(watched.reaches(S::Busy));
    watched.client().cancel();
    const auto end = watched.end();
    QVERIFY(end && end->how == RunEnd::How::Died);
    QVERIFY2(end->sentence.contains(QStringLiteral("after it was cancelled")), qPrintable(end->sentence));
}

void WorkerFaultsTest::doesNotStop()
{
    ClientSettings settings = fake(Stream().add(workerHello()).bytes, helloBytes(), 1000, QStringLiteral("hang"));
    settings.stopTime = 500;
    Watched watched(m_folder.path(), settings);
    watched.client().askDevices();
    QVERIFY(watched.reaches(S::Idle));
    watched.client().stop();
    QVERIFY(watched.reaches(S::Dead));
    QVERIFY(watched.client().sentence().contains(QStringLiteral("did not stop")));
}

/// A worker that would reserve something else than was shown is told to stop.
void WorkerFaultsTest::otherPools()
{
    worker::Phase reserve = phase(ProbePhase::Reserve, true);
    reserve.reservation = PoolReservation {};
    reserve.reservation->pools.push_back({Bytes(4096), Blocks(7), Blocks(1)});
    Stream stream = begun();
    stream.add(phase(ProbePhase::Setup, true)).add(phase(ProbePhase::Setup, false)).add(reserve);
    stream.add(worker::Failed {1, Error {"run.cancelled", "cancelled before the first step"}});
    Watched watched(m_folder.path(), fake(stream.bytes, helloBytes(), 1000, QStringLiteral("hang")));
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(end);
    QVERIFY(end->how == RunEnd::How::Failed);
    QVERIFY2(end->sentence.contains(QStringLiteral("other pools")), qPrintable(end->sentence));
    QVERIFY(watched.reaches(S::Idle));
}

/// What a real worker says in a run.
std::string WorkerFaultsTest::realStream()
{
    QProcess process;
    process.start(QString::fromLocal8Bit(std::getenv("KVW_BINARY")), {QStringLiteral("worker")});
    Stream mine;
    worker::Hello hello;
    hello.product = "test";
    worker::ProbeRequest request;
    request.plan = smallPlan();
    request.options.ceilings = false;
    mine.add(hello).add(worker::Request {1, worker::toJson(request), false});
    process.write(mine.bytes.data(), static_cast<qint64>(mine.bytes.size()));
    std::string out;
    worker::FrameReader reader;
    for (;;) {
        if (!process.waitForReadyRead(longTime))
            return {};
        const QByteArray bytes = process.readAllStandardOutput();
        out.append(bytes.data(), static_cast<std::size_t>(bytes.size()));
        reader.add(std::as_bytes(std::span(bytes.data(), static_cast<std::size_t>(bytes.size()))));
        for (;;) {
            const Result<std::optional<worker::Frame>> frame = reader.next();
            if (!frame)
                return {};
            if (!*frame)
                break;
            if ((*frame)->type == static_cast<std::uint8_t>(worker::MessageType::Result)) {
                process.closeWriteChannel();
                process.waitForFinished();
                return out;
            }
        }
    }
}

void WorkerFaultsTest::mutatedStreams()
{
    const char* binary = std::getenv("KVW_BINARY");
    if (!binary || !*binary)
        QSKIP("the program kvw is not built");
    const std::string whole = realStream();
    QVERIFY(!whole.empty());
    const std::size_t hello = worker::getNumber(std::as_bytes(std::span(whole)), 4) + worker::frameHeaderBytes;
    // Unchanged it is a whole run.
    {
        Watched watched(m_folder.path(), fake(whole, hello, 4096, QStringLiteral("hang")));
        const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("replay")));
        QVERIFY(end);
        QVERIFY2(end->complete, qPrintable(end->sentence));
    }
    std::mt19937 dice(41);
    int unharmed = 0;
    const char* scale = std::getenv("KVW_TEST_SCALE");
    const int rounds = 120 * std::max(1, scale ? std::atoi(scale) : 1);
    for (int round = 0; round < rounds; ++round) {
        const std::string bytes = mutated(whole, dice);
        Watched watched(
            m_folder.path(), fake(bytes, std::min(hello, bytes.size()), 1 + dice() % 9000, QStringLiteral("exit")));
        const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("fuzz%1").arg(round)));
        QVERIFY2(end, qPrintable(QStringLiteral("round %1").arg(round)));
        QVERIFY(watched.legal);
        unharmed += end->complete ? 1 : 0;
        // A clear sentence, or a result.
        QVERIFY2(end->how == RunEnd::How::Done || !end->sentence.isEmpty(), qPrintable(QString::number(round)));
        QVERIFY(watched.reaches(S::Dead));
        QVERIFY(!watched.client().sentence().isEmpty());
    }
    qInfo("%d of %d changed streams passed for a whole run", unharmed, rounds);
    QVERIFY(unharmed < rounds / 2);
}

void WorkerFaultsTest::randomStreams()
{
    std::mt19937 dice(43);
    for (int round = 0; round < 40; ++round) {
        Stream stream;
        if (round % 2 == 0)
            stream.add(workerHello());
        for (std::size_t frames = round % 4 == 3 ? 0 : dice() % 20; frames > 0; --frames) {
            std::vector<std::byte> payload(dice() % 60);
            for (std::byte& byte : payload)
                byte = static_cast<std::byte>(dice());
            stream.addRaw(static_cast<std::uint8_t>(dice() % 18), payload);
        }
        for (std::size_t count = dice() % 300; count > 0; --count)
            stream.bytes.push_back(static_cast<char>(dice()));
        const std::size_t first = round % 2 == 0 ? helloBytes() : stream.bytes.size();
        Watched watched(m_folder.path(), fake(stream.bytes, first, 1 + dice() % 50, QStringLiteral("exit")));
        const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("random%1").arg(round)));
        QVERIFY(end);
        QVERIFY(end->how == RunEnd::How::Died);
        QVERIFY2(end->sentence.startsWith(QStringLiteral("The worker ")), qPrintable(end->sentence));
        QVERIFY(watched.reaches(S::Dead));
    }
}

int main(int argc, char** argv)
{
    if (argc == 6 && std::string(argv[1]) == "fake")
        return fakeWorker(argv);
    QApplication app(argc, argv);
    WorkerFaultsTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_worker_faults.moc"
