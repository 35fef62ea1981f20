// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/protocol.h"

#include "worker/protocol_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace kvw::worker {

namespace {

static_assert(std::endian::native == std::endian::little, "events travel as memory holds them");
static_assert(std::variant_size_v<Message> == static_cast<std::size_t>(MessageType::Bye));

constexpr std::size_t idBytes = 8;
constexpr std::array<const char*, 17> names {"unknown", "hello", "request", "accepted", "phase", "samples", "logHeader",
    "digests", "events", "evidence", "result", "failed", "cancel", "barrier", "heartbeat", "stop", "bye"};

template <typename T>
void putItems(std::vector<std::byte>& out, std::uint64_t first, const std::vector<T>& items)
{
    static_assert(std::is_trivially_copyable_v<T>);
    putNumber(out, first, idBytes);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(items));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void putPiece(std::vector<std::byte>& out, const std::string& text, bool more)
{
    putNumber(out, more ? 1 : 0, 1);
    putText(out, text);
}

/// Appends what follows the id.
struct Writer
{
    std::vector<std::byte>& out;

    void operator()(const Hello& message) const
    {
        putText(out, helloMagic);
        putNumber(out, frameVersion, 1);
        putText(out, toJson(message));
    }
    void operator()(const Request& message) const { putPiece(out, message.text, message.more); }
    void operator()(const Evidence& message) const { putPiece(out, message.text, message.more); }
    void operator()(const Done& message) const { putPiece(out, message.text, message.more); }
    void operator()(const Accepted& message) const { putText(out, toJson(message)); }
    void operator()(const Phase& message) const { putText(out, toJson(message)); }
    void operator()(const Samples& message) const { putText(out, toJson(message)); }
    void operator()(const LogHeader& message) const { putText(out, message.text); }
    void operator()(const Digests& message) const { putItems(out, message.first, message.digests); }
    void operator()(const Events& message) const { putItems(out, message.first, message.events); }
    void operator()(const Failed& message) const { putText(out, toJson(message)); }
    void operator()(const Bye& message) const { putText(out, toJson(message)); }
    void operator()(const Cancel&) const {}
    void operator()(const Barrier&) const {}
    void operator()(const Heartbeat&) const {}
    void operator()(const Stop&) const {}
};

/// A payload on its way to a message: takes parts from its front.
class Payload
{
public:
    Payload(const Frame& frame)
        : m_rest(frame.payload)
        , m_type(static_cast<MessageType>(frame.type))
        , m_place(fmt::format("frame {}, {}", frame.sequence, messageName(m_type)))
    {}

    const std::string& place() const { return m_place; }
    MessageType type() const { return m_type; }

    std::uint64_t number(std::size_t bytes)
    {
        if (m_rest.size() < bytes) {
            fail("the payload is too short");
            return 0;
        }
        const std::uint64_t out = getNumber(m_rest, bytes);
        m_rest = m_rest.subspan(bytes);
        return out;
    }
    bool flag()
    {
        const std::uint64_t value = number(1);
        if (value > 1)
            fail("a flag is neither 0 nor 1");
        return value == 1;
    }
    std::string_view text()
    {
        const std::string_view out = textOf(m_rest);
        m_rest = {};
        return out;
    }
    template <typename T>
    std::vector<T> items()
    {
        if (m_rest.size() % sizeof(T) != 0)
            fail("the payload holds a part of an entry");
        std::vector<T> out(m_rest.size() / sizeof(T));
        if (!out.empty())
            std::memcpy(out.data(), m_rest.data(), out.size() * sizeof(T));
        m_rest = {};
        return out;
    }
    void fail(const char* why)
    {
        if (!m_error)
            m_error = Error {"protocol.length", why, {{}, m_place}};
    }
    template <typename T>
    Result<Message> end(T message)
    {
        if (!m_rest.empty())
            fail("the payload is too long");
        if (m_error)
            return *m_error;
        return Message(std::move(message));
    }
    /// The rest is JSON, read by `read`; the message gets the id.
    template <typename T>
    Result<Message> json(std::uint64_t id, Result<T> (*read)(std::string_view, const std::string&))
    {
        if (m_error)
            return *m_error;
        Result<T> message = read(text(), m_place);
        if (!message)
            return message.error();
        if constexpr (requires { message->id; })
            message->id = id;
        return Message(std::move(*message));
    }

private:
    std::span<const std::byte> m_rest;
    MessageType m_type;
    std::string m_place;
    std::optional<Error> m_error {};
};

Result<Message> decodeEvents(Payload& payload, std::uint64_t id)
{
    Events out {id, payload.number(idBytes), payload.items<Event>()};
    const auto wrong = std::find_if(out.events.begin(), out.events.end(),
        [](const Event& event) { return event.kind < EventKind::Step || event.kind > EventKind::Fail; });
    if (wrong != out.events.end())
        return Error {"protocol.format", "there is no such kind of event", {{}, payload.place()},
            fmt::format("kind {}", static_cast<int>(wrong->kind))};
    return payload.end(std::move(out));
}

/// Messages about a request: what follows the id.
Result<Message> decodeRest(Payload& payload, std::uint64_t id)
{
    const auto piece = [&](auto message) {
        message.id = id;
        message.more = payload.flag();
        message.text = payload.text();
        if (message.text.size() > mostTextPiece)
            payload.fail("the piece of text is too long");
        return payload.end(std::move(message));
    };
    switch (payload.type()) {
    case MessageType::Request:
        return piece(Request {});
    case MessageType::Evidence:
        return piece(Evidence {});
    case MessageType::Result:
        return piece(Done {});
    case MessageType::Accepted:
        return payload.json(id, acceptedFromJson);
    case MessageType::Phase:
        return payload.json(id, phaseFromJson);
    case MessageType::Samples:
        return payload.json(id, samplesFromJson);
    case MessageType::LogHeader:
        return payload.end(LogHeader {id, std::string(payload.text())});
    case MessageType::Digests: {
        Digests out {id, payload.number(idBytes), payload.items<BlockKey>()};
        return payload.end(std::move(out));
    }
    case MessageType::Events:
        return decodeEvents(payload, id);
    case MessageType::Failed:
        return payload.json(id, failedFromJson);
    case MessageType::Cancel:
        return payload.end(Cancel {id});
    default:
        return payload.end(Barrier {id});
    }
}

} // namespace

