// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_groups.h"

#include "import/hf_attention.h"
#include "import/hf_compressed.h"
#include "import/hf_cross.h"
#include "import/hf_draft.h"
#include "import/hf_latent.h"
#include "import/hf_layers.h"
#include "import/hf_linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace kvw {

namespace {

/// Puts together what each layer keeps: the layers' roles, and for each role the state that its reader found.
class GroupBuilder
{
public:
    GroupBuilder(const HfReading& reading, LayerPlan plan)
        : m_reading(reading)
        , m_plan(std::move(plan))
    {}

    Result<void> build()
    {
        if (const Result<void> read = readStates(); !read)
            return read;
        const std::size_t own = m_plan.roles.size() - static_cast<std::size_t>(m_plan.shared);
        for (std::size_t i = 0; i < m_plan.roles.size(); ++i) {
            const Result<void> added = i < own ? addLayer(i) : addShared(i, own);
            if (!added)
                return added;
        }
        if (m_groups.isEmpty())
            return Error {"import.unsupported", "no layer of this configuration keeps state between steps",
                {m_reading.fields.root().file(), m_plan.source.at}};
        m_groups.finish(m_reading.model, m_plan.source);
        return {};
    }

    /// What draft layers of this model keep. Nothing when it is not known.
    std::vector<LayerState> draftStates(const DraftCount& drafts) const
    {
        std::vector<LayerState> out;
        const std::vector<LayerRole> each = m_plan.draftRoles.empty() ? rolesOfDrafts() : std::vector<LayerRole> {};
        const std::vector<LayerRole>& roles = each.empty() ? m_plan.draftRoles : each;
        if (!std::all_of(roles.begin(), roles.end(), [&](LayerRole role) { return isRead(role); }))
            return out;
        for (std::int64_t i = 0; i < (each.empty() ? 1 : drafts.layers.value); ++i) {
            for (const LayerRole role : roles)
                appendStates(out, role);
        }
        return out;
    }

private:
    bool any(LayerRole wanted) const
    {
        return std::find(m_plan.roles.begin(), m_plan.roles.end(), wanted) != m_plan.roles.end();
    }
    bool anySliding() const { return any(LayerRole::Sliding) || any(LayerRole::HybridSliding); }
    bool anyMixer() const { return any(LayerRole::Mixer) || any(LayerRole::Hybrid) || any(LayerRole::HybridSliding); }

    /// A class of latent attention may be told to keep plain keys and values.
    bool isLatent() const
    {
        const Result<std::optional<bool>> used = m_reading.fields.flag("use_mla");
        const bool off = used && *used == std::optional(false);
        return (m_reading.family.latent && !off)
            || m_reading.fields.find({"kv_lora_rank", "attention_kv_lora_dim"}).has_value();
    }

    /// True when it was found out what a layer of this role keeps.
    bool isRead(LayerRole role) const
    {
        const bool mixes = role == LayerRole::Mixer || role == LayerRole::Hybrid || role == LayerRole::HybridSliding;
        const bool slides = role == LayerRole::Sliding || role == LayerRole::HybridSliding;
        return (!attends(role) || m_latent || m_hasShape) && (!mixes || m_mixer) && (!slides || m_plan.window)
            && (role != LayerRole::Chunked || m_plan.chunk) && (role != LayerRole::Cross || m_cross);
    }

