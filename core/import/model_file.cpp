// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/model_file.h"

#include "import/checkpoint.h"
#include "import/gguf_file.h"
#include "import/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace kvw {

namespace {

namespace fs = std::filesystem;

/// GGUF models of a folder: of split ones the first part; projectors of images beside them are none.
std::vector<std::string> ggufModelsIn(const fs::path& folder)
{
    constexpr std::size_t most = 1000; // a folder with more files than that is no model
    std::vector<std::string> out;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end && out.size() < most;
         at.increment(failed)) {
        const std::string name = at->path().filename().string();
        const std::size_t part = name.find("-of-");
        const bool isLaterPart = part != std::string::npos && part >= 6 && name[part - 6] == '-'
            && name.compare(part - 5, 5, "00001") != 0;
        if (name.ends_with(".gguf") && !isLaterPart && !name.starts_with("mmproj"))
            out.push_back(at->path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// A config.json, and the weights beside it.
Result<ModelSpec> importCheckpoint(const fs::path& folder)
{
    Result<ModelSpec> model = importHuggingFaceFile((folder / "config.json").string());
    if (!model)
        return model;
    const Result<std::optional<Checkpoint>> checkpoint = readCheckpoint(folder.string());
    if (!checkpoint)
        return checkpoint.error();
    if (*checkpoint)
        (*checkpoint)->describe(*model);
    return model;
}

bool isSafetensors(const fs::path& file)
{
    const std::string name = file.filename().string();
    return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
}

Result<ModelSpec> importFolder(const fs::path& folder)
{
    std::error_code ignored;
    if (fs::exists(folder / "config.json", ignored))
        return importCheckpoint(folder);
    const std::vector<std::string> models = ggufModelsIn(folder);
    if (models.empty())
        return importHuggingFaceFile((folder / "config.json").string()); // says that it is not there
    if (models.size() > 1)
        return Error {"import.several_models", "the folder has more than one GGUF model: name one of them",
            {folder.string(), {}},
            fmt::format("{} and {}", fs::path(models[0]).filename().string(), fs::path(models[1]).filename().string()),
            "one model"};
    return importGguf(models[0]);
}

} // namespace

Result<ModelSpec> importModel(const std::string& path)
{
    std::error_code ignored;
    const fs::path given = fs::absolute(path, ignored).lexically_normal(); // "." has a name too
    if (fs::is_directory(given, ignored))
        return importFolder(given);
    if (isSafetensors(given) && fs::exists(given, ignored))
        return importFolder(given.parent_path());
    return looksLikeGguf(given.string()) ? importGguf(given.string()) : importHuggingFaceFile(given.string());
}

bool isBinaryModel(const std::string& path)
{
    return isSafetensors(path) || looksLikeGguf(path);
}

} // namespace kvw
