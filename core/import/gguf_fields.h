// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/gguf_reader.h"
#include "import/hf_fields.h"

namespace kvw {

/// Typed, located access to the metadata of a GGUF file. Names without "general." are looked up under the architecture:
/// "block_count" is "llama.block_count" in a file of llama. The header must outlive it.
class GgufFields
{
public:
    /// Errors: import.missing_field, gguf.value_type (no general.architecture, or not a string).
    static Result<GgufFields> open(const GgufHeader& header);

    const GgufHeader& header() const { return *m_header; }
    const std::string& architecture() const { return m_architecture; }
    /// The key as the file has it.
    std::string key(std::string_view name) const;
    /// The value, or null.
    const GgufValue* find(std::string_view name) const;

    /// A whole number in [minimum, maximum]. Errors: gguf.value_type, gguf.value_range.
    Result<std::optional<Stated>> integer(std::string_view name, std::int64_t minimum, std::int64_t maximum) const;
    /// One number a layer: an array of at least `layers` numbers, or a number that serves all. Errors as above, and
    /// gguf.value_count for an array that is too short.
    Result<std::optional<std::vector<std::int64_t>>> perLayer(
        std::string_view name, std::int64_t layers, std::int64_t minimum, std::int64_t maximum) const;
    /// A string; empty ones count as absent. Error: gguf.value_type.
    Result<std::optional<std::string>> text(std::string_view name) const;

    Source fileSource(std::string_view name, std::string note = {}) const;
    /// What llama.cpp takes where the file says nothing, or does whatever the file says.
    Source rule(std::string note, bool isDefault = true) const;
    Error missing(std::string_view name, std::string_view what) const;
    /// An error about a value that is there.
    Error error(std::string_view name, std::string code, std::string message, std::string found = {},
        std::string expected = {}) const;
    /// Where a value is, for diagnostics; the key alone when it is absent.
    Location where(std::string_view name) const;

private:
    explicit GgufFields(const GgufHeader& header)
        : m_header(&header)
    {}

    const GgufHeader* m_header;
    std::string m_architecture;
    std::string m_fileName;
};

} // namespace kvw
