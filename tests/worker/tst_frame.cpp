// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/frame.h"

#include <QTest>

#include <cstdlib>
#include <random>

using namespace kvw;
using namespace kvw::worker;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::string_view text)
{
    Bytes out;
    putText(out, text);
    return out;
}

Bytes helloPayload(int version = frameVersion, std::string_view rest = "{}")
{
    Bytes out = bytes(helloMagic);
    putNumber(out, static_cast<std::uint64_t>(version), 1);
    putText(out, rest);
    return out;
}

/// A frame with any header.
Bytes rawFrame(std::uint64_t length, int type, std::uint64_t sequence, const Bytes& payload)
{
    Bytes out;
    putNumber(out, length, 4);
    putNumber(out, static_cast<std::uint64_t>(type), 1);
    putNumber(out, sequence, 8);
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
}

/// A stream of a hello and frames of several lengths.
struct Stream
{
    Bytes bytes;
    std::vector<Frame> frames;

    Stream()
    {
        FrameWriter writer;
        add(writer, helloType, helloPayload());
        std::mt19937 dice(7);
        for (const std::size_t length : {0, 1, 12, 13, 14, 200, 0, 3}) {
            Bytes payload(length);
            for (std::byte& byte : payload)
                byte = static_cast<std::byte>(dice());
            add(writer, static_cast<std::uint8_t>(2 + length % 250), payload);
        }
    }

private:
    void add(FrameWriter& writer, std::uint8_t type, const Bytes& payload)
    {
        const bool written = writer.write(type, payload, bytes).ok();
        QVERIFY(written);
        frames.push_back({type, frames.size() + 1, payload});
    }
};

/// Takes whole frames until there are none, or an error comes, whose code is returned.
std::string drain(FrameReader& reader, std::vector<Frame>& out)
{
    for (;;) {
        Result<std::optional<Frame>> frame = reader.next();
        if (!frame)
            return frame.error().code;
        if (!*frame)
            return {};
        out.push_back(std::move(**frame));
    }
}

bool same(const std::vector<Frame>& a, const std::vector<Frame>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Frame& x, const Frame& y) {
        return x.type == y.type && x.sequence == y.sequence && x.payload == y.payload;
    });
}

std::string errorOf(const Bytes& stream)
{
    FrameReader reader;
    reader.add(stream);
    std::vector<Frame> frames;
    return drain(reader, frames);
}

int rounds(int count)
{
    const char* scale = std::getenv("KVW_TEST_SCALE");
    return std::max(1, static_cast<int>(count * (scale ? std::atof(scale) : 1)));
}

} // namespace

class FrameTest : public QObject
{
    Q_OBJECT
private slots:
    void layout();
    void everySplitInTwo();
    void byteByByte();
    void randomSplits();
    void everyTruncation();
    void refuses_data();
    void refuses();
    void refusesBeforeThePayloadIsThere();
    void errorsStay();
    void writerRefusesWhatReadersWould();
    void largestPayload();
    void randomBytesNeverDoHarm();
    void flippedBitsNeverDoHarm();
    void keepsNoMoreThanItWasGiven();
};

void FrameTest::layout()
{
    // The format, byte by byte: it is what programs in other languages see.
    Bytes out;
    FrameWriter writer;
    QVERIFY(writer.write(helloType, helloPayload(1, "x"), out));
    QVERIFY(writer.write(0xab, bytes("yz"), out));
    QCOMPARE(QByteArray(textOf(out).data(), static_cast<int>(out.size())).toHex(' '),
        QByteArray("06 00 00 00 01 01 00 00 00 00 00 00 00 4b 56 57 50 01 78 "
                   "02 00 00 00 ab 02 00 00 00 00 00 00 00 79 7a"));
}

void FrameTest::everySplitInTwo()
{
    const Stream stream;
    for (std::size_t at = 0; at <= stream.bytes.size(); ++at) {
        FrameReader reader;
        std::vector<Frame> frames;
        reader.add(std::span(stream.bytes).first(at));
        QCOMPARE(drain(reader, frames), std::string());
        reader.add(std::span(stream.bytes).subspan(at));
        QCOMPARE(drain(reader, frames), std::string());
        QVERIFY2(same(frames, stream.frames), qPrintable(QString::number(at)));
        QCOMPARE(reader.pending(), std::size_t(0));
    }
}

