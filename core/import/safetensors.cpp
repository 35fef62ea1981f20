// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/safetensors.h"

#include "import/json_stream.h"
#include "units/amount.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

namespace kvw {

namespace {

struct Type
{
    std::string_view name;
    std::int64_t bits;
};

constexpr Type types[] = {{"BF16", 16}, {"F16", 16}, {"F32", 32}, {"U8", 8}, {"I8", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"BOOL", 8},
    {"I16", 16}, {"U16", 16}, {"I32", 32}, {"U32", 32}, {"I64", 64}, {"U64", 64}, {"F64", 64}, {"C64", 64}};

constexpr std::size_t mostTypeBytes = 32;

class Reader
{
public:
    Reader(ByteReader& bytes, const SafetensorsSink& sink, const SafetensorsLimits& limits)
        : m_bytes(bytes)
        , m_sink(sink)
        , m_limits(limits)
    {}

    Result<SafetensorsHeader> read()
    {
        m_header.file = m_bytes.file();
        m_header.fileBytes = m_bytes.size();
        readLength();
        if (m_bytes.ok())
            readTable();
        if (m_bytes.ok())
            checkNames();
        if (m_bytes.ok())
            checkSpans();
        if (!m_bytes.ok())
            return m_bytes.error();
        m_header.sha256 = m_bytes.sha256();
        return std::move(m_header);
    }

private:
    struct Span
    {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        std::uint64_t offset = 0; ///< byte at which the tensor's line starts
    };

    void readLength()
    {
        const auto length = m_bytes.number<std::uint64_t>();
        if (!m_bytes.ok())
            return;
        const std::uint64_t most = std::min(m_bytes.left(), m_limits.headerBytes);
        if (length > most || length < 2) {
            m_bytes.fail(m_bytes.errorAt(0, "safetensors.header_length",
                length > m_bytes.left() ? "the header is longer than the file" : "not a possible length of a header",
                fmt::format("{} bytes", length), fmt::format("2 to {} bytes", most)));
            return;
        }
        m_bytes.setLimit(m_bytes.offset() + length);
        m_dataStart = m_bytes.offset() + length;
    }

    void readTable()
    {
        JsonStream json(m_bytes);
        if (json.peek() != '{' || json.offset() != 8)
            return json.fail(8, "safetensors.header", "the header is no JSON object", {}, "'{' as its first byte");
        json.expect('{');
        bool first = true;
        while (json.next('}', first)) {
            json.peek();
            const std::uint64_t at = json.offset();
            m_name = json.string(m_limits.nameBytes);
            json.expect(':');
            if (!json.ok())
                return;
            if (m_name == "__metadata__")
                json.skipValue(); // it says nothing about tensors
            else
                readTensor(json, at);
        }
        json.expectEnd();
    }

    void readTensor(JsonStream& json, std::uint64_t at)
    {
        if (m_names.size() >= m_limits.tensors)
            return json.fail(
                at, "safetensors.count", "too many tensors", {}, fmt::format("at most {}", m_limits.tensors));
        m_type.clear();
        m_shape.clear();
        m_found = 0;
        json.expect('{');
        bool first = true;
        while (json.next('}', first)) {
            json.peek();
            const std::uint64_t fieldAt = json.offset();
            const std::string& field = json.string(m_limits.nameBytes);
            const int bit = field == "dtype" ? 1 : field == "shape" ? 2 : field == "data_offsets" ? 4 : 0;
            if ((m_found & bit) != 0)
                return json.fail(fieldAt, "json.duplicate_key", "this field stands twice", field, "each field once");
            m_found |= bit;
            json.expect(':');
            if (bit == 1)
                m_type = json.string(mostTypeBytes);
            else if (bit == 2)
                readShape(json);
            else if (bit == 4)
                readOffsets(json);
            else if (json.ok())
                json.skipValue();
        }
        if (!json.ok())
            return;
        if (m_found != 7)
            return json.fail(at, "safetensors.header", fmt::format("{} is not described in full", m_name), {},
                "dtype, shape and data_offsets");
        account(json, at);
    }

    void readShape(JsonStream& json)
    {
        json.expect('[');
        bool first = true;
        while (json.next(']', first)) {
            const std::uint64_t at = json.offset();
            m_shape.push_back(json.number());
            if (m_shape.size() > m_limits.dimensions)
                return json.fail(at, "safetensors.shape", fmt::format("{} has too many dimensions", m_name), {},
                    fmt::format("at most {}", m_limits.dimensions));
        }
    }

