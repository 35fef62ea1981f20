// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_file.h"
#include "cache/event_log.h"
#include "small_run.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/resource.h>

using namespace kvw;

namespace {

void write(const QString& path, const QByteArray& content)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(content), content.size());
}

bool isPrefix(const std::vector<Event>& part, const std::vector<Event>& whole)
{
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// A file of chunks that are whole and carry the right check, whatever is in them.
class Forgery
{
public:
    explicit Forgery(const QString& path)
        : m_writer(EventFileWriter::create(path.toStdString()))
    {}
    Forgery& add(ChunkKind kind, const std::string& payload)
    {
        m_ok = m_ok && m_writer && m_writer->write(kind, std::as_bytes(std::span(payload))).ok();
        return *this;
    }
    Forgery& add(const std::vector<Event>& events)
    {
        m_ok = m_ok && m_writer && m_writer->write(ChunkKind::Events, std::as_bytes(std::span(events))).ok();
        return *this;
    }
    Forgery& header() { return add(ChunkKind::Header, headerToJson(SmallRun::header())); }
    bool ok() const { return m_ok; }

private:
    Result<EventFileWriter> m_writer;
    bool m_ok = true;
};

} // namespace

class EventLogTest : public QObject
{
    Q_OBJECT
private slots:
    void init();
    void roundTrip_data();
    void roundTrip();
    void everyTruncationReads();
    void everyFlippedBitIsNoticed();
    void unfinishedRunReads();
    void keyframesEqualReplay_data();
    void keyframesEqualReplay();
    void contradictionIsKeptAndReported();
    void refusesForgedHeaders_data();
    void refusesForgedHeaders();
    void refusesForgedChunks();
    void refusesOtherFiles();
    void writeFailureKeepsTheMemory();

private:
    QString path(const char* name = "log") const { return m_folder->filePath(QLatin1String(name)); }
    std::unique_ptr<EventLog> written(std::size_t keyframeEvents, bool finish = true);
    std::string errorOf(const QString& file);

    std::unique_ptr<QTemporaryDir> m_folder;
};

void EventLogTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
}

std::unique_ptr<EventLog> EventLogTest::written(std::size_t keyframeEvents, bool finish)
{
    Result<std::unique_ptr<EventLog>> log = EventLog::create(SmallRun::header(), path().toStdString(), keyframeEvents);
    if (!log)
        return nullptr;
    SmallRun::play(**log);
    if (finish ? !(*log)->finish() : !(*log)->flush())
        return nullptr;
    return std::move(log).value();
}

/// Code and place of the error that opening gives; "" when it opens.
std::string EventLogTest::errorOf(const QString& file)
{
    const Result<std::unique_ptr<EventLog>> log = EventLog::open(file.toStdString());
    return log ? "" : log.error().code + " " + log.error().where.at;
}

void EventLogTest::roundTrip_data()
{
    QTest::addColumn<int>("keyframeEvents");
    QTest::newRow("a keyframe at every event") << 1;
    QTest::newRow("now and then") << 10;
    QTest::newRow("default") << 0;
}

void EventLogTest::roundTrip()
{
    QFETCH(int, keyframeEvents);
    const std::unique_ptr<EventLog> log = written(static_cast<std::size_t>(keyframeEvents));
    QVERIFY(log);
    QVERIFY(log->events().size() > 60);
    for (int kind = 1; kind <= 9; ++kind) {
        const auto has = [kind](const Event& event) { return static_cast<int>(event.kind) == kind; };
        QVERIFY2(std::any_of(log->events().begin(), log->events().end(), has), qPrintable(QString::number(kind)));
    }
    const Result<std::unique_ptr<EventLog>> opened = EventLog::open(path().toStdString());
    QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
    const EventLog& read = **opened;
    QVERIFY(read.complete());
    QVERIFY(read.events() == log->events());
    QVERIFY(read.digests() == log->digests());
    QVERIFY(*read.finalState() == *log->finalState());
    QCOMPARE(headerToJson(read.header()), headerToJson(log->header()));
    QCOMPARE(read.header().tenants[1], log->header().tenants[1]);
    QVERIFY(read.header().layout.groups[1].window == std::int64_t {6});
    QVERIFY(!read.header().layout.groups[0].window);
}

