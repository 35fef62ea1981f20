// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

#include <initializer_list>
#include <string>

namespace kvw {

/// Builds what one mixer's layers keep: fixed tensors, each with the sources of its shape and element type. Base of the
/// readers of hf_linear.cpp and hf_mamba.cpp.
class MixerBuilder
{
protected:
    explicit MixerBuilder(const HfReading& reading)
        : m_reading(reading)
        , m_fields(reading.fields)
    {}

    void start(std::string id, std::string name);
    /// The first of `names`; else the class's own, where it has one (not 0), else an error. `tensor` and `field` are
    /// what an assumption leads to.
    Result<Stated> number(
        HfFields::Names names, std::int64_t byDefault, const std::string& tensor, const char* field) const;
    Result<Stated> hiddenSize() const;
    /// The source with a note of how the number was made of it.
    static Source noted(Source source, std::string note);
    /// A number that is so by what the layer is.
    static Source definition(std::string note);

    /// `entries` rows, there from the first token on.
    void add(const char* id, TensorRole role, const Stated& heads, const Stated& width, std::int64_t entries,
        ElementType type, const Source& typeSource);
    /// The last inputs of a convolution, in the model's element type; none for a kernel of 1.
    void addConvolution(const char* id, const Stated& heads, const Stated& width, const Stated& kernel);
    /// The matrix of a layer, in the element type that the first of `names` states, else in `otherwise` because of
    /// `why`. Error: import.unsupported for an element type that is not known.
    Result<void> addRecurrent(const char* id, const Stated& heads, const Stated& width,
        std::initializer_list<std::string_view> names, ElementType otherwise, const char* why);

    /// The whole. Error: json.range for a shape beyond what a plan holds.
    Result<LayerState> finish();

    const HfReading& m_reading;
    const HfFields& m_fields;
    LayerState m_state {};
};

} // namespace kvw
