// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kvw::test {

/// Writes headers of safetensors files; the tensors are holes.
class SafetensorsWriter
{
public:
    /// A tensor after the ones before it. `bytes` is the caller's own sum.
    SafetensorsWriter& tensor(
        const std::string& name, const std::string& type, const std::vector<std::int64_t>& shape, std::int64_t bytes)
    {
        return tensorAt(name, type, shape, m_end, m_end + bytes);
    }
    SafetensorsWriter& tensorAt(const std::string& name, const std::string& type,
        const std::vector<std::int64_t>& shape, std::int64_t begin, std::int64_t end)
    {
        std::string dims;
        for (const std::int64_t dim : shape)
            dims += (dims.empty() ? "" : ",") + std::to_string(dim);
        raw("\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + dims + "],\"data_offsets\":["
            + std::to_string(begin) + "," + std::to_string(end) + "]}");
        m_end = std::max(m_end, end);
        return *this;
    }
    /// A member of the header as it is.
    SafetensorsWriter& raw(const std::string& member)
    {
        m_json += (m_json.empty() ? "" : ",") + member;
        return *this;
    }

    std::string json() const { return "{" + m_json + "}"; }
    std::string header() const { return framed(json()); }
    std::int64_t dataBytes() const { return m_end; }
    static std::string framed(const std::string& json) { return lengthOf(json.size()) + json; }
    static std::string lengthOf(std::uint64_t length)
    {
        std::string out;
        for (int i = 0; i < 8; ++i)
            out += static_cast<char>(length >> (8 * i) & 0xff);
        return out;
    }
    /// The whole file, its tensors a hole.
    bool write(const std::string& path) const
    {
        const std::string start = header();
        std::ofstream file(path, std::ios::binary);
        if (!file.write(start.data(), static_cast<std::streamsize>(start.size())).flush())
            return false;
        std::error_code wrong;
        std::filesystem::resize_file(path, start.size() + static_cast<std::uintmax_t>(m_end), wrong);
        return !wrong;
    }

private:
    std::string m_json;
    std::int64_t m_end = 0;
};

} // namespace kvw::test
