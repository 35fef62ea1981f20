// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/byte_reader.h"

#include <array>
#include <functional>
#include <optional>
#include <span>

namespace kvw {

/// A tensor as the header of a safetensors file has it.
struct SafetensorsTensor
{
    std::string_view name;
    std::string_view type; ///< "BF16", "F8_E4M3" …
    std::span<const std::int64_t> shape;
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
    std::uint64_t entryOffset = 0; ///< byte of the file at which its line starts
};

struct SafetensorsHeader
{
    std::string file;
    std::string sha256; ///< of the header: the length and the JSON text
    std::int64_t tensors = 0;
    std::int64_t tensorBytes = 0;
    std::uint64_t dataEnd = 0; ///< byte at which the last tensor ends, as the header says
    std::uint64_t fileBytes = 0;
};

/// Caps of the reader, held before anything is allocated or repeated.
struct SafetensorsLimits
{
    std::uint64_t headerBytes = 100'000'000; ///< as the format's own library has it
    std::size_t tensors = 1'000'000;
    std::size_t nameBytes = 4096;
    std::size_t dimensions = 32;
};

/// A tensor's name as 128 bits, and the byte where it stands: names are compared, but need not be kept.
struct TensorNameKey
{
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::uint64_t offset = 0;

    static TensorNameKey of(std::string_view name, std::uint64_t offset);
    bool isSame(const TensorNameKey& other) const { return high == other.high && low == other.low; }
    bool operator<(const TensorNameKey& other) const
    {
        return high != other.high ? high < other.high : low < other.low;
    }
};

/// Takes one tensor; the strings and spans in it live for the call only. An error stops the reader.
using SafetensorsSink = std::function<Result<void>(const SafetensorsTensor&)>;

/// Bits of one element by the name of its type; nothing for names that the format does not have.
std::optional<std::int64_t> safetensorsBits(std::string_view type);

/// Reads the header of a safetensors file by the rules of the format (huggingface/safetensors 0.6): no tensor is read.
///
/// Errors, with the byte: safetensors.header_length, safetensors.header, safetensors.type, safetensors.shape,
/// safetensors.bytes (offsets that do not fit type and shape), safetensors.overlap, safetensors.hole,
/// safetensors.duplicate_tensor, safetensors.count, json.*, file.truncated, io.read, and those of `sink`.
Result<SafetensorsHeader> readSafetensors(
    ByteReader& reader, const SafetensorsSink& sink, const SafetensorsLimits& limits = {});

} // namespace kvw
