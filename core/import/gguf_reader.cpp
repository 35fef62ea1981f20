// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_reader.h"

#include "units/amount.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::uint64_t leastValueBytes = 8 + 1 + 4 + 1; // length and one character of a key, type, value
constexpr std::uint64_t leastTensorBytes = 8 + 4 + 4 + 8; // length of a name, dimensions, type, offset
constexpr std::uint64_t mostKeyBytes = 65'535; // of the format
constexpr std::size_t mostNameBytes = 63; // GGML_MAX_NAME with its zero
constexpr std::uint32_t mostDimensions = 4; // GGML_MAX_DIMS

/// Bytes of one element; 0 for strings and arrays, whose size is in the file.
std::uint64_t elementBytes(GgufType type)
{
    constexpr std::array<std::uint64_t, 13> bytes {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return bytes[static_cast<std::size_t>(type)];
}

class Reader
{
public:
    Reader(ByteReader& bytes, const GgufTensorSink& sink, const GgufLimits& limits)
        : m_bytes(bytes)
        , m_sink(sink)
        , m_limits(limits)
    {}

    Result<GgufHeader> read()
    {
        m_header.file = m_bytes.file();
        m_header.fileBytes = m_bytes.size();
        if (m_bytes.size() > m_limits.headerBytes)
            m_bytes.setLimit(m_limits.headerBytes);
        readStart();
        readValues();
        readTensors();
        if (!m_bytes.ok())
            return failure();
        m_header.headerBytes = m_bytes.offset();
        const std::uint64_t padded = (m_header.headerBytes + m_alignment - 1) / m_alignment * m_alignment;
        m_header.dataEnd = m_header.tensors == 0 ? m_header.headerBytes : padded + m_lastEnd;
        m_header.sha256 = m_bytes.sha256();
        return std::move(m_header);
    }

private:
    Error failure() const
    {
        Error error = m_bytes.error();
        if (error.code == "file.truncated" && m_bytes.size() > m_limits.headerBytes)
            error = {"gguf.size", "the header is larger than this reader takes", error.where, {},
                fmt::format("at most {} bytes", m_limits.headerBytes)};
        return error;
    }
    void fail(std::uint64_t at, std::string code, std::string message, std::string found, std::string expected)
    {
        m_bytes.fail(m_bytes.errorAt(at, std::move(code), std::move(message), std::move(found), std::move(expected)));
    }

    void readStart()
    {
        const std::string magic = m_bytes.text(4);
        if (m_bytes.ok() && magic != "GGUF")
            fail(0, "gguf.magic", "not a GGUF file", {}, "\"GGUF\" as the first four bytes");
        m_header.version = m_bytes.number<std::uint32_t>();
        // Versions are small: with nothing in the low half it was written in the other byte order.
        if (m_bytes.ok() && m_header.version != 0 && (m_header.version & 0xffff) == 0) {
            m_bytes.setSwapped(!m_bytes.isSwapped());
            const std::uint32_t v = m_header.version;
            m_header.version = v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24;
        }
        m_header.isBigEndian = m_bytes.isSwapped() == (std::endian::native == std::endian::little);
        if (m_bytes.ok() && m_header.version != 2 && m_header.version != 3)
            fail(4, "gguf.version", "this version of GGUF is not read", fmt::format("{}", m_header.version), "2 or 3");
    }

    /// A count, held to the bytes that are left and to a cap.
    std::uint64_t readCount(std::uint64_t at, std::uint64_t count, std::uint64_t least, std::uint64_t cap)
    {
        if (!m_bytes.ok())
            return 0;
        const std::uint64_t fit = m_bytes.left() / least;
        if (count > fit || count > cap) {
            fail(at, "gguf.count", count > fit ? "more of them than the file has room for" : "too many of them",
                fmt::format("{}", count), fmt::format("at most {}", std::min(fit, cap)));
            return 0;
        }
        return count;
    }

    void readValues()
    {
        // Both counts stand before the first value.
        const std::uint64_t tensorsAt = m_bytes.offset();
        const auto tensors = m_bytes.number<std::uint64_t>();
        const auto values = m_bytes.number<std::uint64_t>();
        m_tensors = readCount(tensorsAt, tensors, leastTensorBytes, m_limits.tensors);
        const std::uint64_t count = readCount(tensorsAt + 8, values, leastValueBytes, m_limits.values);
        for (std::uint64_t i = 0; i < count && m_bytes.ok(); ++i)
            readValue();
    }

    void readValue()
    {
        const std::uint64_t at = m_bytes.offset();
        const auto length = m_bytes.number<std::uint64_t>();
        if (m_bytes.ok() && (length == 0 || length > mostKeyBytes || length > m_bytes.left()))
            fail(at, "gguf.key", "not a possible length of a key", fmt::format("{} bytes", length),
                fmt::format("1 to {} bytes", std::min(mostKeyBytes, m_bytes.left())));
        if (!m_bytes.ok())
            return;
        std::string key = m_bytes.text(static_cast<std::size_t>(length));
        if (m_header.values.count(key) != 0) {
            fail(at, "gguf.duplicate_key", "this key stands twice", fmt::format("\"{}\"", key), "each key once");
            return;
        }
        GgufValue value;
        value.type = readType();
        if (value.type == GgufType::Array) {
            value.isArray = true;
            value.type = readType();
            if (m_bytes.ok() && value.type == GgufType::Array)
                fail(m_bytes.offset() - 4, "gguf.nested_array", fmt::format("{} is an array of arrays", key), {},
                    "an array of scalars");
            value.count = m_bytes.number<std::uint64_t>();
        }
        value.offset = m_bytes.offset();
        if (!m_bytes.ok())
            return;
        const bool wanted = !key.starts_with("tokenizer.");
        if (value.type == GgufType::String)
            readStrings(value, wanted);
        else
            readNumbers(value, wanted);
        if (m_bytes.ok() && key == "general.alignment")
            setAlignment(value);
        m_header.values.emplace(std::move(key), std::move(value));
    }

    GgufType readType()
    {
        const auto type = m_bytes.number<std::uint32_t>();
        if (m_bytes.ok() && type > static_cast<std::uint32_t>(GgufType::F64))
            fail(m_bytes.offset() - 4, "gguf.type", "not a type of a value", fmt::format("{}", type), "0 to 12");
        return m_bytes.ok() ? static_cast<GgufType>(type) : GgufType::U8;
    }

    void readStrings(GgufValue& value, bool wanted)
    {
        if (value.isArray)
            value.count = readCount(value.offset - 8, value.count, 8, UINT64_MAX);
        for (std::uint64_t i = 0; i < value.count && m_bytes.ok(); ++i) {
            const std::uint64_t at = m_bytes.offset();
            const auto length = m_bytes.number<std::uint64_t>();
            if (m_bytes.ok() && length > m_bytes.left()) {
                // Beyond the cap on headers it is that cap that counts, see failure().
                fail(at, m_bytes.size() > m_limits.headerBytes ? "file.truncated" : "gguf.string",
                    "a string reaches beyond the file", fmt::format("{} bytes", length),
                    fmt::format("at most {} bytes", m_bytes.left()));
            }
            if (!m_bytes.ok())
                return;
            if (wanted && !value.isArray && length <= m_limits.keptText) {
                value.text = m_bytes.text(static_cast<std::size_t>(length));
                value.isKept = true;
            } else {
                m_bytes.skip(length);
            }
        }
    }

    void readNumbers(GgufValue& value, bool wanted)
    {
        if (value.isArray)
            value.count = readCount(value.offset - 8, value.count, elementBytes(value.type), UINT64_MAX);
        if (!m_bytes.ok())
            return;
        if (!wanted || value.count > m_limits.keptElements) {
            m_bytes.skip(value.count * elementBytes(value.type)); // no overflow: readCount() has held it to the file
            return;
        }
        value.isKept = true;
        for (std::uint64_t i = 0; i < value.count && m_bytes.ok(); ++i)
            readNumber(value);
    }

    void readNumber(GgufValue& value)
    {
        switch (value.type) {
        case GgufType::U8:
            return value.integers.push_back(m_bytes.number<std::uint8_t>());
        case GgufType::Bool:
            return value.integers.push_back(m_bytes.number<std::uint8_t>() != 0 ? 1 : 0);
        case GgufType::I8:
            return value.integers.push_back(m_bytes.number<std::int8_t>());
        case GgufType::U16:
            return value.integers.push_back(m_bytes.number<std::uint16_t>());
        case GgufType::I16:
            return value.integers.push_back(m_bytes.number<std::int16_t>());
        case GgufType::U32:
            return value.integers.push_back(m_bytes.number<std::uint32_t>());
        case GgufType::I32:
            return value.integers.push_back(m_bytes.number<std::int32_t>());
        case GgufType::I64:
            return value.integers.push_back(m_bytes.number<std::int64_t>());
        case GgufType::F32:
            return value.reals.push_back(m_bytes.number<float>());
        case GgufType::F64:
            return value.reals.push_back(m_bytes.number<double>());
        case GgufType::U64: {
            const auto number = m_bytes.number<std::uint64_t>();
            if (number > static_cast<std::uint64_t>(INT64_MAX))
                return value.reals.push_back(static_cast<double>(number));
            return value.integers.push_back(static_cast<std::int64_t>(number));
        }
        case GgufType::String:
        case GgufType::Array:
            break;
        }
    }

    void setAlignment(const GgufValue& value)
    {
        const std::int64_t alignment
            = value.type == GgufType::U32 && !value.isArray && !value.integers.empty() ? value.integers[0] : 0;
        if (alignment < 1 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)))
            fail(value.offset, "gguf.alignment", "not a possible alignment of tensors", fmt::format("{}", alignment),
                "a u32, a power of two");
        else
            m_alignment = static_cast<std::uint64_t>(alignment);
    }

    void readTensors()
    {
        if (m_bytes.ok())
            m_tensors = readCount(8, m_tensors, leastTensorBytes, m_limits.tensors);
        for (std::uint64_t i = 0; i < m_tensors && m_bytes.ok(); ++i)
            readTensor();
    }

    void readTensor()
    {
        const std::uint64_t at = m_bytes.offset();
        GgufTensor tensor;
        tensor.entryOffset = at;
        const auto length = m_bytes.number<std::uint64_t>();
        if (m_bytes.ok() && (length > mostNameBytes || length > m_bytes.left()))
            fail(at, "gguf.tensor_name", "not a possible length of a tensor's name", fmt::format("{} bytes", length),
                fmt::format("at most {} bytes", mostNameBytes));
        if (!m_bytes.ok())
            return;
        tensor.name = m_bytes.text(static_cast<std::size_t>(length));
        std::array<std::int64_t, mostDimensions> dimensions {};
        tensor.dimensions = readDimensions(tensor, dimensions);
        const auto type = m_bytes.number<std::uint32_t>();
        const auto offset = m_bytes.number<std::uint64_t>();
        if (!m_bytes.ok())
            return;
        tensor.type = findGgmlType(type);
        if (!tensor.type)
            return fail(m_bytes.offset() - 12, "gguf.tensor_type", fmt::format("{} has an unknown type", tensor.name),
                fmt::format("{}", type), "the number of a type that ggml stores");
        if (!sizeOf(tensor))
            return;
        if (offset != m_nextOffset)
            return fail(m_bytes.offset() - 8, "gguf.offset",
                fmt::format("{} does not start where the tensor before it ends", tensor.name),
                fmt::format("{}", offset), fmt::format("{}", m_nextOffset));
        account(tensor);
    }

    std::span<const std::int64_t> readDimensions(GgufTensor& tensor, std::array<std::int64_t, mostDimensions>& to)
    {
        const std::uint64_t at = m_bytes.offset();
        const auto count = m_bytes.number<std::uint32_t>();
        if (m_bytes.ok() && count > mostDimensions)
            fail(at, "gguf.dimensions", fmt::format("{} has too many dimensions", tensor.name),
                fmt::format("{}", count), "at most 4");
        if (!m_bytes.ok())
            return {};
        std::optional<std::int64_t> elements = 1;
        for (std::uint32_t i = 0; i < count; ++i) {
            to[i] = m_bytes.number<std::int64_t>();
            elements = elements && to[i] >= 0 ? checkedMultiply(*elements, to[i]) : std::nullopt;
        }
        if (m_bytes.ok() && !elements)
            fail(at, "gguf.dimensions", fmt::format("{} has dimensions that cannot be", tensor.name),
                fmt::format("{}", fmt::join(to.begin(), to.begin() + count, " × ")),
                "no negative one, and a product below 2⁶³");
        tensor.elements = elements.value_or(0);
        return {to.data(), count};
    }

    /// Bytes of the tensor: whole blocks in each row.
    bool sizeOf(GgufTensor& tensor)
    {
        const std::int64_t row = tensor.dimensions.empty() ? 1 : tensor.dimensions[0];
        if (row % tensor.type->blockElements != 0) {
            fail(tensor.entryOffset, "gguf.row", fmt::format("the rows of {} are no whole blocks", tensor.name),
                fmt::format("{} elements in {}", row, tensor.type->name),
                fmt::format("a multiple of {}", tensor.type->blockElements));
            return false;
        }
        const auto bytes = checkedMultiply(tensor.elements / tensor.type->blockElements, tensor.type->blockBytes);
        const auto total = bytes ? checkedAdd(m_header.tensorBytes, *bytes) : std::nullopt;
        // Room for the padding of all tensors, so that offsets cannot overflow.
        if (!total || *total > INT64_MAX / 4) {
            fail(tensor.entryOffset, "gguf.dimensions", fmt::format("{} is larger than any file", tensor.name),
                fmt::format("{} elements", tensor.elements), "fewer");
            return false;
        }
        tensor.bytes = *bytes;
        return true;
    }

    void account(const GgufTensor& tensor)
    {
        ++m_header.tensors;
        m_header.tensorBytes += tensor.bytes;
        m_lastEnd = m_nextOffset + static_cast<std::uint64_t>(tensor.bytes);
        m_nextOffset = (m_lastEnd + m_alignment - 1) / m_alignment * m_alignment;
        if (Result<void> taken = m_sink(tensor, m_header); !taken)
            m_bytes.fail(taken.error());
    }

    ByteReader& m_bytes;
    const GgufTensorSink& m_sink;
    const GgufLimits& m_limits;
    GgufHeader m_header {};
    std::uint64_t m_alignment = 32;
    std::uint64_t m_tensors = 0;
    std::uint64_t m_nextOffset = 0; ///< of the next tensor, from the start of the data
    std::uint64_t m_lastEnd = 0;
};

} // namespace

Result<GgufHeader> readGguf(ByteReader& reader, const GgufTensorSink& sink, const GgufLimits& limits)
{
    return Reader(reader, sink, limits).read();
}

} // namespace kvw