    Result<void> readStates()
    {
        const bool attention = std::any_of(m_plan.roles.begin(), m_plan.roles.end(), attends) || any(LayerRole::Cross);
        if (attention && isLatent()) {
            if (m_reading.family.crossRule != CrossRule::None)
                return Error {"import.unsupported", "latent attention to another sequence cannot be read yet",
                    {m_reading.fields.root().file(), m_reading.fields.pointer("kv_lora_rank")}};
            if (m_plan.window || any(LayerRole::Chunked))
                return Error {"import.unsupported", "latent attention with a window cannot be read yet",
                    {m_reading.fields.root().file(), m_plan.window ? m_plan.source.at : m_plan.chunk->source.at}};
            const Result<LatentStates> latent = readLatentStates(m_reading, m_plan.roles.size());
            if (!latent)
                return latent.error();
            m_latent = *latent;
        } else if (attention) {
            if (const Result<void> read = readAttention(); !read)
                return read;
        }
        if (anyMixer()) {
            const Result<LayerState> mixer = readMixerState(m_reading);
            if (!mixer)
                return mixer.error();
            m_mixer = *mixer;
        }
        return {};
    }

    /// The group that assumptions about shapes lead to: the first that there will be.
    const char* firstGroup() const
    {
        return any(LayerRole::Full) || any(LayerRole::Hybrid) ? "full"
            : any(LayerRole::BlockSparse)                     ? "block_sparse"
            : any(LayerRole::Chunked)                         ? "chunked"
            : any(LayerRole::Cross)                           ? "cross"
                                                              : "sliding";
    }

    Result<void> readAttention()
    {
        // Where every layer states its own heads, the file need not state them for all.
        const bool ownHeads = !m_plan.shapes.empty()
            && std::all_of(m_plan.shapes.begin(), m_plan.shapes.end(), [](const auto& s) { return s.second.kvHeads; })
            && m_plan.shapes.size()
                == static_cast<std::size_t>(std::count_if(m_plan.roles.begin(), m_plan.roles.end(), attends));
        const Result<AttentionShape> shape = readAttentionShape(m_reading, firstGroup());
        if (!shape)
            return shape.error();
        if (ownHeads)
            std::erase_if(m_reading.model.assumptions,
                [](const Assumption& assumption) { return assumption.id == "import.kv_heads_default"; });
        m_full = *shape;
        m_sliding = *shape;
        m_hasShape = true;
        if (anySliding()) {
            const Result<AttentionShape> sliding = slidingShape(m_reading, *shape);
            if (!sliding)
                return sliding.error();
            m_sliding = *sliding;
        }
        if (any(LayerRole::Full)) {
            const Result<AttentionShape> global = globalShape(m_reading, *shape);
            if (!global)
                return global.error();
            m_full = *global;
        }
        if (m_reading.family.crossRule != CrossRule::None) {
            const Result<LayerState> cross = readCrossState(m_reading, m_full);
            if (!cross)
                return cross.error();
            m_cross = *cross;
        }
        return {};
    }

    static AttentionShape shaped(AttentionShape shape, const LayerShape* own)
    {
        if (own && own->kvHeads)
            shape.heads = *own->kvHeads;
        if (own && own->width) {
            shape.keyWidth = *own->width;
            shape.valueWidth = *own->width;
        }
        return shape;
    }

    LayerState fullState(const LayerShape* own) const
    {
        return attentionState(
            {.id = "full", .name = "Full attention", .kind = LayerKind::Full}, shaped(m_full, own), {});
    }

    LayerState slidingState(const LayerShape* own) const
    {
        GrowthLaw growth;
        growth.limit = m_plan.window->value;
        LayerState out = attentionState({.id = "sliding",
                                            .name = fmt::format("Sliding window {}", m_plan.window->value),
                                            .kind = LayerKind::Sliding},
            shaped(m_sliding, own), growth);
        for (const char* tensor : {"k", "v"})
            out.sources[fmt::format("tensors.{}.limit", tensor)] = m_plan.window->source;
        return out;
    }

    LayerState chunkedState(const LayerShape* own) const
    {
        GrowthLaw growth;
        growth.form = GrowthForm::Chunked;
        growth.chunk = m_plan.chunk->value;
        LayerState out = attentionState(
            {.id = "chunked", .name = fmt::format("Chunks of {}", m_plan.chunk->value), .kind = LayerKind::Chunked},
            shaped(m_full, own), growth);
        for (const char* tensor : {"k", "v"})
            out.sources[fmt::format("tensors.{}.chunk", tensor)] = m_plan.chunk->source;
        return out;
    }

