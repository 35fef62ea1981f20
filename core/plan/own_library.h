// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/model_library.h"
#include "units/file.h"

#include <string>
#include <string_view>

namespace kvw {

/// The plan's model as an entry of the user's own library, verified on `date` (ISO). Layer groups as the worksheet has
/// them; what was assumed of them are its notes. Errors, by plan field: library.id (empty, or too long for a file
/// name), library.missing_field (no layer groups).
Result<LibraryModel> ownModelOf(const Plan& plan, std::string_view id, std::string_view date);

/// Entries as readModelLibrary() reads them. Ends with a line feed.
std::string modelLibraryToJson(const std::vector<LibraryModel>& models);

/// The file that an entry of that id has in `folder`: what cannot be in the name of a file is '-'.
std::string ownModelFile(const std::string& folder, std::string_view id);

/// Whether saveOwnModel() may replace a file that is there.
enum class WhenThere {
    Refuse,
    Replace,
};

/// Writes the entry into a file of its own in `folder`, which is made when it is not there; what was written is read
/// back before it counts. Returns the file. Errors: library.exists (a file is there: nothing is replaced unasked),
/// library.id (another file of the folder has an entry of that id), library.format (it would not read as it is), io.*.
/// On any error the folder is as it was.
Result<std::string> saveOwnModel(const LibraryModel& model, const std::string& folder, WhenThere whenThere,
    const FileOperations& operations = systemFileOperations());

} // namespace kvw
