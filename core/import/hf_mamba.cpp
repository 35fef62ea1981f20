// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_mamba.h"

#include "import/hf_mixer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kvw {

namespace {

class MambaReader : private MixerBuilder
{
public:
    explicit MambaReader(const HfReading& reading)
        : MixerBuilder(reading)
    {}

    Result<LayerState> read()
    {
        if (const Result<void> status = m_reading.family.mixer == Mixer::Mamba1 ? mamba1() : mamba2(); !status)
            return status.error();
        return finish();
    }

private:
    /// Channels inside a Mamba mixer: stated, or expand × hidden_size.
    Result<Stated> innerSize(bool ofIntermediate)
    {
        const Result<std::optional<Stated>> stated = m_fields.integer({"mamba_d_ssm", "d_inner"}, 1, mostWidth);
        if (!stated)
            return stated.error();
        if (*stated)
            return **stated;
        if (ofIntermediate) {
            const Result<std::optional<Stated>> own = m_fields.integer({"intermediate_size"}, 1, mostWidth);
            if (!own || *own)
                return own ? Result<Stated>(**own) : Result<Stated>(own.error());
        }
        const Result<Stated> hidden = hiddenSize();
        if (!hidden)
            return hidden.error();
        const Result<Stated> expand = number({"mamba_expand", "expand"}, 2, "state", "heads");
        if (!expand)
            return expand.error();
        return Stated {expand->value * hidden->value, noted(hidden->source, fmt::format("× {}", expand->value))};
    }

    Result<void> mamba1()
    {
        start("mamba1", "Mamba");
        // The Mamba classes themselves call the inner size intermediate_size; beside attention that is the MLP's.
        const Result<Stated> inner = innerSize(m_reading.family.layerRule == LayerRule::Mixer);
        if (!inner)
            return inner.error();
        const Result<Stated> depth = number({"mamba_d_state", "state_size", "ssm_state_size"}, 16, "state", "width");
        if (!depth)
            return depth.error();
        const Result<Stated> kernel = number({"mamba_d_conv", "conv_kernel"}, 4, "conv", "entries");
        if (!kernel)
            return kernel.error();
        addConvolution(
            "conv", {inner->value, inner->source}, {1, definition("every channel is a row of its own")}, *kernel);
        return addRecurrent("state", {inner->value, inner->source}, {depth->value, depth->source},
            {"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}, m_reading.model.dtype, "");
    }

    Result<void> mamba2()
    {
        start("mamba2", "Mamba 2");
        const Result<std::optional<Stated>> stated
            = m_fields.integer({"mamba_num_heads", "mamba_n_heads", "n_mamba_heads"}, 1, mostHeads);
        if (!stated)
            return stated.error();
        const bool alone = m_reading.family.layerRule == LayerRule::Mixer && m_fields.modelType() == "mamba2";
        const Result<Stated> heads = *stated ? Result<Stated>(**stated)
            : alone                          ? number({"num_heads"}, 128, "state", "heads")
                                             : number({"mamba_n_heads"}, 128, "state", "heads");
        if (!heads)
            return heads.error();
        const Result<Stated> width = mamba2Width(*heads, alone);
        if (!width)
            return width.error();
        const Result<Stated> groups = number(
            {"n_groups", "mamba_n_groups", "mamba_ngroups"}, alone || isNemotron() ? 8 : 1, "conv_bc", "heads");
        if (!groups)
            return groups.error();
        const Result<Stated> depth = number(
            {"ssm_state_size", "mamba_d_state", "state_size"}, alone || isNemotron() ? 128 : 256, "state", "width");
        if (!depth)
            return depth.error();
        const Result<Stated> kernel = number({"conv_kernel", "mamba_d_conv"}, 4, "conv", "entries");
        if (!kernel)
            return kernel.error();
        // The convolution runs over the inputs of the heads, and over B and C of the groups. Groups are extended to the
        // ranks where there are fewer (vLLM: extra_groups_for_head_shards), as heads of a tensor are.
        addConvolution("conv", {heads->value, heads->source}, {width->value, width->source}, *kernel);
        addConvolution("conv_bc", {groups->value, groups->source},
            {2 * depth->value, noted(depth->source, "× 2: B and C of each group")}, *kernel);
        return addRecurrent("state", {heads->value, heads->source},
            {width->value * depth->value, noted(width->source, fmt::format("× {}: a matrix a head", depth->value))},
            {"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}, m_reading.model.dtype, "");
    }

    bool isNemotron() const { return hasWord(m_reading.family.reads, "hybrid_override_pattern"); }

    /// Elements of a head; "auto" and nothing stand for inner size ÷ heads.
    Result<Stated> mamba2Width(const Stated& heads, bool alone)
    {
        for (const std::string_view name :
            {"mamba_head_dim", "mamba_d_head", "mamba_headdim", alone ? "head_dim" : "mamba_head_dim"}) {
            const auto stated = m_fields.find({name});
            if (!stated || stated->json() == "auto")
                continue;
            const Result<std::int64_t> width = stated->integer(1, mostWidth);
            if (!width)
                return width.error();
            return Stated {*width, m_fields.fileSource(stated->pointer())};
        }
        const Result<Stated> inner = innerSize(false);
        if (!inner)
            return inner.error();
        if (inner->value % heads.value != 0)
            return Error {"import.inconsistent", "the inner size cannot be divided over the heads",
                {m_fields.root().file(), inner->source.at}, fmt::format("{} ÷ {}", inner->value, heads.value),
                "a whole number of elements for each head"};
        return Stated {inner->value / heads.value, noted(inner->source, fmt::format("÷ {} heads", heads.value))};
    }
};

} // namespace

Result<LayerState> readMambaState(const HfReading& reading)
{
    return MambaReader(reading).read();
}

} // namespace kvw
