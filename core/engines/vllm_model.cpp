// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_model.h"

#include "engines/vllm_platform.h"
#include "plan/shape.h"
#include "units/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kvw::vllm {

namespace {

bool isState(const StateTensor& tensor)
{
    return tensor.growth.form == GrowthForm::Fixed;
}

bool isHead(const StateTensor& tensor)
{
    return tensor.role == TensorRole::Key || tensor.role == TensorRole::Value;
}

bool isVector(const StateTensor& tensor)
{
    return tensor.role == TensorRole::Latent || tensor.role == TensorRole::PositionalKey;
}

/// One entry per token, of all tokens.
bool isPlain(const GrowthLaw& growth)
{
    return growth.form == GrowthForm::Linear && growth.stride == 1 && growth.offset == 0;
}

class ModelBuilder
{
public:
    ModelBuilder(const Plan& plan, PlanInputs& inputs)
        : m_plan(plan)
        , m_inputs(inputs)
        , m_tp(plan.deployment.tp.value_or(1))
    {
        m_out.input.rules = versionOf(plan.engine.version).rules;
    }

    PlanModel build()
    {
        addSettings();
        for (std::size_t i = 0; i < m_plan.worksheet.groups.size(); ++i) {
            const LayerGroup& group = m_plan.worksheet.groups[i];
            if (!keepsState(m_plan, group))
                continue;
            addGroup(i, group);
            if (!m_out.refusal.text.empty())
                return std::move(m_out);
        }
        alignBlocks();
        return std::move(m_out);
    }

private:
    void addSettings()
    {
        SizingInput& out = m_out.input;
        out.maxModelLen = m_plan.limits.maxModelLen.value_or(0);
        out.derivedMaxModelLen = out.maxModelLen;
        const EngineFields& engine = m_plan.engine;
        const std::int64_t batches = engine.batchesInFlight.value_or(batchesInFlight(out.rules,
            m_plan.deployment.pp.value_or(1), engine.asyncScheduling != Switch::Off, engine.runner == ModelRunner::V2));
        out.request.inFlightTokens
            = checkedMultiply(batches, engine.maxBatchedTokens.value_or(8192)).value_or(INT64_MAX / 4);
        out.request.contextRanks = m_plan.deployment.dcp.value_or(1);
        out.request.encoderTokens = m_plan.limits.encoderTokens.value_or(0);
        m_drafts = engine.speculation == Switch::On ? engine.speculativeTokens.value_or(1) : 0;
        if (engine.draftModules.value_or(1) > 1)
            out.draftModuleTokens = m_drafts;
        out.hybridManagerOff = engine.hybridManager == Switch::Off;
        out.blocksOverride = engine.blocksOverride;
        out.request.mambaMode = engine.stateMode == StateMode::None ? MambaMode::None
            : engine.stateMode == StateMode::All                    ? MambaMode::All
            : engine.stateMode == StateMode::Align                  ? MambaMode::Align
            : m_plan.reuse.prefixCaching == Switch::Off             ? MambaMode::None
                                                                    : MambaMode::Align;
    }

    void refuse(const LayerGroup& group, const std::string& why, std::string field = "engine.name")
    {
        m_out.refusal = {fmt::format("{}: {}", group.id, why), std::move(field)};
    }

    ElementType typeOf(const StateTensor& tensor) const
    {
        return tensor.elementType == ElementType::NotStated ? m_plan.cache.elementType : tensor.elementType;
    }

    std::int64_t headsOf(const StateTensor& tensor) const
    {
        return tensor.shard == ShardRule::Replicated ? tensor.heads : std::max<std::int64_t>(1, tensor.heads / m_tp);
    }

    void addGroup(std::size_t index, const LayerGroup& group)
    {
        std::vector<std::size_t> heads;
        std::vector<std::size_t> vectors;
        std::vector<std::size_t> keys;
        std::vector<std::size_t> states;
        for (std::size_t i = 0; i < group.tensors.size(); ++i) {
            const StateTensor& tensor = group.tensors[i];
            if (typeOf(tensor) == ElementType::NotStated)
                return refuse(group, "the cache element type is not stated", "cache.elementType");
            if (tensor.shard == ShardRule::Heads && tensor.heads % m_tp != 0 && m_tp % tensor.heads != 0)
                return refuse(group,
                    fmt::format("{} KV heads cannot be kept on {} tensor-parallel ranks: neither divides the other",
                        tensor.heads, m_tp),
                    "deployment.tp");
            (isState(tensor)                              ? states
                    : isHead(tensor)                      ? heads
                    : isVector(tensor)                    ? vectors
                    : tensor.role == TensorRole::IndexKey ? keys
                                                          : states)
                .push_back(i);
        }
        const bool mixed = (!states.empty() ? 1 : 0) + (!heads.empty() ? 1 : 0) + (!vectors.empty() ? 1 : 0) != 1;
        if (mixed || (!states.empty() && !keys.empty()))
            return refuse(group, "these rules do not know this combination of tensors from the worksheet");
        if (!states.empty())
            return addState(index, group, states);
        if (!heads.empty())
            addHeads(index, group, heads);
        if (m_out.refusal.text.empty() && !keys.empty())
            addIndex(index, group, keys, heads.empty());
        if (m_out.refusal.text.empty() && !vectors.empty())
            addVectors(index, group, vectors, !keys.empty());
    }

