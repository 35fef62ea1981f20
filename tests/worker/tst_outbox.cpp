// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/outbox.h"
#include "worker/wire_sink.h"

#include <QElapsedTimer>
#include <QTest>

#include <array>
#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace kvw;
using namespace kvw::worker;
using namespace std::chrono_literals;

namespace {

/// A pipe, and the messages that come out of it.
class Pipe
{
public:
    Pipe()
    {
        std::array<int, 2> ends {};
        const bool made = ::pipe(ends.data()) == 0;
        Q_ASSERT(made);
        m_read = ends[0];
        write = ends[1];
    }
    ~Pipe()
    {
        closeReader();
        ::close(write);
    }

    /// Messages until one of `type` came, or nothing came for a while.
    std::vector<Message> until(MessageType type)
    {
        std::vector<Message> out;
        for (;;) {
            while (std::optional<Message> message = next()) {
                out.push_back(std::move(*message));
                if (typeOf(out.back()) == type)
                    return out;
            }
            pollfd wait {m_read, POLLIN, 0};
            if (::poll(&wait, 1, 20'000) <= 0)
                return out;
            std::array<std::byte, 65536> buffer {};
            const ssize_t got = ::read(m_read, buffer.data(), buffer.size());
            if (got <= 0)
                return out;
            m_reader.add(std::span(buffer).first(static_cast<std::size_t>(got)));
        }
    }
    void closeReader()
    {
        if (m_read >= 0)
            ::close(m_read);
        m_read = -1;
    }

    int write = -1;

private:
    std::optional<Message> next()
    {
        Result<std::optional<Frame>> frame = m_reader.next();
        if (!frame || !*frame)
            return std::nullopt;
        const Result<Message> message = decode(**frame);
        return message ? std::optional(*message) : std::nullopt;
    }

    int m_read = -1;
    FrameReader m_reader {};
};

Hello hello()
{
    Hello out;
    out.product = "test";
    return out;
}

std::vector<Event> steps(std::uint32_t first, std::size_t count)
{
    std::vector<Event> out(count);
    for (std::size_t i = 0; i < count; ++i)
        out[i].step = first + static_cast<std::uint32_t>(i);
    return out;
}

template <typename T>
std::vector<T> only(const std::vector<Message>& messages)
{
    std::vector<T> out;
    for (const Message& message : messages) {
        if (const T* one = std::get_if<T>(&message))
            out.push_back(*one);
    }
    return out;
}

} // namespace

class OutboxTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase() { std::signal(SIGPIPE, SIG_IGN); }
    void keepsOrder();
    void beatsWhileBusy();
    void doesNotWaitForASlowReader();
    void sendWaitsForASlowReader();
    void noticesThatNobodyReads();
    void closeWakesWhoWaits();
    void endsWithAFullPipe();
    void joinsPieces();
    void batches();
    void timedPhaseHoldsBack();
    void timedPhaseCountsWhatOverflows();
};

void OutboxTest::keepsOrder()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h);
    QVERIFY(outbox.post(hello()));
    for (std::uint64_t i = 1; i <= 500; ++i)
        QVERIFY(outbox.post(Barrier {i}));
    QVERIFY(outbox.post(Bye {"done", 0}));
    const std::vector<Message> messages = pipe.until(MessageType::Bye);
    QCOMPARE(messages.size(), std::size_t(502));
    for (std::uint64_t i = 1; i <= 500; ++i)
        QCOMPARE(std::get<Barrier>(messages[i]).id, i);
    QVERIFY(outbox.drain(10s));
}

void OutboxTest::beatsWhileBusy()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 20ms);
    QTest::qWait(60); // no heartbeat before the hello
    QVERIFY(outbox.post(hello()));
    const std::vector<Message> messages = pipe.until(MessageType::Heartbeat);
    QCOMPARE(messages.size(), std::size_t(2));
    QVERIFY(std::holds_alternative<Hello>(messages[0]));
    QCOMPARE(pipe.until(MessageType::Heartbeat).size(), std::size_t(1));
}