void FrameTest::byteByByte()
{
    const Stream stream;
    FrameReader reader;
    std::vector<Frame> frames;
    for (const std::byte byte : stream.bytes) {
        reader.add(std::span(&byte, 1));
        QCOMPARE(drain(reader, frames), std::string());
    }
    QVERIFY(same(frames, stream.frames));
}

void FrameTest::randomSplits()
{
    const Stream stream;
    std::mt19937 dice(11);
    for (int round = 0; round < rounds(200); ++round) {
        FrameReader reader;
        std::vector<Frame> frames;
        std::span<const std::byte> rest = stream.bytes;
        while (!rest.empty()) {
            const std::size_t count = std::min<std::size_t>(rest.size(), dice() % 40);
            reader.add(rest.first(count));
            rest = rest.subspan(count);
            if (dice() % 2 == 0)
                QCOMPARE(drain(reader, frames), std::string());
        }
        QCOMPARE(drain(reader, frames), std::string());
        QVERIFY(same(frames, stream.frames));
    }
}

void FrameTest::everyTruncation()
{
    const Stream stream;
    std::size_t end = 0; // of the frames that are whole
    std::size_t whole = 0;
    for (std::size_t length = 0; length <= stream.bytes.size(); ++length) {
        while (whole < stream.frames.size() && end + frameHeaderBytes + stream.frames[whole].payload.size() <= length)
            end += frameHeaderBytes + stream.frames[whole++].payload.size();
        FrameReader reader;
        std::vector<Frame> frames;
        reader.add(std::span(stream.bytes).first(length));
        QCOMPARE(drain(reader, frames), std::string());
        QCOMPARE(frames.size(), whole);
        QCOMPARE(reader.pending(), length - end);
    }
}

void FrameTest::refuses_data()
{
    QTest::addColumn<QByteArray>("stream");
    QTest::addColumn<QByteArray>("code");
    const auto row = [](const char* name, const Bytes& stream, const char* code) {
        QTest::newRow(name) << QByteArray(textOf(stream).data(), static_cast<int>(stream.size())) << QByteArray(code);
    };
    const auto afterHello = [](const Bytes& frame) {
        Bytes out;
        const bool written = FrameWriter().write(helloType, helloPayload(), out).ok();
        Q_ASSERT(written);
        out.insert(out.end(), frame.begin(), frame.end());
        return out;
    };
    row("text", bytes("What is this? A log line.\n"), "frame.hello");
    row("zeros", Bytes(64), "frame.hello");
    row("ones", Bytes(64, std::byte {0xff}), "frame.hello");
    row("JSON lines", bytes("{\"jsonrpc\":\"2.0\",\"id\":1}\n"), "frame.hello");
    row("another type first", rawFrame(0, 14, 1, {}), "frame.hello");
    row("a hello that is not the first", rawFrame(7, 1, 2, helloPayload()), "frame.hello");
    row("a hello that is too long", rawFrame(mostHelloBytes + 1, 1, 1, helloPayload()), "frame.hello");
    row("an empty hello", rawFrame(0, 1, 1, {}), "frame.hello");
    row("the letters alone", rawFrame(4, 1, 1, bytes("KVWP")), "frame.hello");
    row("other letters", rawFrame(7, 1, 1, bytes("KVWQ\1{}")), "frame.hello");
    row("version 0", rawFrame(7, 1, 1, helloPayload(0)), "frame.version");
    row("version 2", rawFrame(7, 1, 1, helloPayload(2)), "frame.version");
    row("version 255", rawFrame(7, 1, 1, helloPayload(255)), "frame.version");
    row("too long", afterHello(rawFrame(mostPayloadBytes + 1, 2, 2, {})), "frame.length");
    row("much too long", afterHello(rawFrame(0xffffffff, 2, 2, {})), "frame.length");
    row("sequence twice", afterHello(rawFrame(0, 14, 1, {})), "frame.sequence");
    row("sequence with a gap", afterHello(rawFrame(0, 14, 3, {})), "frame.sequence");
    row("huge sequence", afterHello(rawFrame(0, 14, UINT64_MAX, {})), "frame.sequence");
}

void FrameTest::refuses()
{
    QFETCH(const QByteArray, stream);
    QFETCH(const QByteArray, code);
    QCOMPARE(QByteArray::fromStdString(errorOf(bytes({stream.data(), static_cast<std::size_t>(stream.size())}))), code);
}