    LayerState sparseState(const LayerShape* own) const
    {
        LayerState out = fullState(own);
        out.group.id = "block_sparse";
        out.group.name = "Block-sparse attention, kept whole";
        return out;
    }

    /// The states of a layer of this role; a hybrid layer has two.
    std::vector<LayerState> statesOf(LayerRole role, const LayerShape* own, const LayerState* latent) const
    {
        std::vector<LayerState> out;
        if (attends(role) && latent)
            out.push_back(*latent);
        else if (role == LayerRole::Full || role == LayerRole::Hybrid)
            out.push_back(fullState(own));
        else if (role == LayerRole::Sliding || role == LayerRole::HybridSliding)
            out.push_back(slidingState(own));
        else if (role == LayerRole::Chunked)
            out.push_back(chunkedState(own));
        else if (role == LayerRole::BlockSparse)
            out.push_back(sparseState(own));
        if (role == LayerRole::Mixer || role == LayerRole::Hybrid || role == LayerRole::HybridSliding)
            out.push_back(*m_mixer);
        const bool encoder = m_cross && m_reading.family.crossRule != CrossRule::Image && attends(role);
        if (role == LayerRole::Cross || encoder)
            out.push_back(*m_cross);
        return out;
    }

    Result<void> addLayer(std::size_t i)
    {
        const auto own = m_plan.shapes.find(static_cast<std::int64_t>(i));
        const LayerState* const latent = m_latent ? &m_latent->of(i) : nullptr;
        std::vector<LayerState> made;
        const std::vector<LayerState>* states = &made;
        if (own != m_plan.shapes.end()) {
            made = statesOf(m_plan.roles[i], &own->second, latent);
        } else { // as every other layer of its role
            const auto [known, added] = m_states.try_emplace({m_plan.roles[i], latent});
            if (added)
                known->second = statesOf(m_plan.roles[i], nullptr, latent);
            states = &known->second;
        }
        for (const LayerState& state : *states) {
            if (const Result<void> added = m_groups.add(static_cast<std::int64_t>(i), state, m_reading.fields); !added)
                return added;
        }
        return {};
    }

    /// A layer that reads the last layer of its own kind among those that keep state.
    Result<void> addShared(std::size_t i, std::size_t own)
    {
        std::size_t read = own;
        while (read > 0 && m_plan.roles[read - 1] != m_plan.roles[i])
            --read;
        if (read == 0)
            return Error {"import.inconsistent",
                fmt::format("layer {} shares the state of a layer of its kind, but none before {} is of it", i, own),
                {m_reading.fields.root().file(), m_reading.fields.pointer("num_kv_shared_layers")}, {},
                "a layer of each kind among those that keep state"};
        const std::string group = m_groups.idOf(static_cast<std::int64_t>(read - 1));
        if (group.empty())
            return {};
        LayerState state {.group = {.id = "shared_" + group,
                              .name = fmt::format("Shared: read layer {} of {}", read - 1, group),
                              .kind = LayerKind::Shared}};
        state.group.readsGroup = group;
        state.sources["readsGroup"] = m_plan.sharedSource;
        return m_groups.add(static_cast<std::int64_t>(i), state, m_reading.fields);
    }

