// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/byte_reader.h"
#include "import/ggml_type.h"

#include <array>
#include <functional>
#include <map>
#include <span>

namespace kvw {

/// Types of metadata values, as GGUF numbers them.
enum class GgufType : std::uint32_t {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64,
};

/// A metadata value: a scalar, or an array of scalars. What no planner needs is passed over, not kept: everything of
/// the tokenizer, long strings, arrays of strings, long arrays.
struct GgufValue
{
    GgufType type = GgufType::U32; ///< of the value, or of an array's elements
    bool isArray = false;
    bool isKept = false; ///< whether the fields below hold it
    std::uint64_t count = 1; ///< elements; 1 for a scalar
    std::uint64_t offset = 0; ///< byte of the file at which the value starts
    std::vector<std::int64_t> integers {}; ///< whole numbers and bools
    std::vector<double> reals {}; ///< floating-point numbers, and whole numbers beyond 63 bits
    std::string text {};
};

/// One line of the tensor table.
struct GgufTensor
{
    std::string name;
    std::span<const std::int64_t> dimensions; ///< the first is the row
    const GgmlType* type = nullptr;
    std::int64_t elements = 0;
    std::int64_t bytes = 0; ///< without the padding after it
    std::uint64_t entryOffset = 0; ///< byte of the file at which its line starts
};

/// What a GGUF file says before its tensors.
struct GgufHeader
{
    std::string file;
    std::string sha256; ///< of the header: the bytes up to the end of the tensor table
    std::uint64_t fileBytes = 0;
    std::uint64_t headerBytes = 0;
    std::uint32_t version = 0;
    bool isBigEndian = false;
    std::map<std::string, GgufValue, std::less<>> values {};
    std::int64_t tensors = 0;
    std::int64_t tensorBytes = 0; ///< of all tensors, without padding
    std::uint64_t dataEnd = 0; ///< byte at which the last tensor ends; more than fileBytes: the file is not whole
};

/// Caps of the reader; sizes that the file states are held to them, and to the file's own size, before anything is
/// allocated or repeated.
struct GgufLimits
{
    std::uint64_t headerBytes = std::uint64_t {256} << 20; ///< real ones are up to about 12 MiB
    std::uint64_t values = 65'536;
    std::uint64_t tensors = 1'000'000;
    std::uint64_t keptElements = 16'384; ///< of one array
    std::uint64_t keptText = 4096; ///< bytes of one string
};

/// Takes one tensor, and the header with all its values; what they refer to lives for the call only. An error stops the
/// reader.
using GgufTensorSink = std::function<Result<void>(const GgufTensor&, const GgufHeader&)>;

/// Reads metadata and tensor table of GGUF version 2 or 3, in either byte order, as ggml does (src/gguf.cpp, August
/// 2026); no tensor is read. `sink` gets each tensor in the order of the file.
///
/// Errors, with the byte: gguf.magic, gguf.version, gguf.count, gguf.key, gguf.duplicate_key, gguf.type,
/// gguf.nested_array, gguf.string, gguf.alignment, gguf.tensor_name, gguf.dimensions, gguf.tensor_type, gguf.row,
/// gguf.offset, gguf.size (a cap), file.truncated, io.read, and those of `sink`.
Result<GgufHeader> readGguf(ByteReader& reader, const GgufTensorSink& sink, const GgufLimits& limits = {});

} // namespace kvw
