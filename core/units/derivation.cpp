// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/format.h"
#include "units/quantity.h"

#include <array>
#include <functional>
#include <unordered_set>

namespace kvw {

namespace {

constexpr std::array<std::string_view, 8> sourceKindNames {
    "user",
    "file",
    "library",
    "engine rule",
    "engine default",
    "measurement",
    "assumption",
    "definition",
};

std::string leafName(const DerivationNode& node)
{
    return node.name.empty() ? formatNumber(node.value) : node.name;
}

std::string leafNumber(const DerivationNode& node)
{
    return node.error.empty() ? formatNumber(node.value) : "(no value: " + node.error + ")";
}

using Texter = const std::function<std::string(const DerivationNode&)>&;

/// How tightly an operation binds in print: a term inside a tighter one needs parentheses.
int precedence(Operation operation)
{
    switch (operation) {
    case Operation::Add:
    case Operation::Subtract:
        return 1;
    case Operation::Multiply:
    case Operation::Scale:
    case Operation::Ratio:
        return 2;
    default:
        return 3;
    }
}

std::string joined(const DerivationNode& node, const char* separator, Texter leaf, bool parenthesise);

std::string expression(const DerivationNode& node, Texter leaf)
{
    const auto call = [&](const char* opening, const char* separator, const char* closing) {
        return opening + joined(node, separator, leaf, std::string_view(separator) != ", ") + closing;
    };
    switch (node.operation) {
    case Operation::Input:
        return leaf(node);
    case Operation::Same:
        return call("", "", "");
    case Operation::Add:
        return node.operands.empty() ? leafNumber(node) : call("", " + ", "");
    case Operation::Subtract:
        return call("", " − ", "");
    case Operation::Multiply:
    case Operation::Scale:
        return call("", " × ", "");
    case Operation::Ratio:
        return call("", " ÷ ", "");
    case Operation::FloorDivide:
        return call("⌊", " ÷ ", "⌋");
    case Operation::CeilDivide:
        return call("⌈", " ÷ ", "⌉");
    case Operation::Minimum:
        return call("min(", ", ", ")");
    case Operation::Maximum:
        return call("max(", ", ", ")");
    case Operation::Truncate:
        return call("trunc(", ", ", ")");
    }
    return {};
}

/// True when a + (b − c) may be printed a + b − c, and a × (b × c) a × b × c: for integers, where it is the same.
bool joinsOnTheRight(const DerivationNode& node, const DerivationNode& operand)
{
    if (!std::holds_alternative<std::int64_t>(node.value))
        return false;
    return node.operation == Operation::Add
        || (node.operation == Operation::Multiply && operand.operation == Operation::Multiply);
}

std::string joined(const DerivationNode& node, const char* separator, Texter leaf, bool parenthesise)
{
    // Inside ⌊ ⌋ and ⌈ ⌉ the operands stand beside a ÷, which binds like ×.
    const bool division = node.operation == Operation::FloorDivide || node.operation == Operation::CeilDivide;
    const int own = division ? 2 : precedence(node.operation);
    std::string out;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const DerivationNode& operand = *node.operands[i];
        if (i > 0)
            out += separator;
        if (!operand.name.empty() || operand.operands.empty()) {
            out += leaf(operand);
            continue;
        }
        const bool extreme = node.operation == Operation::Minimum || node.operation == Operation::Maximum;
        if (extreme && operand.operation == node.operation) { // max(max(a, b), c) is max(a, b, c)
            out += joined(operand, separator, leaf, parenthesise);
            continue;
        }
        const int inner = precedence(operand.operation);
        const bool wrap = inner < own || (i > 0 && inner == own && inner < 3 && !joinsOnTheRight(node, operand));
        out += parenthesise && wrap ? "(" + expression(operand, leaf) + ")" : expression(operand, leaf);
    }
    return out;
}

} // namespace

std::string_view sourceKindName(Source::Kind kind)
{
    return sourceKindNames[static_cast<std::size_t>(kind)];
}

std::optional<Source::Kind> sourceKindFromName(std::string_view name)
{
    for (std::size_t i = 0; i < sourceKindNames.size(); ++i) {
        if (sourceKindNames[i] == name)
            return static_cast<Source::Kind>(i);
    }
    return std::nullopt;
}

std::string_view operationName(Operation operation)
{
    constexpr std::array<std::string_view, 12> names {"input", "same", "add", "subtract", "multiply", "floor-divide",
        "ceil-divide", "minimum", "maximum", "ratio", "scale", "truncate"};
    return names[static_cast<std::size_t>(operation)];
}

std::string formulaInWords(const Derivation& derivation)
{
    return expression(*derivation, leafName);
}

std::string formulaInWords(
    const Derivation& derivation, const std::function<std::string(const DerivationNode&)>& nameOf)
{
    return expression(*derivation, nameOf);
}

std::string formulaInNumbers(const Derivation& derivation)
{
    return expression(*derivation, leafNumber);
}

std::vector<Derivation> inputsOf(const Derivation& derivation)
{
    std::vector<Derivation> out;
    std::unordered_set<const DerivationNode*> seen;
    const auto visit = [&](const auto& self, const Derivation& node) -> void {
        if (!seen.insert(node.get()).second)
            return;
        if (node->operation == Operation::Input)
            out.push_back(node);
        for (const Derivation& operand : node->operands)
            self(self, operand);
    };
    visit(visit, derivation);
    return out;
}

bool restsOnAssumption(const Derivation& derivation)
{
    return derivation->assumed;
}

} // namespace kvw