const char* messageName(MessageType type)
{
    const auto number = static_cast<std::size_t>(type);
    return names[number < names.size() ? number : 0];
}

MessageType typeOf(const Message& message)
{
    return static_cast<MessageType>(message.index() + 1);
}

std::vector<std::byte> encode(const Message& message)
{
    std::vector<std::byte> out;
    std::visit(
        [&](const auto& one) {
            if constexpr (requires { one.id; })
                putNumber(out, one.id, idBytes);
            Writer {out}(one);
        },
        message);
    return out;
}

Result<Message> decode(const Frame& frame)
{
    Payload payload(frame);
    switch (payload.type()) {
    case MessageType::Hello:
        payload.number(helloMagic.size());
        if (payload.number(1) != frameVersion || !textOf(frame.payload).starts_with(helloMagic))
            payload.fail("the hello does not begin as one");
        return payload.json(0, helloFromJson);
    case MessageType::Heartbeat:
        return payload.end(Heartbeat {});
    case MessageType::Stop:
        return payload.end(Stop {});
    case MessageType::Bye:
        return payload.json(0, byeFromJson);
    default:
        break;
    }
    if (frame.type == 0 || frame.type > static_cast<std::uint8_t>(MessageType::Bye))
        return Error {"protocol.type", "there is no such message", {{}, fmt::format("frame {}", frame.sequence)},
            fmt::format("type {}", frame.type)};
    const std::uint64_t id = payload.number(idBytes);
    return decodeRest(payload, id);
}

Result<int> agreeOnVersion(const Hello& mine, const Hello& other)
{
    const int version = std::min(mine.protocol.most, other.protocol.most);
    if (version >= std::max(mine.protocol.least, other.protocol.least))
        return version;
    const auto speaks = [](const Hello& hello) {
        return fmt::format(
            "{} {} speaks {} to {}", hello.product, hello.version, hello.protocol.least, hello.protocol.most);
    };
    return Error {"protocol.version", "the two sides have no version of the worker protocol in common", {},
        speaks(other), speaks(mine)};
}

TextJoiner::TextJoiner(std::size_t mostBytes)
    : m_most(mostBytes)
{}

Result<std::optional<std::string>> TextJoiner::add(std::uint64_t id, const std::string& piece, bool more)
{
    if (m_id != 0 && m_id != id)
        return Error {"protocol.pieces", "a piece of another text comes before the last piece of this one", {},
            fmt::format("request {}", id), fmt::format("request {}", m_id)};
    if (piece.size() > m_most - m_text.size())
        return Error {"protocol.length", "the text is too long", {}, {}, fmt::format("at most {} bytes", m_most)};
    m_text += piece;
    m_id = more ? id : 0;
    if (more)
        return std::optional<std::string>();
    return std::optional(std::exchange(m_text, {}));
}

} // namespace kvw::worker