/// Whatever was cut off, what is left reads up to the last whole chunk.
void EventLogTest::everyTruncationReads()
{
    const std::unique_ptr<EventLog> log = written(20);
    QVERIFY(log);
    QFile file(path());
    std::size_t least = log->events().size();
    bool noHeader = false;
    for (qint64 length = file.size() - 1; length >= 0; --length) {
        QVERIFY(file.resize(length));
        const Result<std::unique_ptr<EventLog>> cut = EventLog::open(path().toStdString());
        if (!cut) {
            QVERIFY2(least == 0, qPrintable(QString::number(length)));
            QCOMPARE(cut.error().code, std::string("events.format"));
            noHeader = true;
            continue;
        }
        QVERIFY(!noHeader && !(*cut)->complete());
        QVERIFY((*cut)->events().size() <= least && isPrefix((*cut)->events(), log->events()));
        least = (*cut)->events().size();
    }
    QVERIFY(noHeader);
}

/// A flipped bit is an error with its place; in a length it may look like a cut, then the rest is a prefix.
void EventLogTest::everyFlippedBitIsNoticed()
{
    const std::unique_ptr<EventLog> log = written(20);
    QVERIFY(log);
    QFile file(path());
    QVERIFY(file.open(QIODevice::ReadWrite | QIODevice::Unbuffered));
    const QByteArray whole = file.readAll();
    const auto put = [&file](qint64 at, char byte) { return file.seek(at) && file.putChar(byte); };
    int errors = 0;
    for (int i = 0; i < whole.size(); ++i) {
        QVERIFY(put(i, static_cast<char>(whole[i] ^ (1 << (i % 8)))));
        const Result<std::unique_ptr<EventLog>> read = EventLog::open(path().toStdString());
        QVERIFY(put(i, whole[i]));
        if (read) {
            QVERIFY2(
                !(*read)->complete() && isPrefix((*read)->events(), log->events()), qPrintable(QString::number(i)));
            continue;
        }
        QVERIFY(!read.error().where.at.empty());
        ++errors;
    }
    QVERIFY(errors > whole.size() * 9 / 10);
}

void EventLogTest::unfinishedRunReads()
{
    {
        const std::unique_ptr<EventLog> log = written(0, false);
        QVERIFY(log);
        const Result<std::unique_ptr<EventLog>> during = EventLog::open(path().toStdString());
        QVERIFY(during.ok());
        QVERIFY(!(*during)->complete());
        QVERIFY((*during)->events() == log->events());
        Event last;
        last.kind = EventKind::Complete;
        last.step = 1000;
        log->add(last);
    }
    const Result<std::unique_ptr<EventLog>> after = EventLog::open(path().toStdString());
    QVERIFY(after.ok());
    QVERIFY(!(*after)->complete());
    QVERIFY((*after)->events().back().kind == EventKind::Complete);
}

void EventLogTest::keyframesEqualReplay_data()
{
    QTest::addColumn<int>("keyframeEvents");
    QTest::newRow("1") << 1;
    QTest::newRow("7") << 7;
    QTest::newRow("50") << 50;
    QTest::newRow("none") << 1'000'000;
}

void EventLogTest::keyframesEqualReplay()
{
    QFETCH(int, keyframeEvents);
    EventLog log(SmallRun::header(), static_cast<std::size_t>(keyframeEvents));
    SmallRun::play(log, 8);
    const std::uint32_t last = log.events().back().step;
    BlockMap replayed(log.header().layout);
    std::size_t next = 0;
    for (std::uint32_t step = 0; step <= last + 2; ++step) {
        for (; next < log.events().size() && log.events()[next].step <= step; ++next)
            QVERIFY(replayed.apply(log.events()[next]).ok());
        const Result<BlockMap> state = log.stateAfter(step);
        QVERIFY(state.ok());
        QVERIFY2(*state == replayed, qPrintable(QString::number(step)));
        for (std::size_t pool = 0; pool < 2; ++pool) {
            std::int64_t sum = 0;
            for (const BlockCount& row : countBlocks(log.header(), *state)) {
                if (row.pool == std::to_string(pool))
                    sum += row.blocks;
            }
            QCOMPARE(sum, log.header().layout.pools[pool].blocks.value);
        }
    }
    QVERIFY(*log.finalState() == replayed);
}

