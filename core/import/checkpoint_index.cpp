// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/checkpoint_index.h"

#include "import/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace kvw {

namespace {

constexpr std::uint64_t mostIndexBytes = std::uint64_t {256} << 20;
constexpr std::size_t mostEntries = 2'000'000;
constexpr std::size_t mostFiles = 10'000;
constexpr std::size_t mostNameBytes = 4096;

class Reader
{
public:
    explicit Reader(ByteReader& bytes)
        : m_bytes(bytes)
    {}

    Result<CheckpointIndex> read()
    {
        m_index.file = m_bytes.file();
        if (m_bytes.size() > mostIndexBytes)
            return m_bytes.errorAt(0, "checkpoint.index", "the index is larger than this reader takes",
                fmt::format("{} bytes", m_bytes.size()), fmt::format("at most {} bytes", mostIndexBytes));
        {
            JsonStream json(m_bytes);
            readRoot(json);
        }
        if (m_bytes.ok())
            sortOut();
        if (!m_bytes.ok())
            return m_bytes.error();
        m_index.sha256 = m_bytes.sha256();
        return std::move(m_index);
    }

private:
    void readRoot(JsonStream& json)
    {
        bool hasMap = false;
        json.expect('{');
        bool first = true;
        while (json.next('}', first)) {
            json.peek();
            const std::uint64_t at = json.offset();
            const std::string name = json.string(mostNameBytes);
            json.expect(':');
            if (name == "weight_map" && hasMap)
                return json.fail(at, "json.duplicate_key", "this key stands twice", name, "each key once");
            hasMap = hasMap || name == "weight_map";
            if (name == "weight_map")
                readMap(json);
            else if (name == "metadata" && json.peek() == '{')
                readMetadata(json);
            else if (json.ok())
                json.skipValue();
        }
        json.expectEnd();
        if (json.ok() && !hasMap)
            json.fail(0, "checkpoint.index", "not an index of a checkpoint", {}, "weight_map");
    }

    void readMetadata(JsonStream& json)
    {
        json.expect('{');
        bool first = true;
        while (json.next('}', first)) {
            const bool isTotal = json.string(mostNameBytes) == "total_size";
            json.expect(':');
            const char start = json.peek();
            if (isTotal && start >= '0' && start <= '9')
                setTotal(json.scalar());
            else if (json.ok())
                json.skipValue();
        }
    }

    void setTotal(const std::string& text)
    {
        std::int64_t total = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), total);
        if (status == std::errc {} && end == text.data() + text.size()) // some writers make it a float
            m_index.totalBytes = total;
    }

    void readMap(JsonStream& json)
    {
        json.expect('{');
        bool first = true;
        while (json.next('}', first)) {
            json.peek();
            const std::uint64_t at = json.offset();
            const TensorNameKey name = TensorNameKey::of(json.string(mostNameBytes), at);
            json.expect(':');
            json.peek();
            const std::uint64_t fileAt = json.offset();
            const std::string& file = json.string(mostNameBytes);
            if (!json.ok())
                return;
            if (m_index.entries.size() >= mostEntries)
                return json.fail(
                    at, "checkpoint.index", "too many tensors", {}, fmt::format("at most {}", mostEntries));
            if (file.empty() || file.find('/') != std::string::npos || file[0] == '.')
                return json.fail(fileAt, "checkpoint.index", "not the name of a file beside the index",
                    "\"" + file + "\"", "a file name without folder");
            m_index.entries.push_back({name, fileNumber(json, fileAt, file), false});
        }
    }

    std::uint32_t fileNumber(JsonStream& json, std::uint64_t at, const std::string& file)
    {
        if (!m_index.files.empty() && m_index.files[m_last] == file)
            return m_last;
        const auto [found, isNew] = m_numbers.emplace(file, static_cast<std::uint32_t>(m_index.files.size()));
        m_last = found->second;
        if (isNew) {
            if (m_index.files.size() >= mostFiles)
                json.fail(at, "checkpoint.index", "too many files", {}, fmt::format("at most {}", mostFiles));
            m_index.files.push_back(file);
        }
        return m_last;
    }

    void sortOut()
    {
        std::vector<std::uint32_t> order(m_index.files.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = static_cast<std::uint32_t>(i);
        std::sort(order.begin(), order.end(),
            [this](std::uint32_t a, std::uint32_t b) { return m_index.files[a] < m_index.files[b]; });
        std::vector<std::uint32_t> place(order.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            place[order[i]] = static_cast<std::uint32_t>(i);
        for (CheckpointIndex::Entry& entry : m_index.entries)
            entry.file = place[entry.file];
        std::sort(m_index.files.begin(), m_index.files.end());
        const auto byName
            = [](const CheckpointIndex::Entry& a, const CheckpointIndex::Entry& b) { return a.name < b.name; };
        std::sort(m_index.entries.begin(), m_index.entries.end(), byName);
        for (std::size_t i = 1; i < m_index.entries.size(); ++i) {
            const TensorNameKey& a = m_index.entries[i - 1].name;
            const TensorNameKey& b = m_index.entries[i].name;
            if (a.isSame(b))
                return m_bytes.fail(m_bytes.errorAt(std::max(a.offset, b.offset), "json.duplicate_key",
                    "this tensor stands twice in weight_map",
                    fmt::format("at byte {} too", std::min(a.offset, b.offset)), "each tensor once"));
        }
    }

    ByteReader& m_bytes;
    CheckpointIndex m_index {};
    std::unordered_map<std::string, std::uint32_t> m_numbers;
    std::uint32_t m_last = 0;
};

} // namespace

CheckpointIndex::Entry* CheckpointIndex::find(const TensorNameKey& name)
{
    // Keys are spread evenly: the place is near where the key's share of all keys says.
    std::size_t at = static_cast<std::size_t>((name.high >> 32) * entries.size() >> 32);
    while (at > 0 && !(entries[at - 1].name < name))
        --at;
    while (at < entries.size() && entries[at].name < name)
        ++at;
    return at < entries.size() && entries[at].name.isSame(name) ? &entries[at] : nullptr;
}

std::string CheckpointIndex::nameAt(std::uint64_t offset) const
{
    Result<ByteReader> reader = ByteReader::open(file);
    if (!reader || offset > reader->size())
        return {};
    reader->skip(offset);
    JsonStream json(*reader);
    return json.string(mostNameBytes);
}

Result<CheckpointIndex> readCheckpointIndex(ByteReader& reader)
{
    return Reader(reader).read();
}

Result<CheckpointIndex> readCheckpointIndex(const std::string& path)
{
    Result<ByteReader> reader = ByteReader::open(path);
    if (!reader)
        return reader.error();
    return readCheckpointIndex(*reader);
}

} // namespace kvw
