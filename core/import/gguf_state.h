// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/gguf_shape.h"

namespace kvw {

/// Where the numbers of a tensor come from.
struct TensorSources
{
    Source heads {};
    Source width {};
    std::optional<Source> limit {}; ///< of a window or a chunk
    std::optional<Source> growth {}; ///< of fixed entries or a stride
};

/// A tensor of recurrent or convolution state.
struct StatePart
{
    StateTensor tensor {};
    TensorSources sources {};
};

/// What makes a layer recurrent, and what it keeps.
struct GgufMixer
{
    std::string id; ///< of its group: "mamba2", "gated_delta_net" …
    std::string name; ///< for people
    std::vector<StatePart> parts {};
};

/// What a recurrent layer keeps for each sequence, as llama.cpp's n_embd_r() and n_embd_s() count it
/// (src/llama-hparams.cpp, August 2026): always f32, whatever the cache's type. Errors: import.missing_field,
/// import.inconsistent, gguf.value_*.
Result<GgufMixer> readGgufState(const GgufFields& fields, const GgufArch& arch, const GgufShape& shape);

} // namespace kvw
