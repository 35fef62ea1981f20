// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/layer_group.h"
#include "model/weights.h"
#include "units/diagnostic.h"
#include "units/quantity.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// Which source each stated field has. Keys are field paths ("groups.full.layers"); a path that is not there was not
/// read from anywhere. The same class serves a ModelSpec and a whole plan (where paths start at the plan's root).
class Provenance
{
public:
    /// The source of `path`: a copy of one of sources() with its own `at`. Null when none is recorded.
    std::shared_ptr<const Source> find(const std::string& path) const;
    void set(const std::string& path, Source source);
    void remove(const std::string& path);
    /// Removes `path` and everything below it.
    void removeBelow(const std::string& path);
    /// Copies every entry of `other` under `prefix` + its path.
    void adopt(const Provenance& other, const std::string& prefix);

    const std::map<std::string, std::shared_ptr<const Source>>& entries() const;

private:
    std::map<std::string, std::shared_ptr<const Source>> m_entries;
};

/// A model as importers understand it: layer groups with their tensors, and what the file says beside them.
struct ModelSpec
{
    std::string name; ///< repository id or file name
    std::string architecture; ///< model_type of the file
    std::string revision {}; ///< commit or hash, when the file states one
    ElementType dtype = ElementType::NotStated; ///< element type of the weights' computation, the default for state
    std::optional<std::int64_t> maximumPositions {}; ///< longest sequence in tokens that the file states
    std::optional<std::int64_t> encoderTokens {}; ///< longest sequence of the encoder that cross attention reads
    std::optional<std::int64_t> imageTokens {}; ///< most tokens of one image that cross attention reads
    std::optional<std::int64_t> vocabulary {};
    std::optional<std::int64_t> weightBytes {};
    std::vector<WeightPart> weights {}; ///< what weightBytes is made of, where tensors were listed
    std::vector<LayerGroup> groups {};
    Assumptions assumptions {}; ///< every default that was applied
    Diagnostics diagnostics {}; ///< what a planner should look at
    Provenance provenance {}; ///< paths: "groups.<id>.layers", "groups.<id>.tensors.<id>.heads", "dtype",
                              ///< "maximumPositions", "encoderTokens" …
};

} // namespace kvw
