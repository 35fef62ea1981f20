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

    Result<GgufMixer> read()
    {
        Result<void> status;
        switch (m_arch.state) {
        case GgufState::Mamba1:
            m_out = {"mamba1", "Mamba"};
            status = readSsm();
            break;
        case GgufState::Mamba2:
            m_out = {"mamba2", "Mamba 2"};
            status = readSsm();
            break;
        case GgufState::GatedDeltaNet:
            m_out = {"gated_delta_net", "Gated DeltaNet"};
            status = readSsm();
            break;
        case GgufState::Kda:
            m_out = {"kda", "Kimi Delta Attention"};
            status = readKda();
            break;
        case GgufState::ShortConvolution:
            m_out = {"short_conv", "Short convolution"};
            status = readShortConvolution();
            break;
        case GgufState::Wkv:
            m_out = {"rwkv", "RWKV"};
            status = readWkv();
            break;
        case GgufState::Lightning:
            m_out = {"lightning", "Lightning attention"};
            status = addState({m_shape.heads[0], m_fields.fileSource("attention.head_count")},
                {m_shape.keyWidth.value * m_shape.keyWidth.value,
                    m_fields.fileSource("attention.key_length", "squared: a matrix a head")});
            break;
        case GgufState::None:
            break;
        }
        if (!status)
            return status.error();
        return std::move(m_out);
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

    void add(std::string id, TensorRole role, const Stated& heads, const Stated& width, std::int64_t entries,
        const Source& entriesSource)
    {
        StatePart part;
        part.tensor.id = std::move(id);
        part.tensor.role = role;
        part.tensor.heads = heads.value;
        part.tensor.width = width.value;
        part.tensor.elementType = ElementType::Fp32;
        part.tensor.growth.form = GrowthForm::Fixed;
        part.tensor.growth.entries = entries;
        part.sources = {heads.source, width.source, std::nullopt, entriesSource};
        m_out.parts.push_back(std::move(part));
    }

    Result<void> addState(const Stated& heads, const Stated& width)
    {
        if (heads.value < 1 || width.value < 1 || width.value > mostElements)
            return m_fields.error("block_count", "import.inconsistent", "the recurrent state has no possible size",
                fmt::format("{} heads of {} elements", heads.value, width.value), "at least one of each");
        add("state", TensorRole::RecurrentState, heads, width, 1, m_fields.rule("one state for each sequence", false));
        return {};
    }

    /// Entries that a convolution keeps: all but the newest of its kernel.
    void addConvolution(std::string id, const Stated& heads, const Stated& width, const Stated& kernel)
    {
        Source entries = kernel.source;
        entries.note = "the kernel less one";
        if (kernel.value > 1)
            add(std::move(id), TensorRole::ConvolutionState, heads, width, kernel.value - 1, entries);
    }

    /// A width of `value`, made of the stated one as the note says.
    static Stated made(std::int64_t value, const Stated& from, std::string note)
    {
        Stated out {value, from.source};
        out.source.note = std::move(note);
        return out;
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
        if (m_arch.state == GgufState::Mamba1) {
            const Stated one {1, m_fields.rule("every channel is a row of its own", false)};
            addConvolution("conv", *inner, one, *kernel);
            return addState(*inner, *state);
        }
        const Result<Stated> heads = required("ssm.time_step_rank", 1, "the number of heads");
        if (!heads)
            return heads.error();
        if (inner->value % heads->value != 0)
            return m_fields.error("ssm.time_step_rank", "import.inconsistent", "the heads do not fill ssm.inner_size",
                fmt::format("{} in {}", heads->value, inner->value), "a divisor");
        const auto groups = m_fields.integer("ssm.group_count", 0, mostWidth);
        if (!groups)
            return groups.error();
        const Stated width = made(inner->value / heads->value, *inner, fmt::format("÷ {} heads", heads->value));
        if (Result<void> status = addChannels(*kernel, *heads, width, *state, groups->value_or(Stated {})); !status)
            return status;
        return addState(*heads,
            made(width.value * state->value, *inner,
                fmt::format("÷ {} heads × {} (ssm.state_size): a matrix a head", heads->value, state->value)));
    }

    /// What the convolution runs over: inputs of the heads, and two rows of the state's size for each group.
    Result<void> addChannels(
        const Stated& kernel, const Stated& heads, const Stated& width, const Stated& state, const Stated& groups)
    {
        if (m_arch.state == GgufState::Mamba2) {
            addConvolution("conv", heads, width, kernel);
            if (groups.value > 0)
                addConvolution("conv_bc", groups, made(2 * state.value, state, "× 2: B and C of each group"), kernel);
            return {};
        }
        if (groups.value < 1 || heads.value % groups.value != 0)
            return m_fields.error("ssm.group_count", "import.inconsistent",
                "the value heads cannot be divided over the key heads",
                fmt::format("{} over {}", heads.value, groups.value), "a whole number of value heads for each");
        addConvolution("conv", groups,
            made(2 * state.value + heads.value / groups.value * width.value, state,
                "query and key of this width, and the values of each key head"),
            kernel);
        return {};
    }

    Result<void> readKda()
    {
        const Result<Stated> kernel = required("ssm.conv_kernel", 1, "the kernel of the convolutions");
        if (!kernel)
            return kernel.error();
        const Result<Stated> width = required("kda.head_dim", 1, "the width of a head");
        if (!width)
            return width.error();
        const Stated heads {m_shape.heads[0], m_fields.fileSource("attention.head_count")};
        addConvolution("conv", heads, made(3 * width->value, *width, "× 3: query, key and value"), *kernel);
        return addState(heads, made(width->value * width->value, *width, "squared: a matrix a head"));
    }

    Result<void> readShortConvolution()
    {
        const Result<Stated> kernel = required("shortconv.l_cache", 2, "the kernel of the convolution");
        if (!kernel)
            return kernel.error();
        addConvolution("conv", {m_shape.embedding, m_fields.fileSource("embedding_length")},
            {1, m_fields.rule("every channel is a row of its own", false)}, *kernel);
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
        const Stated embedding {m_shape.embedding, m_fields.fileSource("embedding_length")};
        const std::int64_t entries = *shift ? (*shift)->value : usualShift;
        if (entries > 0) {
            add("shift", TensorRole::Buffer, {1, m_fields.rule("the channels of the model: no heads", false)},
                embedding, entries,
                *shift ? (*shift)->source : m_fields.rule("token_shift_count 2 where it is not stated"));
            m_out.parts.back().tensor.shard = ShardRule::Replicated;
        }
        return addState(made(m_shape.embedding / width->value, embedding, fmt::format("÷ {}: heads", width->value)),
            made(width->value * width->value, *width, "squared: a matrix a head"));
    }

    const GgufFields& m_fields;
    const GgufArch& m_arch;
    const GgufShape& m_shape;
    GgufMixer m_out {};
};

} // namespace

Result<GgufMixer> readGgufState(const GgufFields& fields, const GgufArch& arch, const GgufShape& shape)
{
    return StateReader(fields, arch, shape).read();
}

} // namespace kvw
