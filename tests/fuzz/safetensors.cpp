// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Headers and indices of safetensors of any bytes are read or refused. The first byte of the input says which of the
// two it is, and whether a length that fits is put before the rest.

#include "import/safetensors.h"
#include "import/checkpoint_index.h"
#include "import/weight_layout.h"

#include <cstdint>
#include <cstdlib>

using namespace kvw;

namespace {

void require(bool condition)
{
    if (!condition)
        std::abort();
}

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

void readIndex(std::string_view bytes)
{
    ByteReader reader(bytes, "fuzz.json");
    Result<CheckpointIndex> index = readCheckpointIndex(reader);
    if (!index)
        return;
    for (const CheckpointIndex::Entry& entry : index->entries)
        require(entry.file < index->files.size() && index->find(entry.name) == &entry);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
    if (data[0] % 4 == 3) {
        readIndex(rest);
    } else if (data[0] % 4 == 2) {
        readFile(rest);
    } else {
        std::string framed;
        for (int i = 0; i < 8; ++i)
            framed += static_cast<char>(rest.size() >> (8 * i) & 0xff);
        readFile(framed.append(rest));
    }
    return 0;
}
