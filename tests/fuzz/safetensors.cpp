// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Headers of safetensors of any bytes are read or refused. The first byte of the input says whether a length that fits
// is put before the rest.

#include "import/safetensors.h"
#include "fuzz/fuzz.h"
#include "import/weight_layout.h"
#include "support/safetensors_writer.h"

using namespace kvw;
using fuzz::require;

namespace {

void readFile(std::string_view bytes)
{
    ByteReader reader(bytes, "fuzz.safetensors");
    WeightLayout weights(WeightNaming::Checkpoint);
    std::int64_t sum = 0;
    std::int64_t count = 0;
    const Result<SafetensorsHeader> header = readSafetensors(
        reader, [&](const SafetensorsTensor& tensor) -> Result<void> {
            require(tensor.bytes >= 0 && tensor.elements >= 0);
            ++count;
            if (!weights.add(tensor.name, tensor.type, tensor.shape, tensor.elements, tensor.bytes, "fuzz.safetensors"))
                return Error {"fuzz.sum", "the sums do not fit"};
            sum += tensor.bytes;
            return {};
        });
    if (!header) {
        require(!header.error().code.empty() && !header.error().where.file.empty());
        return;
    }
    require(header->tensorBytes == sum && header->tensors == count && weights.bytes() == sum);
    std::int64_t parts = 0;
    for (const WeightPart& part : weights.parts())
        parts += part.bytes;
    require(parts == sum);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
    if (data[0] % 2 == 1)
        readFile(rest);
    else
        readFile(test::SafetensorsWriter::framed(std::string(rest)));
    return 0;
}

std::vector<std::string> fuzz::seeds()
{
    test::SafetensorsWriter writer;
    writer.raw(R"("__metadata__":{"a":"\u0062","c":[1,{"d":null}]})");
    writer.tensor("model.layers.0.self_attn.k_proj.weight", "BF16", {16, 64}, 2048);
    writer.tensor("model.layers.1.mlp.experts.7.down_proj.weight", "F4", {16, 64}, 512).tensor("s", "F32", {}, 4);
    test::SafetensorsWriter quantised;
    quantised.tensor("transformer.h.3.attn.c_attn.weight", "I8", {2, 0, 3}, 0)
        .tensor("lm_head.weight", "F8_E4M3", {7}, 7);
    quantised.tensor("model.layers.10000.q.scales", "F8_E8M0", {4}, 4).tensor("visual.blocks.0.b", "BOOL", {1}, 1);
    return {std::string(1, 0) + writer.json(), std::string(1, 1) + writer.header(),
        std::string(1, 0) + quantised.json(), std::string(1, 1) + quantised.header(), std::string(1, 0) + "{}"};
}
