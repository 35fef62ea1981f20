// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace kvw::test {

/// Writes the header of a GGUF file, value by value, in either byte order. It knows no sizes of types: whoever adds a
/// tensor says how many bytes it has.
class GgufWriter
{
public:
    explicit GgufWriter(std::string architecture = "llama", bool bigEndian = false, std::uint32_t version = 3)
        : m_big(bigEndian)
        , m_version(version)
        , m_architecture(std::move(architecture))
    {
        if (!m_architecture.empty())
            text("general.architecture", m_architecture);
    }

    /// "x" is "llama.x"; names with "general.", "split." or "tokenizer." stay as they are.
    std::string key(const std::string& name) const
    {
        for (const char* prefix : {"general.", "split.", "tokenizer."}) {
            if (name.rfind(prefix, 0) == 0)
                return name;
        }
        return m_architecture + "." + name;
    }

    GgufWriter& u16(const std::string& name, std::uint16_t value) { return scalar(name, 2, value); }
    GgufWriter& u32(const std::string& name, std::uint32_t value) { return scalar(name, 4, value); }
    GgufWriter& i32(const std::string& name, std::int32_t value) { return scalar(name, 5, value); }
    GgufWriter& f32(const std::string& name, float value) { return scalar(name, 6, value); }
    GgufWriter& u64(const std::string& name, std::uint64_t value) { return scalar(name, 10, value); }
    GgufWriter& boolean(const std::string& name, bool value)
    {
        return scalar(name, 7, static_cast<std::uint8_t>(value));
    }
    GgufWriter& text(const std::string& name, const std::string& value)
    {
        start(name, 8);
        string(m_values, value);
        return *this;
    }
    GgufWriter& u32s(const std::string& name, const std::vector<std::uint32_t>& values)
    {
        return array(name, 4, values);
    }
    GgufWriter& i32s(const std::string& name, const std::vector<std::int32_t>& values)
    {
        return array(name, 5, values);
    }
    GgufWriter& bools(const std::string& name, const std::vector<std::uint8_t>& values)
    {
        return array(name, 7, values);
    }
    GgufWriter& texts(const std::string& name, const std::vector<std::string>& values)
    {
        start(name, 9);
        put(m_values, std::uint32_t {8});
        put(m_values, static_cast<std::uint64_t>(values.size()));
        for (const std::string& value : values)
            string(m_values, value);
        return *this;
    }
    /// A value of any type by its raw bytes, which are written as they are.
    GgufWriter& raw(const std::string& name, std::uint32_t type, const std::string& bytes)
    {
        start(name, type);
        m_values += bytes;
        return *this;
    }

    /// A tensor after the ones before it.
    GgufWriter& tensor(
        const std::string& name, const std::vector<std::int64_t>& dims, std::uint32_t type, std::uint64_t bytes)
    {
        tensorAt(name, dims, type, m_offset);
        m_offset += (bytes + m_alignment - 1) / m_alignment * m_alignment;
        return *this;
    }
    GgufWriter& tensorAt(
        const std::string& name, const std::vector<std::int64_t>& dims, std::uint32_t type, std::uint64_t offset)
    {
        string(m_infos, name);
        put(m_infos, static_cast<std::uint32_t>(dims.size()));
        for (const std::int64_t dim : dims)
            put(m_infos, dim);
        put(m_infos, type);
        put(m_infos, offset);
        ++m_tensors;
        return *this;
    }
    void setAlignment(std::uint32_t alignment)
    {
        u32("general.alignment", alignment);
        m_alignment = alignment;
    }
    /// Counts that differ from what is in the file.
    void claim(std::uint64_t tensors, std::uint64_t values)
    {
        m_claimed = true;
        m_claimedTensors = tensors;
        m_claimedValues = values;
    }

    std::string header() const
    {
        std::string out = "GGUF";
        put(out, m_version);
        put(out, m_claimed ? m_claimedTensors : m_tensors);
        put(out, m_claimed ? m_claimedValues : m_count);
        return out + m_values + m_infos;
    }
    /// Bytes of the whole file, tensors included.
    std::uint64_t fileBytes() const
    {
        const std::uint64_t header = this->header().size();
        return (header + m_alignment - 1) / m_alignment * m_alignment + m_offset;
    }

    template <typename T>
    void put(std::string& to, T value) const
    {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T)); // tests run on little-endian machines
        if (m_big)
            std::reverse(bytes, bytes + sizeof(T));
        to.append(bytes, sizeof(T));
    }
    void string(std::string& to, const std::string& value) const
    {
        put(to, static_cast<std::uint64_t>(value.size()));
        to += value;
    }

private:
    void start(const std::string& name, std::uint32_t type)
    {
        string(m_values, key(name));
        put(m_values, type);
        ++m_count;
    }
    template <typename T>
    GgufWriter& scalar(const std::string& name, std::uint32_t type, T value)
    {
        start(name, type);
        put(m_values, value);
        return *this;
    }
    template <typename T>
    GgufWriter& array(const std::string& name, std::uint32_t type, const std::vector<T>& values)
    {
        start(name, 9);
        put(m_values, type);
        put(m_values, static_cast<std::uint64_t>(values.size()));
        for (const T value : values)
            put(m_values, value);
        return *this;
    }

    bool m_big;
    std::uint32_t m_version;
    std::string m_architecture;
    std::uint32_t m_alignment = 32;
    std::uint64_t m_count = 0;
    std::uint64_t m_tensors = 0;
    std::uint64_t m_offset = 0;
    bool m_claimed = false;
    std::uint64_t m_claimedTensors = 0;
    std::uint64_t m_claimedValues = 0;
    std::string m_values;
    std::string m_infos;
};

} // namespace kvw::test
