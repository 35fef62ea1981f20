// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever comes down the pipe: frames are cut the same however the bytes arrive, and a message that is understood says
// the same when it is sent again. The first byte of the input chooses how the rest is cut up and whether a hello and
// the header of a frame are put before it, so that the inner readers are reached too.

#include "fuzz/fuzz.h"
#include "plan/model_library.h"
#include "worker/protocol.h"
#include "worker/request_json.h"

#include <algorithm>
#include <utility>

using namespace kvw;
using namespace kvw::worker;
using fuzz::require;

namespace {

/// The frames of a stream that arrives in pieces of `step` bytes, and the code of the error that ended it.
std::pair<std::vector<Frame>, std::string> read(std::span<const std::byte> stream, std::size_t step)
{
    std::pair<std::vector<Frame>, std::string> out;
    FrameReader reader;
    while (!stream.empty() && out.second.empty()) {
        const std::size_t count = std::min(step, stream.size());
        reader.add(stream.first(count));
        stream = stream.subspan(count);
        for (;;) {
            Result<std::optional<Frame>> frame = reader.next();
            if (!frame)
                out.second = frame.error().code;
            if (!frame || !*frame)
                break;
            out.first.push_back(std::move(**frame));
        }
    }
    return out;
}

void decodeAll(const std::vector<Frame>& frames)
{
    for (const Frame& frame : frames) {
        const Result<Message> message = decode(frame);
        if (!message) {
            require(!message.error().code.empty());
            continue;
        }
        if (const auto* request = std::get_if<kvw::worker::Request>(&*message))
            (void)requestFromJson(request->text, "request");
        Frame again {static_cast<std::uint8_t>(typeOf(*message)), frame.sequence, encode(*message)};
        const Result<Message> back = decode(again);
        require(back.ok() && encode(*back) == again.payload);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::uint8_t choice = data[0];
    std::vector<std::byte> stream;
    const std::span<const std::byte> rest = std::as_bytes(std::span(data + 1, size - 1));
    if (choice % 2 == 1) {
        FrameWriter writer;
        (void)writer.write(helloType, encode(Hello {}), stream);
        // A frame of any type, whose payload is the input.
        (void)writer.write(static_cast<std::uint8_t>(choice / 2 % 18), rest, stream);
    } else {
        stream.assign(rest.begin(), rest.end());
    }
    const auto whole = read(stream, stream.size() + 1);
    const auto parts = read(stream, 1 + choice / 2);
    require(whole.second == parts.second && whole.first.size() == parts.first.size());
    for (std::size_t i = 0; i < whole.first.size(); ++i)
        require(whole.first[i].payload == parts.first[i].payload);
    decodeAll(whole.first);
    return 0;
}

/// One of every message, as one stream that is cut up in several ways, and each alone as a payload.
std::vector<std::string> fuzz::seeds()
{
    FrameWriter writer;
    std::vector<std::byte> stream;
    std::vector<std::string> out;
    Hello hello;
    hello.product = "test";
    ProbeRequest request;
    request.plan = planFromLibrary(builtInModels().front());
    request.plan.provenance = {};
    request.plan.assumptions = {};
    Phase phase;
    phase.id = 1;
    const auto asText = [](const std::vector<std::byte>& bytes) {
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    for (const Message& message : std::vector<Message> {hello, kvw::worker::Request {1, toJson(request), false},
             Accepted {1, "probe", {"setup"}}, phase, Samples {1, {{}}}, LogHeader {1, "{}"}, Digests {1, 0, {{}}},
             Events {1, 0, {{}}}, Evidence {1, "[]", false}, Done {1, "{}", false}, Failed {1, {"a", "b"}}, Cancel {1},
             Barrier {3}, Heartbeat {}, Stop {}, Bye {"stop", 0}}) {
        const auto type = static_cast<std::uint8_t>(typeOf(message));
        const std::vector<std::byte> payload = encode(message);
        (void)writer.write(type, payload, stream);
        if (type < 18)
            out.push_back(std::string(1, static_cast<char>(2 * type + 1)) + asText(payload));
    }
    for (const int choice : {0, 2, 8, 36, 128, 254})
        out.push_back(std::string(1, static_cast<char>(choice)) + asText(stream));
    return out;
}
