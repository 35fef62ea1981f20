// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/checkpoint.h"

#include "import/checkpoint_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace kvw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostFiles = 10'000; ///< of a folder that is looked through

/// Whether a file is a pointer that Git LFS leaves in place of a file that was not fetched.
bool isLfsPointer(ByteReader& reader)
{
    constexpr std::string_view start = "version https://git-lfs";
    return reader.size() >= start.size() && reader.size() < 1024 && reader.text(start.size()) == start;
}

/// Whether the weights of a file are here.
bool isThere(const fs::path& path)
{
    Result<ByteReader> reader = ByteReader::open(path.string());
    return reader && !isLfsPointer(*reader);
}

/// Names in the folder that end with `end`, sorted.
std::vector<std::string> namesIn(const fs::path& folder, std::string_view end)
{
    std::vector<std::string> out;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), last; !failed && at != last && out.size() < mostFiles;
         at.increment(failed)) {
        std::string name = at->path().filename().string();
        if (name.ends_with(end))
            out.push_back(std::move(name));
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// Which of the folder's files make the checkpoint, without an index. Nothing but `problem` where that is not clear.
std::vector<std::string> chooseFiles(
    std::vector<std::string> names, std::optional<Error>& problem, const fs::path& folder)
{
    const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    for (const char* whole : {"model.safetensors", "consolidated.safetensors"}) {
        if (has(whole))
            return {whole};
    }
    // A set "x-00001-of-0000N.safetensors".
    constexpr std::string_view form = "-00001-of-00003.safetensors";
    std::vector<std::string> parts;
    std::int64_t count = 0;
    std::string stem;
    for (const std::string& name : names) {
        if (name.size() <= form.size() || name.compare(name.size() - form.size() + 6, 4, "-of-") != 0)
            continue;
        const std::string start = name.substr(0, name.size() - form.size());
        if (!parts.empty() && start != stem)
            continue;
        stem = start;
        const char* digits = name.data() + name.size() - form.size() + 10;
        std::from_chars(digits, digits + 5, count);
        parts.push_back(name);
    }
    if (!parts.empty()) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::string name = fmt::format("{}-{:05}-of-{:05}.safetensors", stem, i + 1, count);
            if (static_cast<std::size_t>(i) >= parts.size() || parts[static_cast<std::size_t>(i)] != name) {
                problem = Error {"checkpoint.missing_shard", "a part of the checkpoint is not here",
                    {(folder / name).string(), {}}, fmt::format("{} of {} parts", parts.size(), count), "all parts"};
                break;
            }
        }
        return parts;
    }
    return names.size() == 1 ? names : std::vector<std::string> {};
}

class CheckpointReader
{
public:
    explicit CheckpointReader(fs::path folder)
        : m_folder(std::move(folder))
    {}

    Result<std::optional<Checkpoint>> read()
    {
        using Found = std::optional<Checkpoint>;
        const std::vector<std::string> indices = namesIn(m_folder, ".safetensors.index.json");
        if (!indices.empty()) {
            const bool usual
                = std::find(indices.begin(), indices.end(), "model.safetensors.index.json") != indices.end();
            if (Result<void> status = readByIndex(usual ? "model.safetensors.index.json" : indices[0]); !status)
                return status.error();
            return Found(std::move(m_out));
        }
        std::vector<std::string> names = namesIn(m_folder, ".safetensors");
        // Adapters are no models.
        names.erase(std::remove(names.begin(), names.end(), "adapter_model.safetensors"), names.end());
        if (names.empty())
            return Found {};
        std::optional<Error> problem;
        const std::vector<std::string> files = chooseFiles(names, problem, m_folder);
        if (problem)
            return *problem;
        if (files.empty()) {
            note(Severity::Warning, "import.checkpoint_unclear",
                fmt::format(
                    "{} safetensors files stand here, and no index says which make the model: their weights are "
                    "not counted.",
                    names.size()),
                m_folder / names[0]);
            return Found(std::move(m_out));
        }
        if (Result<void> status = readAlone(files); !status)
            return status.error();
        return Found(std::move(m_out));
    }

private:
    void note(Severity severity, std::string id, std::string message, const fs::path& file, std::string at = {})
    {
        m_out.diagnostics.push_back(
            {severity, std::move(id), std::move(message), "loaded.weightBytes", {file.string(), std::move(at)}});
    }

