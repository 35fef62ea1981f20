// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz program's seeds, and streams made of them, without libFuzzer.

#include "support/example_plans.h"
#include "support/wire_mutation.h"
#include "worker/frame.h"
#include "worker/protocol.h"
#include "worker/request_json.h"

#include <QTest>

#include <random>

#include "../fuzz/worker_frame.cpp"

namespace {

std::string asText(const std::vector<std::byte>& bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One of every message, as one stream.
std::string wholeStream()
{
    FrameWriter writer;
    std::vector<std::byte> out;
    Hello hello;
    hello.product = "test";
    ProbeRequest request;
    request.plan = test::smallPlan();
    Phase phase;
    phase.id = 1;
    for (const Message& message : std::vector<Message> {hello, kvw::worker::Request {1, toJson(request), false},
             Accepted {1, "probe", {"setup"}}, phase, Samples {1, {{}}}, LogHeader {1, "{}"}, Digests {1, 0, {{}}},
             Events {1, 0, {{}}}, Evidence {1, "[]", false}, Done {1, "{}", false}, Failed {1, {"a", "b"}}, Cancel {1},
             Barrier {3}, Heartbeat {}, Stop {}, Bye {"stop", 0}})
        (void)writer.write(static_cast<std::uint8_t>(typeOf(message)), encode(message), out);
    return asText(out);
}

void feed(const std::string& bytes)
{
    QCOMPARE(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0); // aborts if not
}

} // namespace

class FuzzSeedsTest : public QObject
{
    Q_OBJECT
private slots:
    void seeds();
    void changedSeeds();
    void noise();
};

void FuzzSeedsTest::seeds()
{
    const std::string stream = wholeStream();
    for (int choice = 0; choice < 256; ++choice)
        feed(std::string(1, static_cast<char>(choice)) + stream);
    feed({});
}

void FuzzSeedsTest::changedSeeds()
{
    std::mt19937 dice(47);
    const std::string stream = wholeStream();
    for (int round = 0; round < 1500; ++round)
        feed(std::string(1, static_cast<char>(dice() % 128 * 2)) + test::mutated(stream, dice));
}

void FuzzSeedsTest::noise()
{
    std::mt19937 dice(53);
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes(1 + dice() % 80, '\0');
        for (char& byte : bytes)
            byte = static_cast<char>(dice());
        feed(bytes);
    }
}

QTEST_GUILESS_MAIN(FuzzSeedsTest)
#include "tst_fuzz_seeds.moc"