void EventLogTest::contradictionIsKeptAndReported()
{
    EventLog log(SmallRun::header());
    Event event;
    event.kind = EventKind::Allocate;
    event.block = 4;
    event.step = 1;
    log.add(event);
    event.step = 2;
    log.add(event); // allocated twice
    event.step = 3;
    event.block = 5;
    log.add(event);
    QCOMPARE(log.events().size(), std::size_t {3});
    QVERIFY(log.stateAfter(1).ok());
    QVERIFY(!log.stateAfter(2).ok());
    QCOMPARE(log.stateAfter(3).error().code, std::string("events.inconsistent"));
    QCOMPARE(log.finalState().error().code, std::string("events.inconsistent"));
}

void EventLogTest::refusesForgedHeaders_data()
{
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QByteArray>("error");
    const auto row = [](const char* from, const char* to, const char* error) {
        QTest::newRow(to) << QByteArray(from) << QByteArray(to) << QByteArray(error);
    };
    row("\"version\":1", "\"version\":2", "events.version ");
    row("\"version\":1", "\"version\":0", "json.range /version");
    row("\"version\":1,", " ", "events.format ");
    row("\"plan\":\"p1\"", "\"plan\":1", "json.type /plan");
    row("\"blocks\":10", "\"blocks\":4000000000", "json.range /pools/0/blocks");
    row("\"blocks\":10", "\"blocks\":33554432", "json.range /pools/1/blocks"); // the two together
    row("\"blocks\":10", "\"blocks\":-1", "json.range /pools/0/blocks");
    row("\"held\":2", "\"held\":8", "json.range /pools/1/held");
    row("\"pool\":1", "\"pool\":2", "json.range /groups/1/pool");
    row("\"kind\":\"sliding\"", "\"kind\":\"gliding\"", "events.format /groups/1");
    row("\"window\":6", "\"window\":0", "json.range /groups/1/window");
    row("\"block_tokens\":4,\"window\"", "\"block_tokens\":0,\"window\"", "json.range /groups/1/block_tokens");
    row("\"tenants\":[", "\"tenants\":3,\"x\":[", "events.format /tenants");
    row("\"tenants\":[", "\"tenants\":[3,", "json.type /tenants/0");
    row("{\"version\"", "{{\"version\"", "json.syntax line 1, column 2");
    row("\"rank\":2", "\"rank\":2,\"rank\":2", "json.duplicate_key /rank");
}

void EventLogTest::refusesForgedHeaders()
{
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QByteArray, error);
    QByteArray json = QByteArray::fromStdString(headerToJson(SmallRun::header()));
    QVERIFY2(json.contains(from), json.constData());
    json.replace(from, to);
    QVERIFY(Forgery(path()).add(ChunkKind::Header, json.toStdString()).ok());
    const std::string found = errorOf(path());
    QVERIFY2(QByteArray::fromStdString(found).startsWith(error), found.c_str());
}