    /// One header; `sink` gets its tensors.
    Result<void> readFile(const std::string& name, const SafetensorsSink& sink)
    {
        const fs::path path = m_folder / name;
        Result<ByteReader> reader = ByteReader::open(path.string());
        if (!reader)
            return reader.error();
        const Result<SafetensorsHeader> header = readSafetensors(*reader, sink);
        if (!header)
            return header.error();
        m_digests.update(header->sha256);
        m_lastDigest = header->sha256;
        ++m_files;
        if (header->dataEnd > header->fileBytes)
            note(Severity::Warning, "import.file_incomplete",
                fmt::format(
                    "The file has {} bytes, its tensors end at byte {}: it is not whole. What is read here comes "
                    "from its header, which is.",
                    header->fileBytes, header->dataEnd),
                path, fmt::format("byte {}", header->fileBytes));
        else if (header->dataEnd < header->fileBytes)
            note(Severity::Warning, "import.file_longer",
                fmt::format(
                    "The file has {} bytes, but its tensors end at byte {}.", header->fileBytes, header->dataEnd),
                path, fmt::format("byte {}", header->dataEnd));
        return {};
    }

    Result<void> add(const SafetensorsTensor& tensor, const std::string& name)
    {
        if (m_out.weights.add(tensor.name, tensor.type, tensor.shape, tensor.elements, tensor.bytes, name))
            return {};
        return Error {"safetensors.shape", "all tensors together are larger than any file",
            {(m_folder / name).string(), fmt::format("byte {}", tensor.entryOffset)}};
    }