void OutboxTest::doesNotWaitForASlowReader()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h, {1 << 20, 4 << 20});
    QVERIFY(outbox.post(hello()));
    const Done large {1, std::string(mostTextPiece, 'x'), false};
    int taken = 0;
    while (outbox.post(large) && taken < 100)
        ++taken;
    // Beyond its limit it gives up on the other side instead of growing.
    QVERIFY(taken >= 4 && taken < 10);
    QVERIFY(outbox.broken());
}

void OutboxTest::sendWaitsForASlowReader()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h, {1 << 20, 64 << 20});
    QVERIFY(outbox.post(hello()));
    std::atomic<int> sent = 0;
    std::thread sender([&] {
        for (int i = 0; i < 30 && outbox.send(Done {1, std::string(mostTextPiece, 'x'), false}); ++i)
            ++sent;
        outbox.send(Bye {"done", 0});
    });
    QTest::qWait(200);
    const int before = sent;
    const std::size_t got = pipe.until(MessageType::Bye).size();
    sender.join();
    QVERIFY(before < 30);
    QCOMPARE(sent.load(), 30);
    QCOMPARE(got, std::size_t(32));
}

void OutboxTest::noticesThatNobodyReads()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 10ms);
    QVERIFY(outbox.post(hello()));
    (void)pipe.until(MessageType::Hello);
    pipe.closeReader();
    QTRY_VERIFY(outbox.broken()); // by its heartbeat
    QVERIFY(!outbox.send(Barrier {1}));
    QVERIFY(!outbox.drain(1s));
}

void OutboxTest::closeWakesWhoWaits()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h, {1 << 20, 64 << 20});
    QVERIFY(outbox.post(hello()));
    std::atomic<bool> ended = false;
    std::thread sender([&] {
        while (outbox.send(Done {1, std::string(mostTextPiece, 'x'), false})) {}
        ended = true;
    });
    QTest::qWait(100);
    QVERIFY(!ended);
    outbox.close();
    sender.join();
    QVERIFY(!outbox.post(Barrier {1}));
}

void OutboxTest::endsWithAFullPipe()
{
    QElapsedTimer timer;
    timer.start();
    {
        Pipe pipe;
        Outbox outbox(pipe.write, 1h);
        QVERIFY(outbox.post(hello()));
        QVERIFY(outbox.post(Done {1, std::string(mostTextPiece, 'x'), false}));
        QVERIFY(!outbox.drain(200ms));
    }
    QVERIFY(timer.elapsed() < 10'000);
}

void OutboxTest::joinsPieces()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h);
    QVERIFY(outbox.post(hello()));
    std::thread sender([&] {
        for (const std::size_t length : {std::size_t(0), std::size_t(5), mostTextPiece, 2 * mostTextPiece + 1})
            sendPieces<Done>(outbox, 1 + length, std::string(length, 'x'));
        outbox.send(Bye {"done", 0});
    });
    const std::vector<Done> pieces = only<Done>(pipe.until(MessageType::Bye));
    sender.join();
    QCOMPARE(pieces.size(), std::size_t(6));
    TextJoiner joiner;
    std::vector<std::size_t> lengths;
    for (const Done& piece : pieces) {
        const Result<std::optional<std::string>> text = joiner.add(piece.id, piece.text, piece.more);
        QVERIFY(text.ok());
        if (*text)
            lengths.push_back((*text)->size());
    }
    QCOMPARE(lengths, (std::vector<std::size_t> {0, 5, mostTextPiece, 2 * mostTextPiece + 1}));
}

