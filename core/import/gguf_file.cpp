// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_file.h"

#include "import/gguf_layers.h"
#include "import/weight_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace kvw {

namespace {

constexpr std::int64_t mostTokens = std::int64_t {1} << 40;
constexpr std::int64_t mostParts = 65'535; // split.count is a u16

/// Keys, without the architecture, that stand for state beyond keys and values of every layer.
constexpr std::string_view stateKeys[]
    = {"ssm.", "kda.", "shortconv.", "wkv.", "token_shift_count", "attention.sliding_window",
        "attention.shared_kv_layers", "attention.recurrent_layers", "full_attention_interval", "attention.indexer.",
        "attention.compress", "attention.key_length_mla", "attention.value_length_mla", "attention.key_length_swa",
        "attention.value_length_swa", "attention.kv_lora_rank", "decoder_block_count", "engram.", "ple."};

/// The first key of the file that stands for other state and is neither 0 nor false; null when there is none.
/// `ofAttention`: those of attention count too.
const std::string* stateKeyOf(const GgufFields& fields, bool ofAttention)
{
    const std::string prefix = fields.architecture() + ".";
    for (const auto& [key, value] : fields.header().values) {
        if (!key.starts_with(prefix))
            continue;
        const std::string_view name = std::string_view(key).substr(prefix.size());
        const bool stands = std::any_of(std::begin(stateKeys), std::end(stateKeys),
            [&](std::string_view one) { return one.ends_with('.') ? name.starts_with(one) : name == one; });
        const bool isZero = !value.integers.empty()
            && std::all_of(value.integers.begin(), value.integers.end(), [](std::int64_t n) { return n == 0; });
        if (stands && !isZero && (ofAttention || !name.starts_with("attention.")))
            return &key;
    }
    return nullptr;
}

/// Keys of recurrent state in a file whose architecture has none: llama.cpp does not read them.
void noteUnusedKeys(const GgufFields& fields, ModelSpec& model)
{
    const std::string* key = stateKeyOf(fields, false);
    if (!key)
        return;
    const std::string_view name = std::string_view(*key).substr(fields.architecture().size() + 1);
    model.diagnostics.push_back({Severity::Warning, "import.key_not_used",
        fmt::format("{} stands for state that llama.cpp does not know of \"{}\": it is not counted.", *key,
            fields.architecture()),
        {}, fields.where(name)});
}

Result<const GgufArch*> archOf(const GgufFields& fields, ModelSpec& model)
{
    const std::string& name = fields.architecture();
    if (name == "clip")
        return fields.error("general.architecture", "import.unsupported",
            "this file is the vision part of a model, not the model itself", "\"clip\"",
            "the file of the language model");
    const GgufArch* arch = findGgufArch(name);
    if (arch && arch->encoder)
        return fields.error("general.architecture", "import.no_state",
            "models of this architecture keep nothing between tokens: there is no cache to plan", "\"" + name + "\"",
            "a model that generates text");
    if (arch) {
        if (arch->state == GgufState::None)
            noteUnusedKeys(fields, model);
        return arch;
    }
    if (const std::string* key = stateKeyOf(fields, true))
        return fields.error(std::string_view(*key).substr(name.size() + 1), "import.unsupported",
            fmt::format("\"{}\" is not known here, and this key stands for state of another kind", name));
    const auto kvHeads = fields.find("attention.head_count_kv");
    if (kvHeads && std::find(kvHeads->integers.begin(), kvHeads->integers.end(), 0) != kvHeads->integers.end())
        return fields.error("attention.head_count_kv", "import.unsupported",
            fmt::format("\"{}\" is not known here, and some of its layers have no key and value heads", name));
    model.diagnostics.push_back({Severity::Warning, "import.unknown_architecture",
        fmt::format("The architecture \"{}\" is not known here; it was read as plain attention.", name),
        "model.architecture", fields.where("general.architecture")});
    return &plainGgufArch();
}

Result<void> readIdentity(const GgufFields& fields, ModelSpec& model)
{
    const std::filesystem::path file = fields.header().file;
    const Result<std::optional<std::string>> name = fields.text("general.name");
    if (!name)
        return name.error();
    model.name = *name ? **name : file.stem().string();
    model.provenance.set(
        "name", *name ? fields.fileSource("general.name") : fields.fileSource({}, "from the path of the file"));
    model.architecture = fields.architecture();
    model.provenance.set("architecture", fields.fileSource("general.architecture"));
    return {};
}

Result<void> readSizes(const GgufFields& fields, ModelSpec& model)
{
    const auto context = fields.integer("context_length", 1, mostTokens);
    if (!context)
        return context.error();
    if (*context) {
        model.maximumPositions = (*context)->value;
        model.provenance.set("maximumPositions", (*context)->source);
    } else {
        model.diagnostics.push_back({Severity::Note, "import.maximum_positions",
            "The file does not state the longest sequence (context_length).", "model.maximumPositions",
            fields.where("context_length")});
    }
    const auto vocabulary = fields.integer("vocab_size", 1, INT64_MAX);
    if (!vocabulary)
        return vocabulary.error();
    if (*vocabulary)
        model.vocabulary = (*vocabulary)->value;
    else if (const GgufValue* tokens = fields.find("tokenizer.ggml.tokens"); tokens && tokens->isArray)
        model.vocabulary = static_cast<std::int64_t>(tokens->count);
    // The type of the weights decides nothing about the cache.
    model.dtype = ElementType::Fp16;
    const std::string text = "llama.cpp keeps keys and values in f16 unless told otherwise (--cache-type-k, -v).";
    model.provenance.set("dtype", fields.rule(text));
    model.assumptions.push_back({"import.cache_type_default", text, "cache.elementType"});
    return {};
}

/// The groups of a file whose header and weights are read.
Result<ModelSpec> modelOf(const GgufHeader& header, WeightLayout& weights)
{
    const Result<GgufFields> fields = GgufFields::open(header);
    if (!fields)
        return fields.error();
    ModelSpec model;
    const Result<const GgufArch*> arch = archOf(*fields, model);
    if (!arch)
        return arch.error();
    for (const auto step : {readIdentity, readSizes}) {
        if (Result<void> status = step(*fields, model); !status)
            return status.error();
    }
    if (Result<void> status = addGgufLayerGroups(*fields, **arch, model); !status)
        return status.error();
    const auto drafts = fields->integer("nextn_predict_layers", 0, INT32_MAX);
    const auto layers = fields->integer("block_count", 1, INT32_MAX);
    if (drafts && *drafts && layers && *layers)
        weights.setFirstDraftLayer((*layers)->value - (*drafts)->value);
    return model;
}

void setWeights(const WeightLayout& weights, Source source, ModelSpec& model)
{
    if (weights.tensors() == 0) {
        model.diagnostics.push_back(
            {Severity::Note, "import.no_weights", "The file lists no tensors: the bytes of the weights are not known.",
                "loaded.weightBytes", {source.name, {}}});
        return;
    }
    model.weightBytes = weights.bytes();
    model.weights = weights.parts();
    source.note = fmt::format("sum of {} tensors, without padding; {}", weights.tensors(), source.note);
    model.provenance.set("weightBytes", source);
    weights.compare(model);
}

Result<GgufHeader> readPart(ByteReader& reader, WeightLayout& weights)
{
    return readGguf(reader, [&](const GgufTensor& tensor, const GgufHeader& header) -> Result<void> {
        if (weights.add(tensor.name, tensor.type->name, tensor.dimensions, tensor.elements, tensor.bytes, header.file))
            return {};
        return reader.errorAt(tensor.entryOffset, "gguf.dimensions", "all tensors together are larger than any file");
    });
}

void noteIncomplete(const GgufHeader& header, ModelSpec& model)
{
    if (header.dataEnd > header.fileBytes)
        model.diagnostics.push_back({Severity::Warning, "import.file_incomplete",
            fmt::format(
                "The file has {} bytes, its tensors end at byte {}: it is not whole. What is read here comes from "
                "its header, which is.",
                header.fileBytes, header.dataEnd),
            {}, {header.file, fmt::format("byte {}", header.fileBytes)}});
}

/// The name of a split file: "stem-00001-of-00003.gguf".
struct PartName
{
    std::string stem;
    std::int64_t number = 0;
    std::int64_t count = 0;

