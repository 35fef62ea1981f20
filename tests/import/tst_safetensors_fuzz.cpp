// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz program's seeds, and headers made of them, without libFuzzer.

#include "support/safetensors_writer.h"
#include "support/wire_mutation.h"

#include <QTest>

#include <random>

#include "../fuzz/safetensors.cpp"

namespace {

std::vector<std::string> seeds()
{
    test::SafetensorsWriter writer;
    writer.raw(R"("__metadata__":{"a":"\u0062","c":[1,{"d":null}]})");
    writer.tensor("model.layers.0.self_attn.k_proj.weight", "BF16", {16, 64}, 2048);
    writer.tensor("model.layers.1.mlp.experts.7.down_proj.weight", "F4", {16, 64}, 512).tensor("s", "F32", {}, 4);
    const std::string index
        = R"({"metadata":{"total_size":2564},"weight_map":{"a":"m1.safetensors","b":"m2.safetensors"}})";
    return {std::string(1, 0) + writer.json(), std::string(1, 2) + writer.header(), std::string(1, 3) + index};
}

void feed(const std::string& bytes)
{
    QCOMPARE(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0); // aborts if not
}

} // namespace

class SafetensorsFuzzTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asTheyAre();
    void changed();
    void noise();
};

void SafetensorsFuzzTest::asTheyAre()
{
    feed({});
    for (const std::string& seed : seeds())
        feed(seed);
}

void SafetensorsFuzzTest::changed()
{
    std::mt19937 dice(71);
    const std::vector<std::string> all = seeds();
    for (int round = 0; round < 10'000; ++round)
        feed(test::mutated(all[dice() % all.size()], dice));
}

void SafetensorsFuzzTest::noise()
{
    std::mt19937 dice(73);
    constexpr std::string_view letters = "{}[]\",:0123456789\\utx. \n\xc3\xa9";
    for (int round = 0; round < 10'000; ++round) {
        std::string bytes(1, static_cast<char>(dice()));
        bytes += '{';
        for (std::size_t i = dice() % 60; i > 0; --i)
            bytes += letters[dice() % letters.size()];
        feed(bytes);
    }
}

QTEST_APPLESS_MAIN(SafetensorsFuzzTest)
#include "tst_safetensors_fuzz.moc"