void FrameTest::refusesBeforeThePayloadIsThere()
{
    // Thirteen bytes are enough to see that a frame is too long: nobody waits for gigabytes that never come.
    Bytes stream;
    QVERIFY(FrameWriter().write(helloType, helloPayload(), stream));
    const Bytes header = rawFrame(0xfffffff0, 2, 2, {});
    stream.insert(stream.end(), header.begin(), header.end());
    QCOMPARE(errorOf(stream), std::string("frame.length"));
    stream.pop_back();
    QCOMPARE(errorOf(stream), std::string());
}

void FrameTest::errorsStay()
{
    FrameReader reader;
    reader.add(bytes("no frames at all"));
    QCOMPARE(reader.next().error().code, std::string("frame.hello"));
    reader.add(Stream().bytes);
    QCOMPARE(reader.next().error().code, std::string("frame.hello"));
    QVERIFY(reader.pending() < 20);
}

void FrameTest::writerRefusesWhatReadersWould()
{
    Bytes out;
    FrameWriter writer;
    QCOMPARE(writer.write(helloType, Bytes(mostHelloBytes + 1), out).error().code, std::string("frame.length"));
    QVERIFY(out.empty());
    QVERIFY(writer.write(helloType, helloPayload(), out));
    const std::size_t size = out.size();
    QCOMPARE(writer.write(2, Bytes(mostPayloadBytes + 1), out).error().code, std::string("frame.length"));
    QCOMPARE(out.size(), size);
    QVERIFY(writer.write(14, {}, out));
    FrameReader reader;
    reader.add(out);
    std::vector<Frame> frames;
    QCOMPARE(drain(reader, frames), std::string());
    QCOMPARE(frames.size(), std::size_t(2)); // what was refused took no number
}

void FrameTest::largestPayload()
{
    Bytes out;
    FrameWriter writer;
    QVERIFY(writer.write(helloType, helloPayload(), out));
    const Bytes payload(mostPayloadBytes, std::byte {0x5a});
    QVERIFY(writer.write(8, payload, out));
    FrameReader reader;
    std::vector<Frame> frames;
    for (std::span<const std::byte> rest = out; !rest.empty();) {
        const std::size_t count = std::min<std::size_t>(rest.size(), 65536);
        reader.add(rest.first(count));
        rest = rest.subspan(count);
        QCOMPARE(drain(reader, frames), std::string());
    }
    QCOMPARE(frames.size(), std::size_t(2));
    QVERIFY(frames[1].payload == payload);
}

void FrameTest::randomBytesNeverDoHarm()
{
    std::mt19937_64 dice(13);
    for (int round = 0; round < rounds(3000); ++round) {
        FrameReader reader;
        std::vector<Frame> frames;
        Bytes stream;
        if (dice() % 2 == 0)
            QVERIFY(FrameWriter().write(helloType, helloPayload(), stream));
        const std::size_t begin = stream.size();
        stream.resize(begin + dice() % 200);
        for (std::size_t i = begin; i < stream.size(); ++i)
            stream[i] = static_cast<std::byte>(dice() % 4 == 0 ? dice() : dice() % 3);
        reader.add(stream);
        (void)drain(reader, frames);
        QVERIFY(reader.pending() <= stream.size());
    }
}

void FrameTest::flippedBitsNeverDoHarm()
{
    const Stream stream;
    for (std::size_t bit = 0; bit < 8 * stream.bytes.size(); ++bit) {
        Bytes changed = stream.bytes;
        changed[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        FrameReader reader;
        reader.add(changed);
        std::vector<Frame> frames;
        (void)drain(reader, frames);
        QVERIFY(!same(frames, stream.frames));
    }
}

void FrameTest::keepsNoMoreThanItWasGiven()
{
    FrameReader reader;
    Bytes out;
    FrameWriter writer;
    QVERIFY(writer.write(helloType, helloPayload(), out));
    std::vector<Frame> frames;
    for (int i = 0; i < 2000; ++i) {
        QVERIFY(writer.write(8, Bytes(1000), out));
        // Always some bytes of the next frame too, so that the buffer is never empty.
        const std::size_t count = out.size() - 5;
        reader.add(std::span(out).first(count));
        out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
        QCOMPARE(drain(reader, frames), std::string());
        QVERIFY(reader.pending() <= 1008 + frameHeaderBytes);
    }
    QCOMPARE(frames.size(), std::size_t(2000));
}

QTEST_GUILESS_MAIN(FrameTest)
#include "tst_frame.moc"
