// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/event.h"
#include "cache/identity.h"
#include "device/ceilings.h"
#include "serving/run_record.h"
#include "units/result.h"
#include "worker/frame.h"
#include "worker/probe_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kvw::worker {

// The messages of the worker protocol, one a frame. resources/help/worker-protocol.md describes them for programs in
// other languages; numbers and names are part of it.

constexpr int protocolVersion = 1;

enum class MessageType : std::uint8_t {
    Hello = helloType,
    Request = 2,
    Accepted = 3,
    Phase = 4,
    Samples = 5,
    LogHeader = 6,
    Digests = 7,
    Events = 8,
    Evidence = 9,
    Result = 10,
    Failed = 11,
    Cancel = 12,
    Barrier = 13,
    Heartbeat = 14,
    Stop = 15,
    Bye = 16,
};
/// "hello", "request" …; "unknown" for a number that is none.
const char* messageName(MessageType type);

/// Protocol versions that a side speaks.
struct Versions
{
    int least = protocolVersion;
    int most = protocolVersion;

    bool operator==(const Versions&) const = default;
};

/// First message, both ways. Names that a reader does not know are passed over here, and only here.
struct Hello
{
    Versions protocol {};
    std::string product; ///< "kvw", "kvworkbench"
    std::string version; ///< of the product
    std::int64_t process = 0; ///< id
    double heartbeatSeconds = 0; ///< this side sends one at least so often; 0: does not say
    double watchdogSeconds = 0; ///< this side ends after so much silence; 0: it never does
};

/// A piece of the JSON text of a request; `more` pieces follow.
struct Request
{
    std::uint64_t id = 0;
    std::string text;
    bool more = false;
};

struct Accepted
{
    std::uint64_t id = 0;
    std::string kind; ///< of the request
    std::vector<std::string> phases; ///< that will come, in this order
};

/// What a timed phase did not keep, because its buffers were full.
struct Overflow
{
    std::int64_t events = 0;
    std::int64_t samples = 0;

    bool operator==(const Overflow&) const = default;
};

/// A phase begins or ends.
struct Phase
{
    std::uint64_t id = 0;
    ProbePhase phase = ProbePhase::Setup;
    bool begins = true;
    bool timed = false; ///< samples and events are held back until it ends
    std::optional<PoolReservation> reservation {}; ///< when reserve begins: what will be asked for
    double seconds = 0; ///< at the end; the rest too
    std::int64_t events = 0; ///< of the request so far, those that overflowed not counted
    std::int64_t digests = 0;
    Overflow overflow {}; ///< of the request so far
    std::optional<MemoryCeilings> ceilings {}; ///< when ceilings ends
    std::optional<MemoryReading> memory {}; ///< when reserve ends
};

struct Samples
{
    std::uint64_t id = 0;
    std::vector<StepSample> samples;
};

/// The event log that begins: JSON as in the header of an event file (headerFromJson()).
struct LogHeader
{
    std::uint64_t id = 0;
    std::string text;
};

struct Digests
{
    std::uint64_t id = 0;
    std::uint64_t first = 0; ///< number of the first one in the log
    std::vector<BlockKey> digests;
};

struct Events
{
    std::uint64_t id = 0;
    std::uint64_t first = 0;
    std::vector<Event> events;
};

/// JSON rows (evidenceJson()), a piece.
struct Evidence
{
    std::uint64_t id = 0;
    std::string text;
    bool more = false;
};

/// The request is done: JSON, a piece.
struct Done
{
    std::uint64_t id = 0;
    std::string text;
    bool more = false;
};

/// The request has no result: JSON of the error (errorJson()). Id 0: it is about the connection, which ends.
struct Failed
{
    std::uint64_t id = 0;
    Error error {};
};

struct Cancel
{
    std::uint64_t id = 0; ///< of the request
};

/// Comes back with the same id once every request before it has ended.
struct Barrier
{
    std::uint64_t id = 0;
};

struct Heartbeat
{};

struct Stop
{};

/// Last message of the worker.
struct Bye
{
    std::string reason;
    int exitCode = 0;
};

/// In the order of MessageType.
using Message = std::variant<Hello, Request, Accepted, Phase, Samples, LogHeader, Digests, Events, Evidence, Done,
    Failed, Cancel, Barrier, Heartbeat, Stop, Bye>;

MessageType typeOf(const Message& message);

/// The payload of the message's frame. REQUIRES that texts are at most mostTextPiece long, batches at most
/// mostBatchEvents, and samples at most mostBatchSamples.
std::vector<std::byte> encode(const Message& message);
/// Strict: a payload that is too short or too long for its type, a missing or unknown field, a wrong type and a number
/// out of range are refused. Errors: protocol.type, protocol.length, protocol.format, protocol.unknown_field, json.…
Result<Message> decode(const Frame& frame);

/// The version that both speak. Errors: protocol.version, which names both products.
Result<int> agreeOnVersion(const Hello& mine, const Hello& other);

constexpr std::size_t mostTextPiece = std::size_t {1} << 20;
constexpr std::size_t mostBatchEvents = 65536;
constexpr std::size_t mostBatchSamples = 4096;

/// Puts pieces of a text together. One text at a time.
class TextJoiner
{
public:
    explicit TextJoiner(std::size_t mostBytes = std::size_t {64} << 20);
    /// The whole text once its last piece is there. Errors: protocol.pieces (a piece of another text in between),
    /// protocol.length.
    Result<std::optional<std::string>> add(std::uint64_t id, const std::string& piece, bool more);

private:
    std::size_t m_most;
    std::uint64_t m_id = 0; // 0: none is open
    std::string m_text {};
};

} // namespace kvw::worker