    void addSpec(std::size_t group, std::vector<std::size_t> tensors, LayerSpec spec)
    {
        const std::size_t at = m_out.input.specs.size();
        m_out.input.specs.push_back(std::move(spec));
        m_out.sources.push_back({group, std::move(tensors)});
        const std::int64_t layers = m_plan.worksheet.groups[group].layers;
        for (std::int64_t i = 0; i < layers; ++i)
            m_out.input.layers.push_back({at, 0});
    }

    std::int64_t blockOf(std::int64_t fallback) const { return m_plan.engine.blockTokens.value_or(fallback); }

    void addHeads(std::size_t index, const LayerGroup& group, const std::vector<std::size_t>& tensors)
    {
        const StateTensor& first = group.tensors[tensors.front()];
        LayerSpec spec;
        spec.blockTokens = blockOf(std::max<std::int64_t>(16, kernelBlockTokens(m_plan.engine.attentionBackend)));
        spec.heads = headsOf(first);
        std::int64_t content = 0;
        std::int64_t elements = 0;
        for (const std::size_t i : tensors) {
            const StateTensor& tensor = group.tensors[i];
            if (tensor.growth.form != GrowthForm::Chunked && !isPlain(tensor.growth))
                return refuse(group, "its state does not keep one entry per token, which these rules do not cover");
            if (!(tensor.growth == first.growth) || tensor.heads != first.heads || tensor.shard != first.shard)
                return refuse(group, "its K and V do not grow alike");
            (tensor.role == TensorRole::Key ? spec.headSize : spec.valueSize) += tensor.width;
            content += rowBytes(typeOf(tensor), tensor.width);
            elements += tensor.width;
        }
        const GrowthLaw& growth = first.growth;
        if (growth.form == GrowthForm::Chunked) {
            spec.kind = SpecKind::ChunkedLocal;
            spec.chunk = growth.chunk;
        } else if (growth.variable != GrowthVariable::Tokens) {
            spec.kind = SpecKind::Cross;
            m_out.input.request.encoderTokens = std::max(m_out.input.request.encoderTokens,
                growth.variable == GrowthVariable::ImageTokens ? m_plan.limits.imageTokens.value_or(0) : 0);
        } else if (growth.limit) {
            spec.kind = SpecKind::Sliding;
            spec.window = growth.limit;
        }
        if (content % elements == 0)
            spec.elementBytes = content / elements;
        else
            spec.contentBytes = content;
        if (m_plan.engine.cacheType.ends_with("per_token_head"))
            spec.contentBytes = (m_plan.engine.cacheType.starts_with("int4") ? elements / 2 : elements) + 8;
        addSpec(index, tensors, std::move(spec));
    }

    LayerSpec vectorSpec(std::int64_t bytes) const
    {
        LayerSpec spec;
        spec.kind = SpecKind::Mla;
        spec.elementBytes = 1;
        spec.headSize = bytes;
        spec.stridedPages = true;
        spec.blockTokens = blockOf(kernelBlockTokens(m_plan.engine.attentionBackend));
        return spec;
    }

    void addVectors(std::size_t index, const LayerGroup& group, const std::vector<std::size_t>& tensors, bool indexed)
    {
        std::int64_t bytes = 0;
        std::int64_t elements = 0;
        for (const std::size_t i : tensors) {
            const StateTensor& tensor = group.tensors[i];
            if (!isPlain(tensor.growth) || tensor.growth.limit)
                return refuse(group, "compressed and windowed latents are not covered from the worksheet");
            bytes += tensor.heads * rowBytes(typeOf(tensor), tensor.width);
            elements += tensor.heads * tensor.width;
        }
        LayerSpec spec = vectorSpec(bytes);
        const std::string& stored = m_plan.engine.cacheType;
        const bool record = stored == "fp8_ds_mla" || (stored.empty() && hasIndexes() && bytes == elements);
        if (record) {
            // 512 latent values in fp8, four fp32 scales, 64 rotary values in bf16
            spec.contentBytes = 656;
            spec.cacheType = "fp8_ds_mla";
            if (stored.empty())
                m_inputs.assume({"vllm.fp8_ds_mla",
                    "Latents in fp8 beside an index are stored as records of 656 bytes (fp8_ds_mla).",
                    "engine.cacheType"});
        } else if (stored.ends_with("per_token_head")) {
            spec.contentBytes = (stored.starts_with("int4") ? elements / 2 : elements) + 8;
        }
        if (indexed || hasIndexes()) {
            spec.blockTokens = blockOf(64);
            spec.stridedPages = false;
        }
        addSpec(index, tensors, std::move(spec));
    }

