// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/formula_book.h"

#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <set>

namespace kvw {

namespace {

bool isStep(const DerivationNode& node)
{
    return !node.name.empty() && node.operation != Operation::Input;
}

/// Calls `visit` for the inputs and named steps that the formula of `node` names: those below them are left to the
/// steps' own formulas.
template <typename Visit>
void forEachNamed(const DerivationNode& node, const Visit& visit)
{
    for (const Derivation& operand : node.operands) {
        if (!operand->name.empty() || operand->operands.empty())
            visit(operand);
        else
            forEachNamed(*operand, visit);
    }
}

std::string valueText(const DerivationNode& node)
{
    if (!node.error.empty())
        return "no value: " + node.error;
    const std::string unit(unitName(node.unit));
    return formatNumber(node.value) + (unit.empty() || node.unit == Unit::Ratio ? "" : " " + unit);
}

} // namespace

int FormulaBook::idOf(const Derivation& derivation) const
{
    if (const auto known = m_known.find(derivation.get()); known != m_known.end())
        return known->second;
    const DerivationNode& node = *derivation;
    std::string key = fmt::format("{}|{}|{}|{}", static_cast<int>(node.operation), static_cast<int>(node.unit),
        node.error.empty() ? formatNumber(node.value) : node.error, node.name);
    if (node.source)
        key += "|" + sourceText(*node.source);
    for (const Derivation& operand : node.operands)
        key += fmt::format("|#{}", idOf(operand));
    const int id = m_ids.emplace(std::move(key), static_cast<int>(m_ids.size())).first->second;
    m_known.emplace(derivation.get(), id);
    return id;
}

void FormulaBook::add(const std::string& title, const Quantity& quantity, bool again)
{
    const int id = idOf(quantity.derivation());
    if (!again && m_byId.contains(id))
        return;
    m_byId.emplace(id, m_entries.size());
    m_entries.push_back({title, quantity.derivation()});
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

Formula FormulaBook::formulaAt(std::size_t index) const
{
    const Entry& entry = m_entries[index];
    const DerivationNode& node = *entry.derivation;
    const Quantity quantity(entry.derivation);
    Formula out = formulaOf(quantity, fmt::format("F{}", index + 1), entry.title);
    out.inputs.clear();
    if (node.operation == Operation::Input) {
        // A figure that is stated has no formula: it is its own input.
        out.inputs.emplace_back((node.name.empty() ? entry.title : node.name) + " = " + valueText(node),
            node.source ? sourceText(*node.source) : "");
        return out;
    }
    std::set<int> seen;
    out.words = formulaInWords(entry.derivation, [&](const DerivationNode& below) {
        const std::string label = isStep(below) ? labelOf(Derivation(Derivation {}, &below)) : "";
        const std::string name = below.name.empty() ? formatNumber(below.value) : below.name;
        return label.empty() ? name : name + " (" + label + ")";
    });
    forEachNamed(node, [&](const Derivation& below) {
        if (below->name.empty() || !seen.insert(idOf(below)).second)
            return;
        const std::string label = isStep(*below) ? labelOf(below) : "";
        out.inputs.emplace_back(below->name + " = " + valueText(*below),
            !label.empty()      ? label
                : below->source ? sourceText(*below->source)
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
