// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"
#include "worker/protocol.h"
#include "worker/protocol_json.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <random>

using namespace kvw;
using namespace kvw::worker;

namespace {

Frame frameOf(const Message& message)
{
    return {static_cast<std::uint8_t>(typeOf(message)), 5, encode(message)};
}

Frame frame(MessageType type, const std::vector<std::byte>& payload)
{
    return {static_cast<std::uint8_t>(type), 5, payload};
}

Frame frame(MessageType type, std::uint64_t id, std::string_view rest)
{
    Frame out {static_cast<std::uint8_t>(type), 5, {}};
    putNumber(out.payload, id, 8);
    putText(out.payload, rest);
    return out;
}

PoolReservation reservation()
{
    PoolReservation out;
    out.device = {{"host", "A processor", 1LL << 40, 1LL << 39, "/proc/meminfo"}, 1LL << 37, "a quarter"};
    out.bytes = 123'456'789'012;
    out.pools = {{Bytes(4096), Blocks(10), Blocks(1)}, {Bytes(512), Blocks(7), Blocks(0)}};
    out.poolFraction = 1.0 / 3;
    out.plannedBytes = 370'370'367'036;
    out.predictedSteps = 900;
    return out;
}

/// One of every message, and of messages with optional parts each form.
std::vector<Message> examples()
{
    Hello hello;
    hello.protocol = {1, 3};
    hello.product = "kvw \"röt\"";
    hello.version = "0.1.0";
    hello.process = 4711;
    hello.heartbeatSeconds = 1;
    hello.watchdogSeconds = 0.25;
    Phase begin;
    begin.id = 3;
    begin.phase = ProbePhase::Reserve;
    begin.timed = true;
    begin.reservation = reservation();
    Phase end;
    end.id = UINT64_MAX;
    end.phase = ProbePhase::Ceilings;
    end.begins = false;
    end.seconds = 0.1;
    end.events = 1LL << 40;
    end.digests = 17;
    end.overflow = {3, 4};
    end.ceilings = MemoryCeilings {{1e9, 0.25}, {2e9, 0.5}, {3e9, 1.0 / 3}, 1 << 28, 1, 9};
    end.memory = MemoryReading {"smaps", 1LL << 33, 4096};
    Phase plain;
    plain.id = 4;
    const Event event {EventKind::Append, 1, 2, 3, 4, 5, 6, 7};
    const Event last {EventKind::Fail, 255, 65535, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    return {hello, worker::Request {1, "{\"kind\":", true}, worker::Request {1, "\"devices\"}", false},
        worker::Request {1, "", false}, Accepted {2, "probe", {"setup", "steps"}}, Accepted {2, "devices", {}}, begin,
        end, plain, Samples {5, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1LL << 62, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
        Samples {5, {}}, LogHeader {6, "{\"version\":1}"}, Digests {7, 8, {{1, 2}, {UINT64_MAX, 0}}},
        Digests {7, 8, {}}, Events {9, 1ULL << 40, {event, last}}, Events {9, 0, {}}, Evidence {10, "[]", false},
        Done {11, "{}", false}, Done {11, "{", true},
        Failed {0, Error {"frame.length", "too long", {"file", "/at"}, "5", "4"}}, Failed {12, Error {"a", "b"}},
        Cancel {13}, Barrier {UINT64_MAX}, Heartbeat {}, Stop {}, Bye {"stop", 0}, Bye {"watchdog", 12}};
}

std::string errorOf(const Frame& one)
{
    const Result<Message> message = decode(one);
    return message ? "" : message.error().code;
}

} // namespace

class ProtocolTest : public QObject
{
    Q_OBJECT
private slots:
    void typesAreWhatTheyWere();
    void roundTrip();
    void everyTruncationIsRefusedOrWhole();
    void oneByteMoreIsRefused();
    void refuses_data();
    void refuses();
    void jsonIsStrict_data();
    void jsonIsStrict();
    void helloPassesOverTheUnknown();
    void randomPayloadsNeverDoHarm();
    void versions();
    void pieces();
};

void ProtocolTest::typesAreWhatTheyWere()
{
    const std::vector<std::pair<int, const char*>> types {{1, "hello"}, {2, "request"}, {3, "accepted"}, {4, "phase"},
        {5, "samples"}, {6, "logHeader"}, {7, "digests"}, {8, "events"}, {9, "evidence"}, {10, "result"},
        {11, "failed"}, {12, "cancel"}, {13, "barrier"}, {14, "heartbeat"}, {15, "stop"}, {16, "bye"}};
    for (const auto& [number, name] : types)
        QCOMPARE(messageName(static_cast<MessageType>(number)), name);
    QCOMPARE(messageName(static_cast<MessageType>(17)), "unknown");
    QCOMPARE(typeOf(Done {}), MessageType::Result);
    QCOMPARE(typeOf(Bye {}), MessageType::Bye);
    // Binary messages, byte by byte.
    const std::vector<std::byte> payload
        = encode(Events {1, 2, {{EventKind::Append, 3, 0x0504, 0x09080706, 10, 11, 12, 13}}});
    QCOMPARE(QByteArray(textOf(payload).data(), static_cast<int>(payload.size())).toHex(' '),
        QByteArray("01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 04 03 04 05 06 07 08 09 "
                   "0a 00 00 00 0b 00 00 00 0c 00 00 00 0d 00 00 00"));
}

void ProtocolTest::roundTrip()
{
    for (const Message& message : examples()) {
        const Frame sent = frameOf(message);
        const Result<Message> back = decode(sent);
        QVERIFY2(back.ok(), back ? "" : back.error().text().c_str());
        QCOMPARE(typeOf(*back), typeOf(message));
        // What was read says the same again, byte by byte.
        QVERIFY2(encode(*back) == sent.payload, messageName(typeOf(message)));
    }
    const Result<Message> phase = decode(frameOf(examples()[6]));
    const auto& reserve = std::get<Phase>(*phase);
    QVERIFY(reserve.begins && reserve.timed);
    QCOMPARE(reserve.reservation->device.limitBytes, 1LL << 37);
    QCOMPARE(reserve.reservation->pools[1].blocks.value, std::int64_t(7));
    QCOMPARE(reserve.reservation->poolFraction, 1.0 / 3);
    const Result<Message> events = decode(frameOf(examples()[14]));
    QCOMPARE(std::get<Events>(*events).first, 1ULL << 40);
    QCOMPARE(std::get<Events>(*events).events[1].tenant, std::uint16_t(65535));
}

void ProtocolTest::everyTruncationIsRefusedOrWhole()
{
    for (const Message& message : examples()) {
        Frame sent = frameOf(message);
        while (!sent.payload.empty()) {
            sent.payload.pop_back();
            // A piece of text and a batch may be shorter and still be one; then they say so when encoded again.
            const Result<Message> back = decode(sent);
            if (back)
                QVERIFY2(encode(*back) == sent.payload, messageName(typeOf(message)));
        }
    }
}

void ProtocolTest::oneByteMoreIsRefused()
{
    for (const Message& message :
        {Message(Cancel {1}), Message(Barrier {1}), Message(Heartbeat {}), Message(Stop {}), Message(Events {1, 0, {}}),
            Message(Digests {1, 0, {}}), Message(Bye {"stop", 0}), Message(Accepted {1, "probe", {}})}) {
        Frame sent = frameOf(message);
        sent.payload.push_back(std::byte {1});
        QVERIFY2(!decode(sent).ok(), messageName(typeOf(message)));
    }
}

void ProtocolTest::refuses_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<QByteArray>("payload");
    QTest::addColumn<QByteArray>("code");
    const auto row = [](const char* name, const Frame& one, const char* code) {
        QTest::newRow(name) << static_cast<int>(one.type)
                            << QByteArray(textOf(one.payload).data(), static_cast<int>(one.payload.size()))
                            << QByteArray(code);
    };
    row("type 0", frame(static_cast<MessageType>(0), {}), "protocol.type");
    row("type 17", frame(static_cast<MessageType>(17), 1, "x"), "protocol.type");
    row("type 255", frame(static_cast<MessageType>(255), {}), "protocol.type");
    row("no id", frame(MessageType::Cancel, std::vector<std::byte>(7)), "protocol.length");
    row("no flag", frame(MessageType::Request, 1, ""), "protocol.length");
    row("flag 2", frame(MessageType::Request, 1, "\2{}"), "protocol.length");
    row("a long piece", frame(MessageType::Request, 1, "\1" + std::string(mostTextPiece + 1, ' ')), "protocol.length");
    row("half an event", frame(MessageType::Events, 1, std::string(8 + 23, '\1')), "protocol.length");
    row("half a digest", frame(MessageType::Digests, 1, std::string(8 + 24, '\0')), "protocol.length");
    row("event of kind 0", frame(MessageType::Events, 1, std::string(8 + 24, '\0')), "protocol.format");
    row("event of kind 17", frame(MessageType::Events, 1, std::string(8, '\0') + std::string(24, '\x11')),
        "protocol.format");
    row("no JSON", frame(MessageType::Accepted, 1, ""), "json.syntax");
    row("JSON and more", frame(MessageType::Accepted, 1, R"({"kind":"a","phases":[]} 1)"), "json.syntax");
    row("a key twice", frame(MessageType::Accepted, 1, R"({"kind":"a","kind":"b","phases":[]})"), "json.duplicate_key");
    row("a list", frame(MessageType::Accepted, 1, "[]"), "protocol.format");
    row("deep JSON", frame(MessageType::Samples, 1, std::string(5000, '[')), "json.depth");
    row("hello with other letters",
        frame(MessageType::Hello,
            [] {
                std::vector<std::byte> out;
                putText(out, "KVWX\1{}");
                return out;
            }()),
        "protocol.length");
    row("heartbeat with something", frame(MessageType::Heartbeat, std::vector<std::byte>(1)), "protocol.length");
}

void ProtocolTest::refuses()
{
    QFETCH(const int, type);
    QFETCH(const QByteArray, payload);
    QFETCH(const QByteArray, code);
    Frame one {static_cast<std::uint8_t>(type), 5, {}};
    putText(one.payload, {payload.data(), static_cast<std::size_t>(payload.size())});
    QCOMPARE(QByteArray::fromStdString(errorOf(one)), code);
}

void ProtocolTest::jsonIsStrict_data()
{
    QTest::addColumn<int>("example");
    for (int i = 0; const Message& message : examples()) {
        const MessageType type = typeOf(message);
        if (type == MessageType::Accepted || type == MessageType::Phase || type == MessageType::Samples
            || type == MessageType::Failed || type == MessageType::Bye)
            QTest::addRow("%s %d", messageName(type), i) << i;
        ++i;
    }
}

void ProtocolTest::jsonIsStrict()
{
    // Each member at any depth: taken away, made another type, and joined by one that nobody knows.
    QFETCH(const int, example);
    const Message message = examples()[static_cast<std::size_t>(example)];
    Frame sent = frameOf(message);
    const std::size_t begin = typeOf(message) == MessageType::Bye ? 0 : 8;
    const auto whole = Json::parse(textOf(std::span<const std::byte>(sent.payload).subspan(begin)));
    const auto refused = [&](const Json& json) {
        Frame changed {sent.type, 5, {sent.payload.begin(), sent.payload.begin() + static_cast<long>(begin)}};
        putText(changed.payload, json.dump());
        return !decode(changed).ok();
    };
    QVERIFY(!refused(whole));
    const Json flat = whole.flatten();
    const auto optional = [](const std::string& pointer) {
        const std::string name = pointer.substr(pointer.rfind('/') + 1);
        return name == "file" || name == "at" || name == "found" || name == "expected" || name == "ceilings"
            || name == "memory" || name == "reservation";
    };
    for (const auto& [pointer, value] : flat.items()) {
        const Json::json_pointer at(pointer);
        Json changed = whole;
        changed[at] = value.is_string() ? Json(1) : value.is_boolean() ? Json("x") : Json("y");
        QVERIFY2(refused(changed), ("another type: " + pointer).c_str());
        const Json::json_pointer parent = at.parent_pointer();
        if (!whole[parent].is_object())
            continue;
        changed = whole;
        changed[parent].erase(at.back());
        QVERIFY2(optional(pointer) || refused(changed), ("left out: " + pointer).c_str());
        changed = whole;
        changed[parent]["surplus"] = value;
        QVERIFY2(refused(changed), ("one more beside: " + pointer).c_str());
    }
}

void ProtocolTest::helloPassesOverTheUnknown()
{
    // A hello must be understood by programs that are older.
    Frame hello {helloType, 1, {}};
    putText(hello.payload, helloMagic);
    putNumber(hello.payload, frameVersion, 1);
    putText(hello.payload, R"({"protocol":{"least":2,"most":7,"news":1},"product":"p","version":"9","pid":1,
        "heartbeatSeconds":1,"watchdogSeconds":0,"colour":"green"})");
    const Result<Message> message = decode(hello);
    QVERIFY(message.ok());
    QCOMPARE(std::get<Hello>(*message).protocol, (Versions {2, 7}));
}