void OutboxTest::batches()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h);
    QVERIFY(outbox.post(hello()));
    const std::atomic<bool> cancelled = false;
    WireSink sink(outbox, 9, cancelled, false, {1000, 1000, 100, 1h});
    sink.phaseBegan(ProbePhase::Steps);
    sink.flush();
    for (std::uint32_t step = 0; step < 250; ++step) {
        sink.events(steps(step, 1));
        sink.step({step, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    }
    sink.phaseEnded(ProbePhase::Steps);
    QVERIFY(outbox.post(Bye {"done", 0}));
    const std::vector<Message> messages = pipe.until(MessageType::Bye);
    std::uint64_t next = 0;
    for (const Events& batch : only<Events>(messages)) {
        QCOMPARE(batch.id, std::uint64_t(9));
        QCOMPARE(batch.first, next);
        for (const Event& event : batch.events)
            QCOMPARE(event.step, static_cast<std::uint32_t>(next++));
    }
    QCOMPARE(next, std::uint64_t(250));
    QCOMPARE(only<Events>(messages).size(), std::size_t(3));
    std::size_t samples = 0;
    for (const Samples& batch : only<Samples>(messages))
        samples += batch.samples.size();
    QCOMPARE(samples, std::size_t(250));
    const Phase end = only<Phase>(messages).back();
    QCOMPARE(end.events, std::int64_t(250));
    QCOMPARE(end.overflow, (Overflow {}));
}

void OutboxTest::timedPhaseHoldsBack()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h);
    QVERIFY(outbox.post(hello()));
    const std::atomic<bool> cancelled = false;
    WireSink sink(outbox, 9, cancelled, true, {1000, 1000, 10, 0ms});
    sink.phaseBegan(ProbePhase::Steps);
    sink.events(steps(0, 300));
    sink.step({});
    QVERIFY(outbox.post(Barrier {1}));
    const std::vector<Message> during = pipe.until(MessageType::Barrier);
    QVERIFY(only<Phase>(during).back().timed);
    QVERIFY(only<Events>(during).empty() && only<Samples>(during).empty());
    sink.phaseEnded(ProbePhase::Steps);
    QVERIFY(outbox.post(Barrier {2}));
    const std::vector<Message> after = pipe.until(MessageType::Barrier);
    QCOMPARE(only<Events>(after).size(), std::size_t(1));
    QCOMPARE(only<Samples>(after).size(), std::size_t(1));
    QCOMPARE(typeOf(after[after.size() - 2]), MessageType::Phase); // events before the end of their phase
    QCOMPARE(only<Phase>(after).back().overflow, (Overflow {}));
}

void OutboxTest::timedPhaseCountsWhatOverflows()
{
    Pipe pipe;
    Outbox outbox(pipe.write, 1h);
    QVERIFY(outbox.post(hello()));
    const std::atomic<bool> cancelled = false;
    WireSink sink(outbox, 9, cancelled, true, {1000, 10, 10, 0ms});
    const std::vector<BlockKey> keys(3);
    sink.phaseBegan(ProbePhase::Steps);
    for (std::uint32_t i = 0; i < 15; ++i) {
        sink.digests(keys);
        sink.events(steps(i * 100, 100));
        sink.step({});
    }
    sink.phaseEnded(ProbePhase::Steps);
    // After a hole nothing can be taken up again, in timed phases or others.
    sink.phaseBegan(ProbePhase::Count);
    sink.events(steps(1500, 7));
    sink.phaseEnded(ProbePhase::Count);
    QVERIFY(outbox.post(Bye {"done", 0}));
    const std::vector<Message> messages = pipe.until(MessageType::Bye);
    std::uint32_t next = 0;
    for (const Events& batch : only<Events>(messages)) {
        for (const Event& event : batch.events)
            QCOMPARE(event.step, next++);
    }
    QCOMPARE(next, std::uint32_t(1000));
    const std::vector<Phase> phases = only<Phase>(messages);
    QCOMPARE(phases[1].overflow, (Overflow {500, 5}));
    QCOMPARE(phases[1].events, std::int64_t(1000));
    QCOMPARE(phases[1].digests, std::int64_t(33)); // up to the step at which it overflowed
    QCOMPARE(phases[3].overflow, (Overflow {507, 5}));
    QCOMPARE(only<Samples>(messages).front().samples.size(), std::size_t(10));
}

QTEST_GUILESS_MAIN(OutboxTest)
#include "tst_outbox.moc"
