// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "report/document.h"
#include "units/quantity.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace kvw {

/// Numbers derivations for print, so that each can be checked line by line.
///
/// Every named step that is derived is an entry of its own and is referred to by its number. The same expression is
/// entered once, however often it is used, under whatever name and even if it was built more than once. Entries that
/// were asked for come first, in their order; the steps below them follow. Sources are given by letters: see keys().
class FormulaBook
{
public:
    /// Enters `quantity` under `title`. Where the same expression has an entry, that one gets the title too, unless
    /// `again` is false. A figure that is 0 because nothing adds to it has no entry.
    void add(const std::string& title, const Quantity& quantity, bool again = true);
    /// Enters the steps below all entries so far, each once, nearest first.
    void addSteps();
    std::size_t size() const;
    /// The entries from `first` on, as they print.
    std::vector<Formula> formulas(std::size_t first = 0) const;
    /// "F12", or empty when the step has no entry.
    std::string labelOf(const Derivation& derivation) const;
    /// What the letters of the formulas stand for, by letter. REQUIRES that formulas() was called.
    const std::vector<std::pair<std::string, std::string>>& keys() const;

private:
    struct Entry
    {
        std::string title;
        Derivation derivation;
    };
    int idOf(const Derivation& derivation) const;
    Formula formulaAt(std::size_t index) const;
    std::string keyOf(const std::string& text) const;
    std::string inputText(const DerivationNode& node) const;
    std::string rest(const DerivationNode& node) const;

    std::vector<Entry> m_entries;
    std::map<int, std::size_t> m_byId; ///< entry of each expression
    std::size_t m_expanded = 0; ///< entries whose steps were looked at
    mutable std::map<std::string, int> m_ids; ///< content of a node to its number
    mutable std::unordered_map<const DerivationNode*, int> m_known;
    mutable std::vector<std::pair<std::string, std::string>> m_keys; ///< letter and what it stands for
};

} // namespace kvw
