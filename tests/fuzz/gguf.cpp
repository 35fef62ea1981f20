// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// A GGUF header of any bytes is read or refused, the same each time; whatever is imported holds together.

#include "import/gguf_file.h"

#include <cstdint>
#include <cstdlib>

using namespace kvw;

namespace {

void require(bool condition)
{
    if (!condition)
        std::abort();
}

void checkModel(const ModelSpec& model)
{
    require(!model.groups.empty() && model.dtype != ElementType::NotStated);
    for (const LayerGroup& group : model.groups) {
        const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
        require(layers.ok() && static_cast<std::int64_t>(layers->size()) == group.layers);
        require(group.tensors.empty() == (group.kind == LayerKind::Shared));
        for (const StateTensor& tensor : group.tensors) {
            require(tensor.heads >= 1 && tensor.width >= 1 && tensor.growth.stride >= 1 && tensor.growth.chunk >= 1);
            require(!tensor.growth.limit || *tensor.growth.limit >= 1);
        }
    }
    std::int64_t bytes = 0;
    for (const WeightPart& part : model.weights)
        bytes += part.bytes;
    require(model.weights.empty() || bytes == model.weightBytes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    ByteReader first(bytes, "fuzz.gguf");
    const Result<ModelSpec> model = importGguf(first);
    ByteReader second(bytes, "fuzz.gguf");
    const Result<ModelSpec> again = importGguf(second);
    require(model.ok() == again.ok());
    if (model) {
        require(model->groups == again->groups);
        checkModel(*model);
    } else {
        require(!model.error().code.empty() && model.error().code == again.error().code);
    }
    return 0;
}