    bool hasIndexes() const
    {
        for (const LayerGroup& group : m_plan.worksheet.groups) {
            for (const StateTensor& tensor : group.tensors) {
                if (keepsState(m_plan, group) && tensor.role == TensorRole::IndexKey)
                    return true;
            }
        }
        return false;
    }

    void addIndex(
        std::size_t index, const LayerGroup& group, const std::vector<std::size_t>& tensors, bool besideLatents)
    {
        const StateTensor& tensor = group.tensors[tensors.front()];
        if (tensors.size() != 1 || !isPlain(tensor.growth) || tensor.growth.limit)
            return refuse(group, "its index keys do not keep one entry per token");
        LayerSpec spec = vectorSpec(tensor.heads * rowBytes(typeOf(tensor), tensor.width));
        spec.stridedPages = false;
        if (besideLatents) {
            spec.headSize = tensor.heads * (tensor.width + 4 * ((tensor.width + 127) / 128));
            spec.blockTokens = blockOf(64);
        } else {
            spec.blockTokens = blockOf(128);
            for (LayerSpec& other : m_out.input.specs) // MiniMax-M3's backend takes blocks of 128 alone
                other.blockTokens = other.kind == SpecKind::Full ? blockOf(128) : other.blockTokens;
        }
        addSpec(index, tensors, std::move(spec));
    }

    void addState(std::size_t index, const LayerGroup& group, const std::vector<std::size_t>& tensors)
    {
        LayerSpec spec;
        spec.kind = SpecKind::Mamba;
        for (const std::size_t i : tensors) {
            const StateTensor& tensor = group.tensors[i];
            if (!isState(tensor))
                return refuse(group, "these rules do not know this combination of tensors from the worksheet");
            const std::int64_t rows
                = tensor.growth.entries + (tensor.role == TensorRole::ConvolutionState ? m_drafts : 0);
            spec.arrays.push_back({{rows, headsOf(tensor)}, rowBytes(typeOf(tensor), tensor.width)});
        }
        spec.draftBlocks = m_drafts;
        spec.blockTokens = std::max<std::int64_t>(1, m_out.input.maxModelLen);
        addSpec(index, tensors, std::move(spec));
    }

    /// Blocks of models of several kinds: windows as small as kernels allow, and beside recurrent state as large as a
    /// state needs.
    void alignBlocks()
    {
        std::vector<LayerSpec>& specs = m_out.input.specs;
        const Rules& rules = m_out.input.rules;
        const LayerSpec* primary = nullptr;
        std::int64_t state = 0;
        for (const LayerSpec& spec : specs) {
            if (spec.kind == SpecKind::Mamba)
                state = std::max(state, pageBytes(spec, rules).value_or(0));
            else if (!primary && isFullKind(spec.kind))
                primary = &spec;
        }
        if (specs.size() > 1 && rules.countsBatches) {
            for (LayerSpec& spec : specs)
                spec.blockTokens = spec.kind == SpecKind::Sliding ? 16 : spec.blockTokens;
        }
        if (state == 0 || !primary)
            return;
        LayerSpec one = *primary;
        one.blockTokens = 1;
        const std::int64_t each = pageBytes(one, rules).value_or(0);
        std::int64_t unit = primary->blockTokens;
        if (primary->kind == SpecKind::Mla)
            unit = std::max<std::int64_t>(unit, 128);
        if (m_out.input.request.mambaMode == MambaMode::All)
            unit = std::lcm(unit, 256);
        if (each <= 0)
            return;
        const std::int64_t block = hybridBlockTokens(state, each, unit).value_or(unit);
        for (LayerSpec& spec : specs) {
            if (spec.kind == SpecKind::Mamba) {
                spec.paddedPage = checkedMultiply(block, each);
                if (m_out.input.request.mambaMode != MambaMode::None)
                    spec.blockTokens = block;
            } else if (isFullKind(spec.kind)) {
                spec.blockTokens = block;
            }
        }
    }

    const Plan& m_plan;
    PlanInputs& m_inputs;
    std::int64_t m_tp;
    std::int64_t m_drafts = 0;
    PlanModel m_out;
};

} // namespace

PlanModel modelOf(const Plan& plan, PlanInputs& inputs)
{
    return ModelBuilder(plan, inputs).build();
}

} // namespace kvw::vllm