    static std::optional<PartName> of(const std::filesystem::path& file)
    {
        const std::string name = file.filename().string();
        constexpr std::string_view form = "-00001-of-00003.gguf";
        if (name.size() <= form.size())
            return std::nullopt;
        PartName out;
        out.stem = name.substr(0, name.size() - form.size());
        const std::string_view end = std::string_view(name).substr(out.stem.size());
        const auto digits = [](std::string_view text, std::int64_t& to) {
            return std::from_chars(text.data(), text.data() + text.size(), to).ptr == text.data() + text.size();
        };
        if (end[0] != '-' || end.substr(6, 4) != "-of-" || end.substr(15) != ".gguf"
            || !digits(end.substr(1, 5), out.number) || !digits(end.substr(10, 5), out.count) || out.number < 1
            || out.count < out.number)
            return std::nullopt;
        return out;
    }
    std::string file(std::int64_t part) const { return fmt::format("{}-{:05}-of-{:05}.gguf", stem, part, count); }
};

class SplitReader
{
public:
    SplitReader(std::filesystem::path folder, PartName name)
        : m_folder(std::move(folder))
        , m_name(std::move(name))
    {}

    Result<ModelSpec> read()
    {
        Sha256 digests;
        for (std::int64_t part = 1; part <= m_name.count; ++part) {
            if (Result<void> status = readOne(part); !status)
                return status.error();
            digests.update(m_headers.back().sha256);
            if (part > 1)
                m_headers.back().values.clear(); // only those of the first part count
        }
        const GgufFields first = *GgufFields::open(m_headers.front());
        const auto tensors = first.integer("split.tensors.count", 0, INT32_MAX);
        if (!tensors)
            return tensors.error();
        if (*tensors && (*tensors)->value != m_weights.tensors())
            return first.error("split.tensors.count", "import.split",
                "the parts together have another number of tensors", fmt::format("{}", m_weights.tensors()),
                fmt::format("{}", (*tensors)->value));
        Result<ModelSpec> model = modelOf(m_headers.front(), m_weights);
        if (!model)
            return model;
        Source source = first.fileSource({});
        source.name = fmt::format("{} and the {} parts after it", source.name, m_name.count - 1);
        source.at = "tensor tables";
        source.sha256 = Sha256::hex(digests.digest());
        source.note = "SHA-256 of the hex digests of the parts' headers, one after the other";
        setWeights(m_weights, source, *model);
        for (const GgufHeader& header : m_headers)
            noteIncomplete(header, *model);
        return model;
    }

private:
    Result<void> readOne(std::int64_t part)
    {
        const std::string path = (m_folder / m_name.file(part)).string();
        Result<ByteReader> reader = ByteReader::open(path);
        if (!reader) {
            Error error = reader.error();
            if (error.code == "io.open")
                error = {"import.split", fmt::format("part {} of {} cannot be opened", part, m_name.count), {path, {}},
                    {}, "all parts in one folder"};
            return error;
        }
        Result<GgufHeader> header = readPart(*reader, m_weights);
        if (!header)
            return header.error();
        const auto stated = [&](const char* key, std::int64_t expected) -> Result<void> {
            const auto found = header->values.find(key);
            if (found == header->values.end())
                return Error {"import.split", "a part of a split model states its place", {path, key}, "no such key",
                    fmt::format("{}", expected)};
            const auto& numbers = found->second.integers;
            if (numbers.size() != 1 || numbers[0] != expected)
                return Error {"import.split", "the part's place differs from its name",
                    {path, fmt::format("{} (byte {})", key, found->second.offset)},
                    numbers.size() == 1 ? fmt::format("{}", numbers[0]) : "no number", fmt::format("{}", expected)};
            return {};
        };
        if (Result<void> status = stated("split.count", m_name.count); !status)
            return status;
        if (Result<void> status = stated("split.no", part - 1); !status)
            return status;
        if (part == 1) {
            if (const Result<GgufFields> fields = GgufFields::open(*header); !fields)
                return fields.error();
        }
        m_headers.push_back(std::move(*header));
        return {};
    }