    /// What the layers of one draft module are: those that a field names, else one like the trunk's attention.
    std::vector<LayerRole> rolesOfDrafts() const
    {
        const HfFields& fields = m_reading.fields;
        std::vector<LayerRole> out;
        const auto put = [&](std::optional<LayerRole> role) {
            if (role)
                out.push_back(*role);
        };
        if (const auto names = fields.find({"mtp_layers_block_type"}); names && names->isArray()) {
            for (std::size_t i = 0; i < std::min<std::size_t>(names->size(), 64); ++i) {
                if (names->at(i).isString())
                    put(roleNamed(*names->at(i).string()));
            }
            return out;
        }
        if (const auto letters = fields.find({"mtp_hybrid_override_pattern"}); letters && letters->isString()) {
            for (const char letter : letters->string()->substr(0, 64))
                put(roleOfLetter(letter));
            return out;
        }
        const bool one = !anySliding() && !any(LayerRole::Chunked);
        if (m_latent || (one && (any(LayerRole::Full) || any(LayerRole::BlockSparse))))
            out.push_back(LayerRole::Full);
        return out;
    }

    void appendStates(std::vector<LayerState>& out, LayerRole role) const
    {
        for (LayerState& state : statesOf(role, nullptr, m_latent ? &m_latent->draft() : nullptr))
            out.push_back(std::move(state));
    }

    const HfReading& m_reading;
    LayerPlan m_plan;
    LayerGroups m_groups;
    std::map<std::pair<LayerRole, const LayerState*>, std::vector<LayerState>> m_states {};
    bool m_hasShape = false;
    AttentionShape m_full {};
    AttentionShape m_sliding {};
    std::optional<LatentStates> m_latent;
    std::optional<LayerState> m_mixer;
    std::optional<LayerState> m_cross;
};

Result<void> addCompressed(const HfReading& reading, const Stated& layers)
{
    LayerGroups groups;
    Source source;
    const Result<LayerState> draft = addCompressedLayers(reading, layers.value, groups, source);
    if (!draft)
        return draft.error();
    groups.finish(reading.model, source);
    const Result<DraftCount> drafts = readDraftCount(reading);
    if (!drafts)
        return drafts.error();
    if (drafts->layers.value == 0)
        return {};
    return addDraftGroups(reading, *drafts,
        std::vector<LayerState>(static_cast<std::size_t>(drafts->layers.value), *draft), layers.value);
}

Result<void> addAllGroups(const HfReading& reading)
{
    const Result<Stated> layers = readLayerCount(reading);
    if (!layers)
        return layers.error();
    if (reading.family.compressionRule != CompressionRule::None)
        return addCompressed(reading, *layers);
    Result<LayerPlan> plan = planLayers(reading, *layers);
    if (!plan)
        return plan.error();
    GroupBuilder builder(reading, std::move(*plan));
    if (const Result<void> built = builder.build(); !built)
        return built;
    const Result<DraftCount> drafts = readDraftCount(reading);
    if (!drafts)
        return drafts.error();
    if (drafts->layers.value == 0)
        return {};
    const std::vector<LayerState> states = builder.draftStates(*drafts);
    if (!states.empty())
        return addDraftGroups(reading, *drafts, states, layers->value);
    noteUnknownDrafts(reading, *drafts);
    return {};
}

/// Assumptions are made before it is known which groups there will be: those about a group or a tensor that did not
/// come to be lead to the first group instead.
void redirectAssumptions(ModelSpec& model)
{
    constexpr std::string_view prefix = "worksheet.groups";
    for (Assumption& assumption : model.assumptions) {
        if (!assumption.path.starts_with(prefix))
            continue;
        const std::string below = assumption.path.substr(std::min(prefix.size() + 1, assumption.path.size()));
        const bool found = std::any_of(model.groups.begin(), model.groups.end(), [&](const LayerGroup& group) {
            if (below == group.id + ".layers")
                return true;
            return std::any_of(group.tensors.begin(), group.tensors.end(),
                [&](const StateTensor& tensor) { return below.starts_with(group.id + ".tensors." + tensor.id + "."); });
        });
        if (!found)
            assumption.path = fmt::format("{}.{}.layers", prefix, model.groups.front().id);
    }
}

} // namespace

Result<void> addLayerGroups(const HfReading& reading)
{
    const Result<void> added = addAllGroups(reading);
    if (added)
        redirectAssumptions(reading.model);
    return added;
}

} // namespace kvw
