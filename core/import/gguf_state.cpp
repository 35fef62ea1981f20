// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_state.h"

#include <fmt/format.h>

namespace kvw {

namespace {

constexpr std::int64_t mostWidth = 1'000'000;
constexpr std::int64_t mostElements = std::int64_t {1} << 40;

class StateReader
{
public:
    StateReader(const GgufFields& fields, const GgufArch& arch, const GgufShape& shape)
        : m_fields(fields)
        , m_arch(arch)
        , m_shape(shape)
    {}

    Result<std::vector<StatePart>> read()
    {
        Result<void> status;
        switch (m_arch.state) {
        case GgufState::Ssm:
            status = readSsm();
            break;
        case GgufState::Kda:
            status = readKda();
            break;
        case GgufState::ShortConvolution:
            status = readShortConvolution();
            break;
        case GgufState::Wkv:
            status = readWkv();
            break;
        case GgufState::Lightning:
            status = addState(m_shape.heads[0], m_shape.keyWidth.value * m_shape.keyWidth.value,
                m_fields.fileSource("attention.key_length", "squared"));
            break;
        case GgufState::None:
            break;
        }
        if (!status)
            return status.error();
        return std::move(m_parts);
    }

private:
    Result<Stated> required(std::string_view name, std::int64_t minimum, std::string_view what) const
    {
        const auto found = m_fields.integer(name, minimum, mostWidth);
        if (!found)
            return found.error();
        if (!*found)
            return m_fields.missing(name, what);
        return **found;
    }

    void add(std::string id, TensorRole role, std::int64_t heads, std::int64_t width, std::int64_t entries,
        const Source& widthSource, const Source& entriesSource)
    {
        StatePart part;
        part.tensor.id = std::move(id);
        part.tensor.role = role;
        part.tensor.heads = heads;
        part.tensor.width = width;
        part.tensor.elementType = ElementType::Fp32;
        part.tensor.growth.form = GrowthForm::Fixed;
        part.tensor.growth.entries = entries;
        part.sources = {widthSource, widthSource, std::nullopt, entriesSource};
        m_parts.push_back(std::move(part));
    }

    Result<void> addState(std::int64_t heads, std::int64_t width, const Source& source)
    {
        if (heads < 1 || width < 1 || width > mostElements)
            return m_fields.error("block_count", "import.inconsistent", "the recurrent state has no possible size",
                fmt::format("{} heads of {} elements", heads, width), "at least one of each");
        add("state", TensorRole::RecurrentState, heads, width, 1, source,
            m_fields.rule("one state for each sequence", false));
        return {};
    }

    /// Entries that a convolution keeps: all but the newest of its kernel.
    void addConvolution(std::int64_t heads, std::int64_t width, const Stated& kernel, const Source& source)
    {
        if (kernel.value > 1)
            add("conv", TensorRole::ConvolutionState, heads, width, kernel.value - 1, source, kernel.source);
    }

    Result<void> readSsm()
    {
        const Result<Stated> kernel = required("ssm.conv_kernel", 1, "the kernel of the convolution");
        const Result<Stated> inner = required("ssm.inner_size", 1, "the width of the recurrent part");
        const Result<Stated> state = required("ssm.state_size", 1, "the size of the state");
        for (const Result<Stated>* one : {&kernel, &inner, &state}) {
            if (!*one)
                return one->error();
        }
        const auto groups = m_fields.integer("ssm.group_count", 0, mostWidth);
        if (!groups)
            return groups.error();
        const auto rank = m_fields.integer("ssm.time_step_rank", 0, mostWidth);
        if (!rank)
            return rank.error();
        const std::int64_t groupCount = *groups ? (*groups)->value : 0;
        addConvolution(1, inner->value + 2 * groupCount * state->value, *kernel,
            m_fields.fileSource("ssm.inner_size", "and 2 × ssm.group_count × ssm.state_size"));
        // With heads (Mamba 2, Gated DeltaNet) the time step's rank is their number; Mamba 1 has none.
        const bool hasHeads = groupCount > 0 && *rank && (*rank)->value > 0 && inner->value % (*rank)->value == 0;
        const std::int64_t heads = hasHeads ? (*rank)->value : 1;
        return addState(
            heads, inner->value / heads * state->value, m_fields.fileSource("ssm.inner_size", "× ssm.state_size"));
    }

    Result<void> readKda()
    {
        const Result<Stated> kernel = required("ssm.conv_kernel", 1, "the kernel of the convolutions");
        if (!kernel)
            return kernel.error();
        const Result<Stated> width = required("kda.head_dim", 1, "the width of a head");
        if (!width)
            return width.error();
        const std::int64_t heads = m_shape.heads[0];
        addConvolution(heads, 3 * width->value, *kernel,
            m_fields.fileSource("kda.head_dim", "for queries, keys and values of each query head"));
        return addState(heads, width->value * width->value, m_fields.fileSource("kda.head_dim", "squared"));
    }

    Result<void> readShortConvolution()
    {
        const Result<Stated> kernel = required("shortconv.l_cache", 2, "the kernel of the convolution");
        if (!kernel)
            return kernel.error();
        addConvolution(1, m_shape.embedding, *kernel, m_fields.fileSource("embedding_length"));
        return {};
    }

    Result<void> readWkv()
    {
        const Result<Stated> width = required("wkv.head_size", 1, "the width of a head");
        if (!width)
            return width.error();
        const auto shift = m_fields.integer("token_shift_count", 0, 1'000);
        if (!shift)
            return shift.error();
        constexpr std::int64_t usualShift = 2;
        if (m_shape.embedding % width->value != 0)
            return m_fields.error("wkv.head_size", "import.inconsistent", "the heads do not fill embedding_length",
                fmt::format("{} in {}", width->value, m_shape.embedding), "a divisor");
        const std::int64_t entries = *shift ? (*shift)->value : usualShift;
        if (entries > 0)
            add("shift", TensorRole::ConvolutionState, 1, m_shape.embedding, entries,
                m_fields.fileSource("embedding_length"),
                *shift ? (*shift)->source : m_fields.rule("token_shift_count 2 where it is not stated"));
        return addState(m_shape.embedding / width->value, width->value * width->value,
            m_fields.fileSource("wkv.head_size", "squared"));
    }

    const GgufFields& m_fields;
    const GgufArch& m_arch;
    const GgufShape& m_shape;
    std::vector<StatePart> m_parts;
};

} // namespace

Result<std::vector<StatePart>> readGgufState(const GgufFields& fields, const GgufArch& arch, const GgufShape& shape)
{
    return StateReader(fields, arch, shape).read();
}

} // namespace kvw
