// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_attention.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::int64_t mostTokens = std::int64_t {1} << 40;
constexpr const char* limitPath = "worksheet.groups.sliding.tensors.k.limit";

/// Decides for one configuration; the steps share what they have found.
class WindowReader
{
public:
    WindowReader(const HfFields& fields, const HfFamily& family, const Stated& layers, ModelSpec& model)
        : m_fields(fields)
        , m_family(family)
        , m_layers(layers.value)
        , m_model(model)
    {
        m_plan.sliding.assign(static_cast<std::size_t>(m_layers), false);
        m_plan.source = layers.source;
    }

    Result<LayerPlan> read()
    {
        if (const auto types = m_fields.find({"layer_types"})) {
            const Result<void> status = readLayerTypes(*types);
            if (!status)
                return status.error();
        } else {
            const Result<void> status = applyRule();
            if (!status)
                return status.error();
        }
        return std::move(m_plan);
    }

private:
    bool anySliding() const
    {
        return std::find(m_plan.sliding.begin(), m_plan.sliding.end(), true) != m_plan.sliding.end();
    }
    void makeAllFull() { std::fill(m_plan.sliding.begin(), m_plan.sliding.end(), false); }

    void note(std::string id, std::string message, std::string_view field, Severity severity = Severity::Note)
    {
        m_model.diagnostics.push_back(
            {severity, std::move(id), std::move(message), {}, {m_fields.root().file(), m_fields.pointer(field)}});
    }

