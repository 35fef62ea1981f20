// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_layers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kvw {

namespace {

constexpr const char* limitPath = "worksheet.groups.sliding.tensors.k.limit";

/// Decides for one configuration; the steps share what they have found.
class WindowReader
{
public:
    WindowReader(const HfReading& reading, LayerPlan& plan)
        : m_fields(reading.fields)
        , m_family(reading.family)
        , m_layers(static_cast<std::int64_t>(plan.roles.size()))
        , m_model(reading.model)
        , m_reading(reading)
        , m_plan(plan)
    {}

    Result<void> read(bool listed)
    {
        if (!listed)
            return applyRule();
        return anySliding() ? readWindowOfTypes() : Result<void> {};
    }

private:
    bool anySliding() const
    {
        return std::any_of(m_plan.roles.begin(), m_plan.roles.end(),
            [](LayerRole role) { return role == LayerRole::Sliding || role == LayerRole::HybridSliding; });
    }
    void makeAllFull()
    {
        std::replace(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::Sliding, LayerRole::Full);
        std::replace(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::HybridSliding, LayerRole::Hybrid);
    }
    void slide(std::int64_t layer) { m_plan.roles[static_cast<std::size_t>(layer)] = LayerRole::Sliding; }

    void note(std::string id, std::string message, std::string_view field, Severity severity = Severity::Note)
    {
        m_reading.note(std::move(id), std::move(message), field, severity);
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
        if (m_fields.text().find(m_family.windowField)) {
            makeAllFull();
            note("import.window_null",
                "layer_types names sliding layers, but sliding_window is null: all layers are full.", "sliding_window",
                Severity::Warning);
            return {};
        }
        return m_fields.missing(
            m_family.windowField, "the window of the layers that layer_types calls sliding_attention");
    }

    /// sliding_window, or the class's own where the field is absent. True when there is a window.
    Result<bool> readWindow()
    {
        const auto field = m_fields.find({m_family.windowField});
        if (field && field->json() == -1)
            return false; // no window, in some files
        const Result<std::optional<Stated>> stated = m_fields.integer({m_family.windowField}, 1, mostTokens);
        if (!stated)
            return stated.error();
        m_plan.window = *stated;
        if (m_plan.window)
            return halved();
        if (m_family.window == 0 || m_fields.text().find(m_family.windowField))
            return false;
        const std::string text = fmt::format(
            "{} is not stated: its class's default, {} tokens, was taken.", m_family.windowField, m_family.window);
        m_plan.window = Stated {m_family.window, m_fields.assumption(m_fields.pointer(m_family.windowField), text)};
        m_windowAssumption = Assumption {"import.window_class_default", text, limitPath};
        return halved();
    }

    /// Attention in both directions looks as far back as ahead: the class halves its window. Always true.
    Result<bool> halved()
    {
        const auto direction = m_fields.find({"use_bidirectional_attention"});
        if (direction && direction->json() == "all") {
            m_plan.window->value = m_plan.window->value / 2 + 1;
            if (m_plan.window->source.kind != Source::Kind::Assumption)
                m_plan.window->source.note = "use_bidirectional_attention is all: half the window, and one";
        }
        return true;
    }

    /// Layers without layer_types.
    Result<void> applyRule()
    {
        if (m_family.windowRule == WindowRule::Ignored)
            return {};
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
        const Result<void> status = markLayers();
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
            std::fill(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::Sliding);
            return {};
        case WindowRule::Pattern:
            return markPattern();
        case WindowRule::TailLayers:
            return markTail();
        case WindowRule::NotUsed:
        case WindowRule::Ignored:
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
            if (const auto letters = m_fields.find({"sliding_window_pattern"}); letters && letters->isString())
                return markLetters(*letters);
            const Result<std::optional<Stated>> stated
                = m_fields.integer({"sliding_window_pattern", "global_attn_every_n_layers"}, 1, 10'000);
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
        for (std::int64_t i = 0; i < m_layers; ++i) {
            if ((i + 1) % pattern != 0)
                slide(i);
        }
        m_plan.source.note = fmt::format("layer i, counted from 0, is full where (i + 1) mod {} is 0", pattern);
        return {};
    }

    /// "LLLG": local and global layers in a row that repeats.
    Result<void> markLetters(const JsonView& pattern)
    {
        const std::string letters = *pattern.string();
        if (letters.empty() || letters.find_first_not_of("LG") != std::string::npos)
            return pattern.error("import.unsupported", "not a pattern of local and global layers", "letters L and G");
        for (std::int64_t i = 0; i < m_layers; ++i) {
            if (letters[static_cast<std::size_t>(i) % letters.size()] == 'L')
                slide(i);
        }
        m_plan.source = m_fields.fileSource(pattern.pointer(), "L: the layer slides; G: it is full");
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
            slide(i);
        m_plan.source.note = fmt::format("layers from max_window_layers, {}, on slide", (*first)->value);
        return {};
    }

    const HfFields& m_fields;
    const HfFamily& m_family;
    const std::int64_t m_layers;
    ModelSpec& m_model;
    const HfReading& m_reading;
    LayerPlan& m_plan;
    std::optional<Assumption> m_windowAssumption;
};

} // namespace

Result<void> planWindows(const HfReading& reading, bool listed, LayerPlan& plan)
{
    return WindowReader(reading, plan).read(listed);
}

} // namespace kvw
