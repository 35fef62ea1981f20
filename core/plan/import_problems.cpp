// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/import_problems.h"

#include "plan/field_table.h"

#include <algorithm>
#include <array>

namespace kvw {

namespace {

/// Where remarks of one kind lead when nothing else says it: a field of the plan, or one of a layer group or tensor.
struct Kind
{
    std::string_view id;
    Severity severity;
    std::string_view field; ///< below a group's tensor where it starts with "tensor."; below a group with "group."
    LayerKind group = LayerKind::Full; ///< of which kind that group is, if there is one
};

constexpr std::array kinds {
    Kind {"import.unknown_model_type", Severity::Warning, "model.architecture"},
    Kind {"import.unknown_architecture", Severity::Warning, "model.architecture"},
    Kind {"import.dtype_unknown", Severity::Warning, "model.dtype"},
    Kind {"import.key_not_used", Severity::Warning, "model.architecture"},
    Kind {"import.encoder_tokens", Severity::Warning, "limits.encoderTokens"},
    Kind {"import.chunk_null", Severity::Warning, "group.kind"},
    Kind {"import.last_layer_full", Severity::Warning, "group.layers"},
    Kind {"import.sparse_index_keys", Severity::Warning, "group.kind"},
    Kind {"import.window_null", Severity::Warning, "tensor.limit", LayerKind::Sliding},
    Kind {"import.window_off", Severity::Warning, "tensor.limit", LayerKind::Sliding},
    Kind {"import.window_pattern_not_used", Severity::Warning, "group.layers", LayerKind::Sliding},
    Kind {"import.window_not_used", Severity::Note, "tensor.limit", LayerKind::Sliding},
    Kind {"import.window_beyond_context", Severity::Note, "tensor.limit", LayerKind::Sliding},
    Kind {"import.latent_expanded", Severity::Warning, "tensor.width", LayerKind::Mla},
    Kind {"import.draft_layers_in_trunk", Severity::Warning, "engine.speculation"},
    Kind {"import.draft_layers", Severity::Note, "engine.speculation"},
    Kind {"import.indexer_values", Severity::Note, "group.kind", LayerKind::MlaSparse},
    Kind {"import.stateless_layers", Severity::Note, "group.layers"},
    Kind {"import.checkpoint_unclear", Severity::Warning, "loaded.weightBytes"},
    Kind {"import.file_incomplete", Severity::Warning, "loaded.weightBytes"},
    Kind {"import.file_longer", Severity::Warning, "loaded.weightBytes"},
    Kind {"import.weights_not_fetched", Severity::Warning, "loaded.weightBytes"},
    Kind {"import.tensors_not_in_index", Severity::Warning, "loaded.weightBytes"},
    Kind {"import.weights_layers", Severity::Warning, "group.layers"},
    Kind {"import.weights_shape", Severity::Warning, "tensor.width"},
    Kind {"import.cache_type_hint", Severity::Note, "cache.elementType"},
    Kind {"import.cache_type_default", Severity::Note, "cache.elementType"},
    Kind {"import.cache_implementation", Severity::Note, "cache.allocation"},
    Kind {"import.generation_limit", Severity::Note, "limits.outputTokens"},
    Kind {"import.generation_file", Severity::Note, "limits.outputTokens"},
    Kind {"import.maximum_positions", Severity::Note, "model.maximumPositions"},
};

const Kind* kindOf(std::string_view id)
{
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.id == id; });
    return found == kinds.end() ? nullptr : &*found;
}

bool isField(const Plan& plan, const std::string& path)
{
    // The table hands out writable slots; here nothing is read or written.
    return !path.empty() && findField(const_cast<Plan&>(plan), path).ok();
}

/// A field of the group of that kind, or of the first one.
std::string groupField(const Plan& plan, LayerKind kind, std::string_view field)
{
    const auto& groups = plan.worksheet.groups;
    if (groups.empty())
        return {};
    auto group = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& one) { return one.kind == kind; });
    if (group == groups.end())
        group = groups.begin();
    const std::string base = "worksheet.groups." + group->id + ".";
    const bool tensor = field.starts_with("tensor.");
    if (tensor && group->tensors.empty())
        return base + "layers";
    const std::string name(field.substr(field.find('.') + 1));
    return tensor ? base + "tensors." + group->tensors.front().id + "." + name : base + name;
}

/// The field that was read from this place of the file, or from inside it; the worksheet's first.
std::string fieldReadFrom(const Plan& plan, std::string place)
{
    place.resize(std::min(place.find(" (byte "), place.size())); // a place in a GGUF: its key, and where that lies
    std::string inside;
    std::string elsewhere;
    for (const auto& [path, source] : plan.provenance.entries()) {
        if (source->at.empty() || source->kind == Source::Kind::User || !isField(plan, path))
            continue;
        if (source->at == place && path.starts_with("worksheet."))
            return path;
        if (source->at == place && elsewhere.empty())
            elsewhere = path;
        if (source->at.starts_with(place + "/") && inside.empty())
            inside = path;
    }
    return elsewhere.empty() ? inside : elsewhere;
}

} // namespace

bool isImportRemark(const Assumption& assumption)
{
    return assumption.id.starts_with("import.") || assumption.id.starts_with("library.");
}

std::string fieldOfRemark(const Plan& plan, std::string_view id, const std::string& path, const std::string& place)
{
    if (isField(plan, path))
        return path;
    std::string read = place.empty() ? std::string() : fieldReadFrom(plan, place);
    if (!read.empty())
        return read;
    const Kind* kind = kindOf(id);
    const bool ofGroups = path.starts_with("worksheet.groups");
    const std::string_view field = kind ? kind->field : ofGroups ? "group.layers" : "model.architecture";
    if (field.starts_with("group.") || field.starts_with("tensor.")) {
        const std::string found = groupField(plan, kind ? kind->group : LayerKind::Full, field);
        return found.empty() ? "worksheet.groups" : found;
    }
    return std::string(field);
}

Diagnostics importProblems(const Plan& plan)
{
    Diagnostics out;
    for (const Assumption& assumption : plan.assumptions) {
        if (!isImportRemark(assumption))
            continue;
        const Kind* kind = kindOf(assumption.id);
        out.push_back({kind ? kind->severity : Severity::Note, assumption.id, assumption.text,
            fieldOfRemark(plan, assumption.id, assumption.path, {})});
    }
    return out;
}

} // namespace kvw