    /// The strings of layer_types, one a layer.
    Result<void> readLayerTypes(const JsonView& types)
    {
        const auto count = static_cast<std::size_t>(m_layers);
        const Result<std::optional<Stated>> drafts = m_fields.integer({"num_nextn_predict_layers"}, 0, 10'000);
        if (!drafts)
            return drafts.error();
        // Some files go on with the types of the draft layers, which are not part of the state.
        const std::size_t withDrafts = count + (*drafts ? static_cast<std::size_t>((*drafts)->value) : 0);
        if (!types.isArray() || (types.size() != count && types.size() != withDrafts))
            return types.error("import.inconsistent", "layer_types does not fit num_hidden_layers",
                fmt::format("an array of {} strings", count));
        for (std::size_t i = 0; i < count; ++i) {
            const JsonView type = types.at(i);
            const Result<std::string> name = type.string();
            if (!name)
                return name.error();
            if (*name != "full_attention" && *name != "sliding_attention")
                return type.error("import.unsupported", "layers of this type keep state that cannot be read yet",
                    "full_attention or sliding_attention");
            m_plan.sliding[i] = *name == "sliding_attention";
        }
        m_plan.source = m_fields.fileSource(types.pointer());
        return anySliding() ? readWindowOfTypes() : Result<void> {};
    }

    Result<void> readWindowOfTypes()
    {
        const Result<std::optional<bool>> use = m_fields.flag("use_sliding_window");
        if (!use)
            return use.error();
        if (!use->value_or(true)) {
            makeAllFull();
            note("import.window_off",
                "layer_types names sliding layers, but use_sliding_window is false: all layers are full.",
                "use_sliding_window", Severity::Warning);
            return {};
        }
        const Result<bool> there = readWindow();
        if (!there)
            return there.error();
        if (*there) {
            acceptWindow();
            return {};
        }
        if (m_fields.text().find("sliding_window")) {
            makeAllFull();
            note("import.window_null",
                "layer_types names sliding layers, but sliding_window is null: all layers are full.", "sliding_window",
                Severity::Warning);
            return {};
        }
        return m_fields.missing("sliding_window", "the window of the layers that layer_types calls sliding_attention");
    }

    /// sliding_window, or the class's own where the field is absent. True when there is a window.
    Result<bool> readWindow()
    {
        const Result<std::optional<Stated>> stated = m_fields.integer({"sliding_window"}, 1, mostTokens);
        if (!stated)
            return stated.error();
        m_plan.window = *stated;
        if (m_plan.window || m_family.window == 0 || m_fields.text().find("sliding_window"))
            return m_plan.window.has_value();
        const std::string text
            = fmt::format("sliding_window is not stated: its class's default, {} tokens, was taken.", m_family.window);
        m_plan.window = Stated {m_family.window, m_fields.assumption(m_fields.pointer("sliding_window"), text)};
        m_windowAssumption = Assumption {"import.window_class_default", text, limitPath};
        return true;
    }

    /// Layers without layer_types.
    Result<void> applyRule()
    {
        const Result<std::optional<bool>> use = m_fields.flag("use_sliding_window");
        if (!use)
            return use.error();
        const Result<bool> there = readWindow();
        if (!there)
            return there.error();
        if (!*there)
            return {};
        const bool offByDefault
            = m_family.windowRule == WindowRule::TailLayers || m_family.windowRule == WindowRule::OnlyOff;
        if (!use->value_or(!offByDefault)) {
            switchedOff(use->has_value());
            return {};
        }
        if (m_model.maximumPositions && m_plan.window->value >= *m_model.maximumPositions) {
            note("import.window_beyond_context",
                fmt::format("The window of {} tokens is not below the longest sequence of {}: all layers are full.",
                    m_plan.window->value, *m_model.maximumPositions),
                "sliding_window");
            m_plan.window.reset();
            return {};
        }
        Result<void> status = markLayers();
        acceptWindow();
        return status;
    }

    /// The window stays only where a layer uses it, and so does the assumption behind it.
    void acceptWindow()
    {
        if (!anySliding())
            m_plan.window.reset();
        else if (m_windowAssumption)
            m_model.assumptions.push_back(*m_windowAssumption);
    }

    void switchedOff(bool stated)
    {
        const std::int64_t window = m_plan.window->value;
        m_plan.window.reset();
        if (!m_fields.find({"sliding_window"}))
            return; // the class's own window: nothing in the file to explain
        if (stated) {
            note("import.window_off",
                fmt::format("use_sliding_window is false: the window of {} tokens is not used.", window),
                "sliding_window");
        } else {
            m_model.assumptions.push_back({"import.window_off_default",
                fmt::format("use_sliding_window is not stated: its class's default, false, was taken, and the window "
                            "of {} tokens "
                            "is not used.",
                    window),
                "worksheet.groups.full.tensors.k.limit"});
        }
    }

    Result<void> markLayers()
    {
        switch (m_family.windowRule) {
        case WindowRule::EveryLayer:
            std::fill(m_plan.sliding.begin(), m_plan.sliding.end(), true);
            return {};
        case WindowRule::Pattern:
            return markPattern();
        case WindowRule::TailLayers:
            return markTail();
        case WindowRule::NotUsed:
        case WindowRule::OnlyOff:
            break;
        }
        const auto field
            = m_fields.find({m_family.windowRule == WindowRule::OnlyOff ? "use_sliding_window" : "sliding_window"});
        return field->error(
            "import.unsupported", "the file states a window, but not which layers use it", "layer_types");
    }

    Result<void> markPattern()
    {
        std::int64_t pattern = m_family.pattern;
        if (m_family.patternField) {
            const Result<std::optional<Stated>> stated = m_fields.integer({"sliding_window_pattern"}, 1, 10'000);
            if (!stated)
                return stated.error();
            if (*stated)
                pattern = (*stated)->value;
            else
                m_model.assumptions.push_back({"import.window_pattern_default",
                    fmt::format("Neither layer_types nor sliding_window_pattern is stated: as in its class, every {}th "
                                "layer is "
                                "full and the others slide.",
                        pattern),
                    "worksheet.groups.sliding.layers"});
        } else {
            m_model.assumptions.push_back({"import.window_pattern_default",
                fmt::format(
                    "layer_types is not stated: as in its class, one layer of {} is full, the last of each such row.",
                    pattern),
                "worksheet.groups.sliding.layers"});
        }
        for (std::int64_t i = 0; i < m_layers; ++i)
            m_plan.sliding[static_cast<std::size_t>(i)] = (i + 1) % pattern != 0;
        m_plan.source.note = fmt::format("layer i, counted from 0, is full where (i + 1) mod {} is 0", pattern);
        return {};
    }

    Result<void> markTail()
    {
        const Result<std::optional<Stated>> first = m_fields.integer({"max_window_layers"}, 0, 1'000'000);
        if (!first)
            return first.error();
        if (!*first)
            return m_fields.missing("max_window_layers", "the first layer that uses the window");
        for (std::int64_t i = (*first)->value; i < m_layers; ++i)
            m_plan.sliding[static_cast<std::size_t>(i)] = true;
        m_plan.source.note = fmt::format("layers from max_window_layers, {}, on slide", (*first)->value);
        return {};
    }

    const HfFields& m_fields;
    const HfFamily& m_family;
    const std::int64_t m_layers;
    ModelSpec& m_model;
    LayerPlan m_plan;
    std::optional<Assumption> m_windowAssumption;
};

} // namespace

Result<LayerPlan> planLayers(const HfFields& fields, const HfFamily& family, const Stated& layers, ModelSpec& model)
{
    return WindowReader(fields, family, layers, model).read();
}

} // namespace kvw