    void readOffsets(JsonStream& json)
    {
        json.expect('[');
        m_begin = json.number();
        json.expect(',');
        m_end = json.number();
        json.expect(']');
    }

    void account(JsonStream& json, std::uint64_t at)
    {
        const std::optional<std::int64_t> bits = safetensorsBits(m_type);
        if (!bits)
            return json.fail(at, "safetensors.type", fmt::format("{} has a type that the format does not have", m_name),
                "\"" + m_type + "\"", "BF16, F8_E4M3, U8 or the like");
        std::optional<std::int64_t> elements = 1;
        for (const std::int64_t dimension : m_shape)
            elements = elements ? checkedMultiply(*elements, dimension) : elements;
        const std::optional<std::int64_t> allBits = elements ? checkedMultiply(*elements, *bits) : std::nullopt;
        if (!allBits || *allBits % 8 != 0)
            return json.fail(at, "safetensors.shape", fmt::format("{} has a shape that cannot be", m_name),
                fmt::format("[{}]", fmt::join(m_shape, ", ")),
                allBits ? "a whole number of bytes" : "a product of dimensions below 2⁶³ bits");
        const std::int64_t bytes = *allBits / 8;
        if (m_end < m_begin || m_end - m_begin != bytes)
            return json.fail(at, "safetensors.bytes", fmt::format("{} takes other bytes than its shape says", m_name),
                fmt::format("bytes {} to {}", m_begin, m_end), fmt::format("{} bytes", bytes));
        m_names.push_back(TensorNameKey::of(m_name, at));
        m_spans.push_back({m_begin, m_end, at});
        ++m_header.tensors;
        SafetensorsTensor tensor {m_name, m_type, m_shape, *elements, bytes, at};
        if (Result<void> taken = m_sink(tensor); !taken)
            json.fail(at, taken.error().code, taken.error().message, taken.error().found, taken.error().expected);
    }

    void checkNames()
    {
        std::sort(m_names.begin(), m_names.end());
        for (std::size_t i = 1; i < m_names.size(); ++i) {
            if (m_names[i].isSame(m_names[i - 1])) {
                const auto [earlier, later] = std::minmax(m_names[i - 1].offset, m_names[i].offset);
                m_bytes.fail(m_bytes.errorAt(later, "safetensors.duplicate_tensor",
                    "a tensor of this name stands twice", fmt::format("at byte {} too", earlier), "each name once"));
                return;
            }
        }
    }

    /// Tensors must fill the data from its first byte on, without overlap or hole.
    void checkSpans()
    {
        const auto byPlace
            = [](const Span& a, const Span& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; };
        if (!std::is_sorted(m_spans.begin(), m_spans.end(), byPlace))
            std::sort(m_spans.begin(), m_spans.end(), byPlace);
        std::int64_t at = 0;
        for (const Span& span : m_spans) {
            if (span.begin != at) {
                const bool overlaps = span.begin < at;
                m_bytes.fail(m_bytes.errorAt(span.offset, overlaps ? "safetensors.overlap" : "safetensors.hole",
                    overlaps ? "the tensor's bytes are another one's too" : "before the tensor are bytes of no tensor",
                    fmt::format("bytes {} to {}", span.begin, span.end), fmt::format("a start at {}", at)));
                return;
            }
            at = span.end;
        }
        m_header.tensorBytes = at;
        m_header.dataEnd = m_dataStart + static_cast<std::uint64_t>(at);
    }

    ByteReader& m_bytes;
    const SafetensorsSink& m_sink;
    const SafetensorsLimits& m_limits;
    SafetensorsHeader m_header {};
    std::uint64_t m_dataStart = 0;
    std::vector<TensorNameKey> m_names;
    std::vector<Span> m_spans;
    // Of the tensor that is being read:
    std::string m_name;
    std::string m_type;
    std::vector<std::int64_t> m_shape;
    std::int64_t m_begin = 0;
    std::int64_t m_end = 0;
    int m_found = 0;
};

} // namespace

TensorNameKey TensorNameKey::of(std::string_view name, std::uint64_t offset)
{
    const XXH128_hash_t hash = XXH3_128bits(name.data(), name.size());
    return {hash.high64, hash.low64, offset};
}

std::optional<std::int64_t> safetensorsBits(std::string_view type)
{
    for (const Type& one : types) {
        if (one.name == type)
            return one.bits;
    }
    return std::nullopt;
}

Result<SafetensorsHeader> readSafetensors(
    ByteReader& reader, const SafetensorsSink& sink, const SafetensorsLimits& limits)
{
    return Reader(reader, sink, limits).read();
}

} // namespace kvw
