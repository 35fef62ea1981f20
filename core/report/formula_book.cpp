// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/formula_book.h"

#include "report/report_words.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kvw {

namespace {

/// Past what only gives an input another name.
const Derivation& resolved(const Derivation& node)
{
    const Derivation* out = &node;
    while ((*out)->operation == Operation::Same && (*out)->operands[0]->operation == Operation::Input
        && !(*out)->operands[0]->name.empty())
        out = &(*out)->operands[0];
    return *out;
}

bool isStep(const DerivationNode& node)
{
    return !node.name.empty() && node.operation != Operation::Input;
}

/// A 0 to which nothing adds, under whatever name.
bool isNothing(const DerivationNode& node)
{
    if (node.operation == Operation::Same)
        return isNothing(*node.operands[0]);
    const bool empty = node.operation == Operation::Add || (node.operation == Operation::Input && node.name.empty());
    return empty && node.operands.empty() && toDouble(node.value) == 0;
}

/// What a letter stands for; of what somebody took instead of a stated value, why.
std::string keyText(const Source& source)
{
    const bool taken = source.kind == Source::Kind::Assumption || source.kind == Source::Kind::EngineDefault;
    return taken && !source.note.empty() ? fmt::format("{}: {}", sourceKindName(source.kind), source.note)
                                         : sourceText(source);
}

/// Calls `visit` for the inputs and named steps that the formula of `node` names: those below them are left to the
/// steps' own formulas.
template <typename Visit>
void forEachNamed(const DerivationNode& node, const Visit& visit)
{
    for (const Derivation& operand : node.operands) {
        if (!operand->name.empty() || operand->operands.empty())
            visit(resolved(operand));
        else
            forEachNamed(*operand, visit);
    }
}

/// Digits in groups of three, doubles as they are.
std::string digits(const Number& number)
{
    const auto* whole = std::get_if<std::int64_t>(&number);
    return whole ? grouped(*whole) : formatNumber(number);
}

/// "B/token" for bytes per token; one of a thing has no plural.
std::string unitText(const DerivationNode& node)
{
    if (node.unit == Unit::None || node.unit == Unit::Ratio)
        return {};
    std::string out(unitName(node.unit));
    if (out.starts_with("bytes"))
        return " B" + out.substr(5);
    if (toDouble(node.value) == 1) {
        const std::size_t end = std::min(out.find('/'), out.size());
        if (out.starts_with("entries"))
            out.replace(0, 7, "entry");
        else if (out[end - 1] == 's')
            out.erase(end - 1, 1);
    }
    return " " + out;
}

std::string valueText(const DerivationNode& node)
{
    return node.error.empty() ? digits(node.value) + unitText(node) : "no value: " + node.error;
}

/// The letter of the `index`-th key: a … z, aa, ab …
std::string letterOf(std::size_t index)
{
    const std::string last(1, static_cast<char>('a' + index % 26));
    return index < 26 ? last : letterOf(index / 26 - 1) + last;
}

/// Words that stay together in one line.
std::string together(std::string text)
{
    for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos;)
        text.replace(at, 1, "\u00a0");
    return text;
}

} // namespace

int FormulaBook::idOf(const Derivation& derivation) const
{
    if (const auto known = m_known.find(derivation.get()); known != m_known.end())
        return known->second;
    const DerivationNode& node = *derivation;
    std::string key = fmt::format("{}|{}|{}", static_cast<int>(node.operation), static_cast<int>(node.unit),
        node.error.empty() ? formatNumber(node.value) : node.error);
    // An input is what it is called; a step is what it computes.
    if (node.operation == Operation::Input) {
        key += "|" + node.name;
        if (node.source)
            key += "|" + sourceForReaders(*node.source);
    }
    for (const Derivation& operand : node.operands)
        key += fmt::format("|#{}", idOf(operand));
    const int id = m_ids.emplace(std::move(key), static_cast<int>(m_ids.size())).first->second;
    m_known.emplace(derivation.get(), id);
    return id;
}

void FormulaBook::add(const std::string& title, const Quantity& quantity, bool again)
{
    const Derivation& derivation = quantity.derivation();
    if (isNothing(*derivation))
        return;
    const int id = idOf(derivation);
    if (const auto known = m_byId.find(id); known != m_byId.end()) {
        std::string& titles = m_entries[known->second].title;
        if (again && titles != title)
            titles += "; " + title;
        return;
    }
    m_byId.emplace(id, m_entries.size());
    m_entries.push_back({title, derivation});
}