    /// Files without an index: every tensor counts.
    Result<void> readAlone(const std::vector<std::string>& files)
    {
        std::vector<std::pair<TensorNameKey, std::size_t>> seen; // where from, when there are several files
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (!isThere(m_folder / files[i])) {
                note(Severity::Warning, "import.weights_not_fetched",
                    "The file is a pointer of Git LFS: its weights were not fetched, and are not counted.",
                    m_folder / files[i]);
                m_out.weights = WeightLayout(WeightNaming::Checkpoint);
                return {};
            }
            Result<void> status = readFile(files[i], [&](const SafetensorsTensor& tensor) -> Result<void> {
                if (files.size() > 1)
                    seen.emplace_back(TensorNameKey::of(tensor.name, tensor.entryOffset), i);
                return add(tensor, files[i]);
            });
            if (!status)
                return status;
        }
        std::stable_sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t i = 1; i < seen.size(); ++i) {
            if (seen[i].first.isSame(seen[i - 1].first))
                return Error {"checkpoint.duplicate_tensor", "a tensor of this name stands in two files",
                    {(m_folder / files[seen[i].second]).string(), fmt::format("byte {}", seen[i].first.offset)},
                    fmt::format("in {} too, at byte {}", files[seen[i - 1].second], seen[i - 1].first.offset),
                    "each name once"};
        }
        setSource(files[0], files.size() == 1 ? m_lastDigest : std::string());
        return {};
    }

    Result<void> readByIndex(const std::string& name)
    {
        const fs::path path = m_folder / name;
        Result<CheckpointIndex> index = readCheckpointIndex(path.string());
        if (!index)
            return index.error();
        std::vector<std::string> absent;
        for (const std::string& file : index->files) {
            if (!isThere(m_folder / file))
                absent.push_back(file);
        }
        if (absent.size() == index->files.size()) {
            claim(*index, name);
            return {};
        }
        if (!absent.empty())
            return missingShard(*index, absent);
        m_digests.update(index->sha256);
        for (std::size_t i = 0; i < index->files.size(); ++i) {
            if (Result<void> status = readShard(*index, i); !status)
                return status;
        }
        const auto lost
            = std::find_if(index->entries.begin(), index->entries.end(), [](const auto& entry) { return !entry.seen; });
        if (lost != index->entries.end())
            return Error {"checkpoint.missing_tensor",
                fmt::format("a tensor of the index is not in its file, {}", index->files[lost->file]),
                {path.string(), fmt::format("byte {}", lost->name.offset)},
                "\"" + index->nameAt(lost->name.offset) + "\"", "a tensor of this name in the file"};
        if (m_notInIndex > 0)
            note(Severity::Warning, "import.tensors_not_in_index",
                fmt::format("{} tensors of the files are not in the index and are not counted, such as {}.",
                    m_notInIndex, m_example),
                path);
        setSource(name, {});
        return {};
    }

    Result<void> readShard(CheckpointIndex& index, std::size_t number)
    {
        const std::string& name = index.files[number];
        return readFile(name, [&](const SafetensorsTensor& tensor) -> Result<void> {
            CheckpointIndex::Entry* entry = index.find(TensorNameKey::of(tensor.name, tensor.entryOffset));
            if (!entry || entry->file != number) {
                if (m_notInIndex++ == 0)
                    m_example = fmt::format("{} in {}", tensor.name, name);
                return {};
            }
            entry->seen = true;
            return add(tensor, name);
        });
    }

    Error missingShard(const CheckpointIndex& index, const std::vector<std::string>& absent) const
    {
        const auto number = static_cast<std::uint32_t>(
            std::lower_bound(index.files.begin(), index.files.end(), absent[0]) - index.files.begin());
        std::uint64_t at = UINT64_MAX;
        for (const CheckpointIndex::Entry& entry : index.entries) {
            if (entry.file == number)
                at = std::min(at, entry.name.offset);
        }
        const std::string tensor = index.nameAt(at);
        return {"checkpoint.missing_shard",
            fmt::format("{} of the {} files that the index names are not here", absent.size(), index.files.size()),
            {index.file, fmt::format("/weight_map/{} (byte {})", tensor, at)}, "no " + absent[0], "all of them"};
    }

    /// None of the files is here: what the index says of their size.
    void claim(const CheckpointIndex& index, const std::string& name)
    {
        note(Severity::Warning, "import.weights_not_fetched",
            fmt::format("None of the {} files that the index names is here{}.", index.files.size(),
                index.totalBytes ? ": the bytes of the weights are what the index says, and were not checked" : ""),
            m_folder / name);
        m_out.claimedBytes = index.totalBytes;
        m_out.source.kind = Source::Kind::File;
        m_out.source.name = name;
        m_out.source.at = "/metadata/total_size";
        m_out.source.sha256 = index.sha256;
        m_out.source.note = "as stated there: none of the files is here";
    }

    void setSource(const std::string& name, const std::string& digest)
    {
        m_out.source.kind = Source::Kind::File;
        m_out.source.name = name;
        m_out.source.at = m_files == 1 ? "header" : fmt::format("headers of {} files", m_files);
        const bool one = !digest.empty();
        m_out.source.sha256 = one ? digest : Sha256::hex(m_digests.digest());
        m_out.source.note = fmt::format("sum of {} tensors; SHA-256 of the {}", m_out.weights.tensors(),
            one ? "header" : "hex digests of index and headers, one after the other in the order of their names");
    }

    fs::path m_folder;
    Checkpoint m_out {};
    Sha256 m_digests {};
    std::string m_lastDigest;
    std::int64_t m_files = 0;
    std::int64_t m_notInIndex = 0;
    std::string m_example;
};

} // namespace

void Checkpoint::describe(ModelSpec& model) const
{
    model.diagnostics.insert(model.diagnostics.end(), diagnostics.begin(), diagnostics.end());
    if (claimedBytes) {
        model.weightBytes = *claimedBytes;
        model.provenance.set("weightBytes", source);
    }
    if (weights.tensors() == 0)
        return;
    model.weightBytes = weights.bytes();
    model.weights = weights.parts();
    model.provenance.set("weightBytes", source);
    weights.compare(model);
}

Result<std::optional<Checkpoint>> readCheckpoint(const std::string& folder)
{
    return CheckpointReader(folder).read();
}

} // namespace kvw