    std::filesystem::path m_folder;
    PartName m_name;
    WeightLayout m_weights {WeightNaming::Gguf};
    std::vector<GgufHeader> m_headers;
};

} // namespace

Result<ModelSpec> importGguf(ByteReader& reader)
{
    WeightLayout weights(WeightNaming::Gguf);
    const Result<GgufHeader> header = readPart(reader, weights);
    if (!header)
        return header.error();
    Result<ModelSpec> model = modelOf(*header, weights);
    if (!model)
        return model;
    const GgufFields fields = *GgufFields::open(*header);
    const auto count = fields.integer("split.count", 0, mostParts);
    if (count && *count && (*count)->value > 1)
        return fields.error("split.count", "import.split",
            "the file is a part of a split model, and its name does not say which", fmt::format("{}", (*count)->value),
            "a name such as model-00001-of-00003.gguf");
    Source source = fields.fileSource({});
    source.at = "tensor table";
    source.note = "SHA-256 of the header";
    setWeights(weights, source, *model);
    noteIncomplete(*header, *model);
    return model;
}

Result<ModelSpec> importGguf(const std::string& path)
{
    const std::filesystem::path file(path);
    if (const auto name = PartName::of(file); name && name->count > 1)
        return SplitReader(file.parent_path(), *name).read();
    Result<ByteReader> reader = ByteReader::open(path);
    if (!reader)
        return reader.error();
    return importGguf(*reader);
}

bool looksLikeGguf(const std::string& path)
{
    Result<ByteReader> reader = ByteReader::open(path);
    return reader && reader->size() >= 4 && reader->text(4) == "GGUF";
}

} // namespace kvw
