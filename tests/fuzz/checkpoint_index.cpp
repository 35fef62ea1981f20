// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The index of a checkpoint of any bytes is read or refused; what is read can be found again.

#include "import/checkpoint_index.h"
#include "fuzz/fuzz.h"

using namespace kvw;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    ByteReader reader({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    Result<CheckpointIndex> index = readCheckpointIndex(reader);
    if (!index) {
        require(!index.error().code.empty() && index.error().where.file == "fuzz.json");
        return 0;
    }
    for (const CheckpointIndex::Entry& entry : index->entries)
        require(entry.file < index->files.size() && index->find(entry.name) == &entry);
    return 0;
}

std::vector<std::string> fuzz::seeds()
{
    return {R"({"metadata":{"total_size":2564},"weight_map":{"a":"m1.safetensors","b":"m2.safetensors"}})",
        R"({"weight_map":{"model.layers.0.mlp.w":"model-00001-of-00002.safetensors","\u00e4":"x.safetensors"},)"
        R"("metadata":{"total_size":1e3,"more":[{"a":null},true,-1.5]}})",
        R"({"metadata":null,"weight_map":{}, "other":[[[[]]]]})",
        R"({"weight_map":{"a":"../x.safetensors","b":"/etc/passwd"}})"};
}
