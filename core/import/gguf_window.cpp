// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::int64_t mostLayers = 10'000;
constexpr std::int64_t mostTokens = std::int64_t {1} << 40;

class WindowReader
{
public:
    WindowReader(const GgufFields& fields, const GgufArch& arch, GgufShape& shape, ModelSpec& model)
        : m_fields(fields)
        , m_arch(arch)
        , m_shape(shape)
        , m_model(model)
    {}

    Result<void> readWindow()
    {
        const auto stated = m_fields.integer("attention.sliding_window", 0, mostTokens);
        if (!stated)
            return stated.error();
        if (m_arch.window == GgufWindow::None) {
            if (*stated && (*stated)->value > 0)
                note("import.window_not_used",
                    fmt::format("attention.sliding_window {} is not used: llama.cpp keeps all tokens in every layer of "
                                "\"{}\".",
                        (*stated)->value, m_fields.architecture()),
                    "attention.sliding_window");
            return {};
        }
        if (m_arch.onlyLayers != 0 && m_shape.layers != m_arch.onlyLayers)
            return {};
        if (*stated && (*stated)->value == 0)
            return {}; // switched off
        if (*stated && !m_arch.windowFixed)
            m_shape.window = **stated;
        else if (m_arch.windowTokens != 0)
            takeOwnWindow(stated->has_value());
        else if (m_arch.windowRequired)
            return m_fields.missing("attention.sliding_window", "the window of the layers that keep one");
        return m_shape.window ? chooseWindowed() : Result<void> {};
    }

    Result<void> readSharing()
    {
        if (m_arch.ownLayers != 0) {
            m_shape.ownLayers = std::min(m_arch.ownLayers, m_shape.layers);
            m_shape.ownSource = m_fields.rule(
                fmt::format("the first {} layers of this architecture have state of their own", m_arch.ownLayers),
                false);
        }
        if (!m_arch.sharedLayersKey)
            return {};
        const auto shared = m_fields.integer("attention.shared_kv_layers", 0, m_shape.layers - 1);
        if (!shared)
            return shared.error();
        if (*shared) {
            m_shape.ownLayers = m_shape.layers - (*shared)->value;
            m_shape.ownSource = (*shared)->source;
        }
        return {};
    }

private:
    Result<std::optional<std::vector<std::int64_t>>> perLayer(
        std::string_view name, std::int64_t minimum, std::int64_t maximum) const
    {
        return readGgufPerLayer(m_fields, m_shape, name, minimum, maximum);
    }
    void assume(std::string id, std::string text)
    {
        m_model.assumptions.push_back({std::move(id), std::move(text), {}});
    }
    void note(std::string id, std::string message, std::string_view key, Severity severity = Severity::Note)
    {
        m_model.diagnostics.push_back({severity, std::move(id), std::move(message), {}, m_fields.where(key)});
    }

    void takeOwnWindow(bool stated)
    {
        // SmallThinker has no window where the key is absent; the others have their own.
        if (!stated && m_arch.windowFixed && !m_arch.chunked)
            return;
        const std::string text = fmt::format("{}: {} tokens, fixed in llama.cpp, were taken.",
            stated ? "attention.sliding_window is not read for this architecture"
                   : "attention.sliding_window is not stated",
            m_arch.windowTokens);
        m_shape.window = Stated {m_arch.windowTokens, m_fields.rule(text, !m_arch.windowFixed)};
        assume("import.window_default", text);
    }

    Result<void> chooseWindowed()
    {
        const auto count = static_cast<std::size_t>(m_shape.layers);
        constexpr std::string_view key = "attention.sliding_window_pattern";
        if (m_arch.window == GgufWindow::Every) {
            m_shape.windowed.assign(count, true);
            m_shape.windowSource = m_fields.rule("every layer of this architecture", false);
            return {};
        }
        if (m_arch.window == GgufWindow::PerLayer) {
            const auto flags = perLayer(key, 0, INT32_MAX);
            if (!flags)
                return flags.error();
            if (!*flags)
                return m_fields.missing(key, "which layers keep a window");
            for (std::size_t i = 0; i < count; ++i)
                m_shape.windowed[i] = (**flags)[i] != 0;
            m_shape.windowSource = m_fields.fileSource(key);
            return {};
        }
        return chooseByPeriod();
    }

    Result<void> chooseByPeriod()
    {
        constexpr std::string_view key = "attention.sliding_window_pattern";
        std::int64_t period = m_arch.period;
        const GgufValue* value = m_fields.find(key);
        const bool stated = value && !value->isArray && !m_arch.windowFixed;
        if (stated) {
            const auto number = m_fields.integer(key, 0, mostLayers);
            if (!number)
                return number.error();
            period = (*number)->value;
        } else if (value) {
            note("import.window_pattern_not_used",
                fmt::format("llama.cpp does not read this list for \"{}\": its own period of {} layers counts.",
                    m_fields.architecture(), period),
                key, Severity::Warning);
        }
        const std::string text = period == 0 ? std::string("every layer")
            : m_arch.fullFirst
            ? fmt::format("layer i, counted from 0, keeps all tokens where i mod {} is 0", period)
            : fmt::format("layer i, counted from 0, keeps all tokens where (i + 1) mod {} is 0", period);
        m_shape.windowSource = stated ? m_fields.fileSource(key, text) : m_fields.rule(text);
        for (std::int64_t i = 0; i < m_shape.layers; ++i) {
            const bool full = period != 0 && (m_arch.fullFirst ? i : i + 1) % period == 0;
            m_shape.windowed[static_cast<std::size_t>(i)] = !full;
        }
        return {};
    }

    const GgufFields& m_fields;
    const GgufArch& m_arch;
    GgufShape& m_shape;
    ModelSpec& m_model;
};

} // namespace

Result<void> readGgufWindow(const GgufFields& fields, const GgufArch& arch, GgufShape& shape, ModelSpec& model)
{
    WindowReader reader(fields, arch, shape, model);
    Result<void> status = reader.readWindow();
    return status ? reader.readSharing() : status;
}

} // namespace kvw
