// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_config.h"

#include "import/hf_family.h"
#include "import/hf_fields.h"
#include "import/hf_groups.h"

#include <fmt/format.h>

#include <filesystem>

namespace kvw {

namespace {

/// The last part of a path, ignoring slashes at its end.
std::string lastPart(std::string_view path)
{
    while (path.ends_with('/'))
        path.remove_suffix(1);
    return std::string(path.substr(path.find_last_of('/') + 1));
}

/// "owner/name" of "owner--name", as the hub's tools spell it in file names; others as they are.
std::string repositoryName(std::string spelled)
{
    if (const std::size_t owner = spelled.find("--"); owner != std::string::npos && owner > 0)
        spelled.replace(owner, 2, "/");
    return spelled;
}

/// The name of a file that was kept under its model's: "owner--name_config.json" is owner/name.
std::string nameOfFile(const std::filesystem::path& file)
{
    if (file.extension() != ".json")
        return file.filename().string();
    std::string stem = file.stem().string();
    for (const std::string_view end : {"_config", "-config", ".config"}) {
        if (stem.size() > end.size() && stem.ends_with(end)) {
            stem.resize(stem.size() - end.size());
            break;
        }
    }
    return repositoryName(std::move(stem));
}

/// A name, and a revision when the path states one, from where the file lies: its folder for a config.json (in a hub
/// cache "models--owner--name/snapshots/revision"), else the file's own name.
void nameByPath(const HfFields& fields, ModelSpec& model)
{
    const std::filesystem::path file = fields.root().file();
    const std::filesystem::path folder = file.parent_path();
    const std::string cached = folder.parent_path().parent_path().filename().string();
    const Source source = fields.fileSource({}, "from the path of the file");
    constexpr std::string_view mark = "models--";
    if (folder.parent_path().filename() == "snapshots" && cached.starts_with(mark)) {
        model.name = repositoryName(cached.substr(mark.size()));
        model.revision = folder.filename().string();
        model.provenance.set("revision", source);
    } else if (file.filename() == "config.json" && folder.has_filename() && folder.filename() != "."
        && folder.filename() != "..") {
        model.name = repositoryName(folder.filename().string());
    } else {
        model.name = nameOfFile(file);
    }
    model.provenance.set("name", source);
}

/// A string of the root, else of the text part; nothing when absent or empty.
Result<std::optional<JsonView>> findText(const HfFields& fields, std::string_view key)
{
    for (const JsonView& part : {fields.root(), fields.text()}) {
        const auto found = part.findValue(key);
        if (!found)
            continue;
        const Result<std::string> text = found->string();
        if (!text)
            return text.error();
        if (!text->empty())
            return std::optional<JsonView>(found);
    }
    return std::optional<JsonView> {};
}

Result<void> readIdentity(const HfFields& fields, ModelSpec& model)
{
    const Result<std::optional<JsonView>> path = findText(fields, "_name_or_path");
    if (!path)
        return path.error();
    nameByPath(fields, model);
    if (*path) {
        model.name = *(*path)->string();
        // Where the file was written is nobody's business: of a path on some machine only the last part is a name.
        if (model.name.starts_with('/') || model.name.starts_with('.') || model.name.starts_with('~'))
            model.name = lastPart(model.name);
        model.provenance.set("name", fields.fileSource((*path)->pointer()));
    }
    model.architecture = fields.fileModelType();
    if (!model.architecture.empty())
        model.provenance.set("architecture",
            fields.fileSource(fields.root().findValue("model_type") ? "/model_type" : fields.modelTypePointer()));
    const Result<std::optional<JsonView>> commit = findText(fields, "_commit_hash");
    if (!commit)
        return commit.error();
    if (*commit) {
        model.revision = *(*commit)->string();
        model.provenance.set("revision", fields.fileSource((*commit)->pointer()));
    }
    return {};
}

Result<void> readElementType(const HfFields& fields, ModelSpec& model)
{
    model.dtype = ElementType::Bf16;
    for (const JsonView& part : {fields.text(), fields.root()}) {
        for (const std::string_view key : {"dtype", "torch_dtype"}) {
            const auto stated = part.findValue(key);
            if (!stated)
                continue;
            const Result<std::string> name = stated->string();
            if (!name)
                return name.error();
            if (const auto type = elementTypeNamed(*name)) {
                model.dtype = *type;
                model.provenance.set("dtype", fields.fileSource(stated->pointer()));
                return {};
            }
            model.diagnostics.push_back({Severity::Warning, "import.dtype_unknown",
                fmt::format("The element type \"{}\" is not one that a model computes in; it was passed over.", *name),
                "model.dtype", {stated->file(), stated->pointer()}});
        }
    }
    const std::string text = "Neither dtype nor torch_dtype states an element type that is known here: bf16 was taken.";
    model.assumptions.push_back({"import.dtype_default", text, "model.dtype"});
    model.provenance.set("dtype", fields.assumption(fields.pointer("dtype"), text));
    return {};
}

Result<void> readSizes(const HfFields& fields, ModelSpec& model)
{
    const Result<std::optional<Stated>> positions
        = fields.integer({"max_position_embeddings", "n_positions", "max_target_positions", "seq_length", "max_seq_len",
                             "model_max_length", "context_length"},
            1, mostTokens);
    if (!positions)
        return positions.error();
    if (*positions) {
        model.maximumPositions = (*positions)->value;
        model.provenance.set("maximumPositions", (*positions)->source);
    } else {
        model.diagnostics.push_back({Severity::Note, "import.maximum_positions",
            "The file does not state the longest sequence (max_position_embeddings).", "model.maximumPositions",
            {fields.root().file(), fields.pointer("max_position_embeddings")}});
    }
    const Result<std::optional<Stated>> vocabulary
        = fields.integer({"vocab_size", "padded_vocab_size", "n_vocab"}, 1, INT64_MAX);
    if (!vocabulary)
        return vocabulary.error();
    if (*vocabulary)
        model.vocabulary = (*vocabulary)->value;
    return {};
}

/// What the maker of the checkpoint suggests for the cache. It decides nothing: the engine's options do.
void noteCacheHint(const JsonView& hint, ModelSpec& model)
{
    std::string text = "a scheme of its own";
    const auto bits = hint.findValue("num_bits");
    const auto type = hint.findValue("type");
    if (hint.isString())
        text = *hint.string();
    else if (bits && bits->integer() && type && type->isString())
        text = fmt::format("{}-bit {}", *bits->integer(), *type->string());
    model.diagnostics.push_back({Severity::Note, "import.cache_type_hint",
        fmt::format("The checkpoint suggests an element type for the cache ({}); the plan decides.", text),
        "cache.elementType", {hint.file(), hint.pointer()}});
}

void noteCacheHints(const HfFields& fields, ModelSpec& model)
{
    for (const JsonView& part : {fields.root(), fields.text()}) {
        const auto quantization = part.findValue("quantization_config");
        for (const std::string_view key : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
            if (const auto hint = quantization ? quantization->findValue(key) : std::nullopt)
                noteCacheHint(*hint, model);
        }
        if (!fields.isNested())
            break; // both are the same part
    }
}

/// A file that may lie beside config.json; nothing when there is none. One that cannot be read is a warning: what it
/// says is a hint.
std::optional<JsonDocument> readBeside(
    const std::filesystem::path& folder, const char* name, const char* id, ModelSpec& model)
{
    const std::filesystem::path path = folder / name;
    std::error_code status;
    if (!std::filesystem::exists(path, status))
        return std::nullopt;
    const Result<JsonDocument> document = readJsonFile(path.string());
    if (document)
        return *document;
    model.diagnostics.push_back({Severity::Warning, id, document.error().text(), {}, document.error().where});
    return std::nullopt;
}

/// The hint of the file that some quantisers put beside config.json.
void noteCacheHintsBeside(const std::filesystem::path& folder, ModelSpec& model)
{
    const auto document = readBeside(folder, "hf_quant_config.json", "import.quantization_file", model);
    const auto quantization = document ? JsonView(*document).findValue("quantization") : std::nullopt;
    if (const auto hint = quantization ? quantization->findValue("kv_cache_quant_algo") : std::nullopt)
        noteCacheHint(*hint, model);
}

/// What generation_config.json says about the cache and the length of outputs. It decides nothing: it is about
/// transformers' own generation, and an engine has its options.
void noteGenerationBeside(const std::filesystem::path& folder, ModelSpec& model)
{
    const auto document = readBeside(folder, "generation_config.json", "import.generation_file", model);
    if (!document)
        return;
    const JsonView root(*document);
    const auto note = [&](const JsonView& value, const char* id, std::string text, const char* path) {
        model.diagnostics.push_back({Severity::Note, id, std::move(text), path, {value.file(), value.pointer()}});
    };
    if (const auto kind = root.findValue("cache_implementation"); kind && kind->isString())
        note(*kind, "import.cache_implementation",
            fmt::format("The generation settings choose a cache for transformers ({}); the plan decides.",
                shortened(*kind->string())),
            "cache.allocation");
    if (const auto most = root.findValue("max_new_tokens"); most && most->integer(1, mostTokens))
        note(*most, "import.generation_limit",
            fmt::format("The generation settings end an output after {} tokens; the plan decides.",
                *most->integer(1, mostTokens)),
            "limits.outputTokens");
}

} // namespace

Result<ModelSpec> importHuggingFaceConfig(const JsonDocument& document)
{
    const Result<HfFields> opened = HfFields::open(document);
    if (!opened)
        return opened.error();
    const HfFields& fields = *opened;
    const HfFamily* family = findFamily(fields.modelType());
    if (!family && fields.isNested())
        family = findFamily(fields.fileModelType());
    if (const auto refused = unsupportedState(fields, family))
        return *refused;

    ModelSpec model;
    if (!family)
        model.diagnostics.push_back({Severity::Warning, "import.unknown_model_type",
            fields.modelType().empty()
                ? "The file states no model_type; it was read as plain attention."
                : fmt::format(
                    "The model type \"{}\" is not known here; it was read as plain attention.", fields.modelType()),
            "model.architecture", {document.file, fields.modelTypePointer()}});
    for (const auto step : {readIdentity, readElementType, readSizes}) {
        const Result<void> status = step(fields, model);
        if (!status)
            return status.error();
    }
    const Result<void> status = addLayerGroups({fields, family ? *family : unknownFamily(), model});
    if (!status)
        return status.error();
    noteCacheHints(fields, model);
    return model;
}

Result<ModelSpec> importHuggingFaceFile(const std::string& path)
{
    const std::filesystem::path file(path);
    const Result<JsonDocument> document = readJsonFile(path);
    if (!document)
        return document.error();
    Result<ModelSpec> model = importHuggingFaceConfig(*document);
    if (model && file.filename() == "config.json") {
        noteCacheHintsBeside(file.parent_path(), *model);
        noteGenerationBeside(file.parent_path(), *model);
    }
    return model;
}

} // namespace kvw