void FormulaBook::addSteps()
{
    for (; m_expanded < m_entries.size(); ++m_expanded) {
        const Derivation derivation = m_entries[m_expanded].derivation;
        forEachNamed(*derivation, [&](const Derivation& below) {
            if (isStep(*below))
                add(below->name, Quantity(below), false);
        });
    }
}

std::size_t FormulaBook::size() const
{
    return m_entries.size();
}

std::string FormulaBook::labelOf(const Derivation& derivation) const
{
    const auto found = m_byId.find(idOf(derivation));
    return found == m_byId.end() ? "" : fmt::format("F{}", found->second + 1);
}

const std::vector<std::pair<std::string, std::string>>& FormulaBook::keys() const
{
    return m_keys;
}

std::string FormulaBook::keyOf(const std::string& text) const
{
    const auto found = std::find_if(m_keys.begin(), m_keys.end(), [&](const auto& key) { return key.second == text; });
    if (found != m_keys.end())
        return found->first;
    m_keys.emplace_back(letterOf(m_keys.size()), text);
    return m_keys.back().first;
}

/// The input by its name with the letter of its source; what was entered, or is so by definition, has none.
std::string FormulaBook::inputText(const DerivationNode& node) const
{
    const std::string name = node.name.empty() ? digits(node.value) : node.name;
    if (!node.source || node.source->kind == Source::Kind::User || node.source->kind == Source::Kind::Definition)
        return name;
    const std::string text = fmt::format("{} [{}]", name, keyOf(keyText(*node.source)));
    return node.source->kind == Source::Kind::Assumption ? together("◇ " + text) : text;
}

/// What a formula says beside its terms: the rule's authority, and what the total leaves out.
std::string FormulaBook::rest(const DerivationNode& node) const
{
    std::string out;
    if (node.operation != Operation::Input && node.source)
        out += fmt::format("; by [{}]", keyOf(sourceText(*node.source)));
    if (!node.excludes.empty())
        out += fmt::format("; excludes [{}]", keyOf(fmt::format("{}", fmt::join(node.excludes, ", "))));
    return out;
}

Formula FormulaBook::formulaAt(std::size_t index) const
{
    const Entry& entry = m_entries[index];
    const DerivationNode& node = *entry.derivation;
    const Quantity quantity(entry.derivation);
    Formula out = formulaOf(quantity, fmt::format("F{}", index + 1), entry.title);
    out.inputs.clear();
    out.excludes = node.excludes;
    out.result = valueText(node);
    if (quantity.ok() && quantity.isInteger() && isByteUnit(node.unit) && quantity.integer() >= 1024)
        out.result += " = " + format(Bytes(quantity.integer()));
    if (node.operation == Operation::Input) {
        // A figure that is stated has no formula: it is its own input.
        out.words = out.numbers = inputText(node);
        out.inputs.emplace_back((node.name.empty() ? entry.title : node.name) + " = " + valueText(node),
            node.source ? sourceForReaders(*node.source) : "");
        return out;
    }
    const auto shown = [](const DerivationNode& below) { return resolved(Derivation(Derivation {}, &below)); };
    std::set<int> seen;
    out.words = formulaInWords(entry.derivation, [&](const DerivationNode& below) {
        const Derivation term = shown(below);
        if (!isStep(*term))
            return inputText(*term);
        const std::string label = labelOf(term);
        return label.empty() ? term->name : fmt::format("{} ({})", term->name, label);
    });
    out.numbers = formulaInWords(entry.derivation,
        [](const DerivationNode& below) { return below.error.empty() ? digits(below.value) : "(no value)"; });
    out.words += rest(node);
    forEachNamed(node, [&](const Derivation& below) {
        if (below->name.empty() || !seen.insert(idOf(below)).second)
            return;
        const std::string label = isStep(*below) ? labelOf(below) : "";
        out.inputs.emplace_back(below->name + " = " + valueText(*below),
            !label.empty()          ? label
                : isNothing(*below) ? "nothing adds to it"
                : below->source     ? sourceForReaders(*below->source)
                                    : "");
    });
    return out;
}

std::vector<Formula> FormulaBook::formulas(std::size_t first) const
{
    std::vector<Formula> out;
    for (std::size_t i = first; i < m_entries.size(); ++i)
        out.push_back(formulaAt(i));
    return out;
}

} // namespace kvw