void ProtocolTest::randomPayloadsNeverDoHarm()
{
    std::mt19937_64 dice(17);
    const std::vector<Message> all = examples();
    for (int round = 0; round < 4000; ++round) {
        Frame one = frameOf(all[dice() % all.size()]);
        for (std::uint64_t changes = dice() % 4; changes > 0 && !one.payload.empty(); --changes)
            one.payload[dice() % one.payload.size()] = static_cast<std::byte>(dice());
        if (dice() % 3 == 0)
            one.payload.resize(dice() % 64);
        if (dice() % 5 == 0)
            one.type = static_cast<std::uint8_t>(dice() % 20);
        (void)decode(one);
    }
}

void ProtocolTest::versions()
{
    const auto hello = [](int least, int most) {
        Hello out;
        out.protocol = {least, most};
        out.product = least == 1 ? "kvw" : "workbench";
        out.version = "0.9";
        return out;
    };
    QCOMPARE(*agreeOnVersion(hello(1, 1), hello(1, 1)), 1);
    QCOMPARE(*agreeOnVersion(hello(1, 3), hello(2, 9)), 3);
    QCOMPARE(*agreeOnVersion(hello(1, 5), hello(2, 3)), 3);
    const Result<int> none = agreeOnVersion(hello(1, 1), hello(2, 3));
    QCOMPARE(none.error().code, std::string("protocol.version"));
    QVERIFY(none.error().text().find("workbench 0.9 speaks 2 to 3") != std::string::npos);
    QVERIFY(none.error().text().find("kvw 0.9 speaks 1 to 1") != std::string::npos);
    QVERIFY(!agreeOnVersion(hello(2, 3), hello(1, 1)).ok());
}

void ProtocolTest::pieces()
{
    TextJoiner joiner(10);
    QVERIFY(!joiner.add(1, "abc", true)->has_value());
    QCOMPARE(joiner.add(2, "x", false).error().code, std::string("protocol.pieces"));
    QVERIFY(!joiner.add(1, "", true)->has_value());
    QCOMPARE(**joiner.add(1, "def", false), std::string("abcdef"));
    QCOMPARE(**joiner.add(2, "0123456789", false), std::string("0123456789"));
    QVERIFY(!joiner.add(3, "0123456", true)->has_value());
    QCOMPARE(joiner.add(3, "7890", false).error().code, std::string("protocol.length"));
}

QTEST_GUILESS_MAIN(ProtocolTest)
#include "tst_protocol.moc"
