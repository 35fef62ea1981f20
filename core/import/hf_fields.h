// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"
#include "units/quantity.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace kvw {

/// A number that was read from the file, or taken by a rule, with where it came from.
struct Stated
{
    std::int64_t value = 0;
    Source source {};
};

/// True for null, false, zero, and empty text, lists and objects: a field that is there, but says "none".
bool statesNothing(const JsonView& value);

/// Typed, located access to the fields of a Hugging Face config.json. The document must outlive it.
///
/// Fields are read from the text part alone: multimodal files nest it, and the other parts use the same field names for
/// other things (an audio encoder has an attention_chunk_size too).
class HfFields
{
public:
    using Names = std::initializer_list<std::string_view>;

    /// Errors: import.not_a_config, json.type (a nested part that is no object, a model_type that is no string).
    static Result<HfFields> open(const JsonDocument& document);

    const JsonView& root() const { return m_root; }
    /// text_config, llm_config or language_config (also within thinker_config), else the root.
    const JsonView& text() const { return m_text; }
    bool isNested() const { return m_text.pointer() != m_root.pointer(); }
    /// model_type of the text part, else of the root; "" when neither states one.
    const std::string& modelType() const { return m_modelType; }
    /// model_type of the root, else of the text part.
    const std::string& fileModelType() const { return m_rootModelType.empty() ? m_modelType : m_rootModelType; }
    /// Pointer of the field behind modelType().
    const std::string& modelTypePointer() const { return m_modelTypePointer; }

    /// The first of `names` that the text part states; null counts as absent.
    std::optional<JsonView> find(Names names) const;
    /// find() as a whole number. Errors: those of JsonView::integer().
    Result<std::optional<Stated>> integer(Names names, std::int64_t minimum, std::int64_t maximum) const;
    /// A switch. Error: json.type.
    Result<std::optional<bool>> flag(std::string_view name) const;

    /// Pointer of a field of the text part, there or not.
    std::string pointer(std::string_view name) const;
    Source fileSource(const std::string& pointer, std::string note = {}) const;
    /// What was assumed instead of the field at `pointer`.
    Source assumption(const std::string& pointer, std::string note) const;
    /// Error import.missing_field about a field of the text part.
    Error missing(std::string_view name, std::string_view what) const;

private:
    HfFields(const JsonView& root, const JsonView& text)
        : m_root(root)
        , m_text(text)
    {}

    JsonView m_root;
    JsonView m_text;
    std::string m_modelType;
    std::string m_modelTypePointer;
    std::string m_rootModelType;
    std::string m_fileName;
    std::string m_sha256;
};

} // namespace kvw