void EventLogTest::refusesForgedChunks()
{
    Event event;
    event.kind = EventKind::Allocate;
    event.block = 3;
    const std::string place = std::to_string(headerToJson(SmallRun::header()).size() + 16);
    const std::string first = std::to_string(headerToJson(SmallRun::header()).size() + 32);

    QVERIFY(Forgery(path()).header().add({event}).ok());
    QCOMPARE(errorOf(path()), std::string());
    QVERIFY(Forgery(path()).header().add({event, event}).ok());
    QCOMPARE(errorOf(path()), "events.inconsistent byte " + std::to_string(std::stoi(first) + 24));
    for (const int kind : {0, 17, 255}) {
        Event unknown;
        unknown.kind = static_cast<EventKind>(kind);
        QVERIFY(Forgery(path()).header().add({unknown}).ok());
        QCOMPARE(errorOf(path()), "events.inconsistent byte " + first);
    }
    Event index = event;
    index.kind = EventKind::Index;
    QVERIFY(Forgery(path()).header().add({event, index}).ok());
    QCOMPARE(errorOf(path()), "events.inconsistent byte " + std::to_string(std::stoi(first) + 24));
    QVERIFY(Forgery(path()).header().add(ChunkKind::Digests, std::string(16, 'x')).add({event, index}).ok());
    QCOMPARE(errorOf(path()), std::string());

    QVERIFY(Forgery(path()).add({event}).ok());
    QCOMPARE(errorOf(path()), std::string("events.format byte 0"));
    QVERIFY(Forgery(path()).header().header().ok());
    QCOMPARE(errorOf(path()), "events.format byte " + place);
    for (const auto& [kind, size] :
        {std::pair {ChunkKind::Events, 25}, std::pair {ChunkKind::Digests, 15}, std::pair {ChunkKind::Keyframe, 3},
            std::pair {ChunkKind::End, 17}, std::pair {static_cast<ChunkKind>(1), 24}}) {
        QVERIFY(Forgery(path()).header().add(kind, std::string(static_cast<std::size_t>(size), 'x')).ok());
        QCOMPARE(errorOf(path()), "events.format byte " + place);
    }
    QVERIFY(Forgery(path()).header().add(ChunkKind::Keyframe, std::string(100, 'x')).ok());
    QCOMPARE(errorOf(path()), "events.inconsistent byte " + place);
    QVERIFY(Forgery(path()).header().add(ChunkKind::End, std::string(16, '\1')).ok());
    QCOMPARE(errorOf(path()), "events.inconsistent byte " + place);
    QVERIFY(Forgery(path()).header().add(ChunkKind::End, std::string(16, '\0')).add({event}).ok());
    QCOMPARE(errorOf(path()), "events.format byte " + std::to_string(std::stoi(place) + 32));
}

void EventLogTest::refusesOtherFiles()
{
    QVERIFY(QByteArray::fromStdString(errorOf(path("absent"))).startsWith("io.open"));
    QVERIFY(QByteArray::fromStdString(errorOf(m_folder->path())).startsWith("io.open"));
    write(path(), QByteArray());
    QCOMPARE(errorOf(path()), std::string("events.format byte 0"));
    write(path(), QByteArray(1000, 'x'));
    QCOMPARE(errorOf(path()), std::string("events.format byte 0"));
    QVERIFY(!EventLog::create(SmallRun::header(), path("absent/log").toStdString()).ok());
    QCOMPARE(EventLog::create(SmallRun::header(), "/dev/full").error().code, std::string("io.write"));
}

/// The file system refuses to take more: the run goes on in memory, the file stays readable, and a later flush catches
/// up.
void EventLogTest::writeFailureKeepsTheMemory()
{
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old {};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &old), 0);
    Result<std::unique_ptr<EventLog>> log = EventLog::create(SmallRun::header(), path().toStdString(), 25);
    QVERIFY(log.ok());
    EventLog& running = **log;
    rlimit tight = old;
    tight.rlim_cur = static_cast<rlim_t>(QFile(path()).size()) + 500;
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    SmallRun::play(running, 8);
    const Result<void> refused = running.flush();
    const Result<void> unfinished = running.finish();
    const std::size_t sizeThen = static_cast<std::size_t>(QFile(path()).size());
    const Result<std::unique_ptr<EventLog>> part = EventLog::open(path().toStdString());
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &old), 0);
    std::signal(SIGXFSZ, before);

    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, std::string("io.write"));
    QVERIFY(!unfinished.ok());
    QVERIFY(!running.complete());
    QVERIFY(sizeThen <= tight.rlim_cur);
    QVERIFY(part.ok());
    QVERIFY(isPrefix((*part)->events(), running.events()));
    QVERIFY((*part)->events().size() < running.events().size());
    QVERIFY(running.finalState().ok());
    QVERIFY(running.finish().ok());
    const Result<std::unique_ptr<EventLog>> whole = EventLog::open(path().toStdString());
    QVERIFY(whole.ok());
    QVERIFY((*whole)->complete());
    QVERIFY((*whole)->events() == running.events());
    QVERIFY((*whole)->digests() == running.digests());
}

QTEST_APPLESS_MAIN(EventLogTest)
#include "tst_event_log.moc"
