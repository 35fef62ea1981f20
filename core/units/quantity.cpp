// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/quantity.h"

#include "units/amount.h"
#include "units/format.h"

#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <unordered_map>

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

using Values = std::span<const Number>;

bool allIntegers(Values values)
{
    for (const Number& value : values) {
        if (!std::holds_alternative<std::int64_t>(value))
            return false;
    }
    return true;
}

Error noValue(std::string why)
{
    return Error {"derivation.no_value", std::move(why)};
}

template <typename Step>
Result<Number> foldIntegers(Values values, std::int64_t start, Step step)
{
    std::int64_t total = start;
    for (const Number& value : values) {
        const std::optional<std::int64_t> next = step(total, std::get<std::int64_t>(value));
        if (!next)
            return noValue("the result does not fit into 64 bits");
        total = *next;
    }
    return Number {total};
}

/// Once one operand is a double, so is the result.
template <typename Step>
Result<Number> foldReals(Values values, Step step)
{
    double total = toDouble(values[0]);
    for (const Number& value : values.subspan(1))
        total = step(total, toDouble(value));
    return Number {total};
}

Result<Number> divide(Values values, std::optional<std::int64_t> (*rounding)(std::int64_t, std::int64_t))
{
    const std::int64_t divisor = std::get<std::int64_t>(values[1]);
    if (divisor == 0)
        return noValue("division by zero");
    const std::optional<std::int64_t> quotient = rounding(std::get<std::int64_t>(values[0]), divisor);
    if (!quotient)
        return noValue("the result does not fit into 64 bits");
    return Number {*quotient};
}

Result<Number> extreme(Values values, bool smallest)
{
    Number best = values[0];
    for (const Number& value : values.subspan(1)) {
        const bool less = allIntegers(values) ? std::get<std::int64_t>(value) < std::get<std::int64_t>(best)
                                              : toDouble(value) < toDouble(best);
        const bool equal = allIntegers(values) ? value == best : toDouble(value) == toDouble(best);
        if (!equal && less == smallest)
            best = value;
    }
    return best;
}

Result<Number> truncated(const Number& value)
{
    if (std::holds_alternative<std::int64_t>(value))
        return value;
    const double real = std::get<double>(value);
    if (!(std::fabs(real) < 9.2e18))
        return noValue("the result does not fit into 64 bits");
    return Number {static_cast<std::int64_t>(real)};
}

/// The one place that knows what each operation computes.
Result<Number> compute(Operation operation, Values values)
{
    const bool exact = allIntegers(values);
    if (!exact && (operation == Operation::FloorDivide || operation == Operation::CeilDivide))
        return noValue("a whole division met a number that is not an integer");
    switch (operation) {
    case Operation::Input:
        return noValue("an input has no operands");
    case Operation::Same:
        return values[0];
    case Operation::Add:
        return exact ? foldIntegers(values, 0, checkedAdd) : foldReals(values, std::plus<double>());
    case Operation::Subtract:
        return exact ? foldIntegers(values.subspan(1), std::get<std::int64_t>(values[0]), checkedSubtract)
                     : foldReals(values, std::minus<double>());
    case Operation::Multiply:
        return exact ? foldIntegers(values, 1, checkedMultiply) : foldReals(values, std::multiplies<double>());
    case Operation::FloorDivide:
        return divide(values, floorDivide);
    case Operation::CeilDivide:
        return divide(values, ceilDivide);
    case Operation::Minimum:
    case Operation::Maximum:
        return extreme(values, operation == Operation::Minimum);
    case Operation::Ratio:
        if (toDouble(values[1]) == 0)
            return noValue("division by zero");
        return Number {toDouble(values[0]) / toDouble(values[1])};
    case Operation::Scale:
        return Number {toDouble(values[0]) * toDouble(values[1])};
    case Operation::Truncate:
        return truncated(values[0]);
    }
    return noValue("unknown operation");
}

Quantity make(Operation operation, std::vector<Derivation> operands)
{
    auto node = std::make_shared<DerivationNode>();
    node->operation = operation;
    std::vector<Number> values;
    values.reserve(operands.size());
    for (const Derivation& operand : operands) {
        if (!operand->error.empty() && node->error.empty())
            node->error = operand->error;
        values.push_back(operand->value);
    }
    node->operands = std::move(operands);
    if (node->error.empty()) {
        const Result<Number> value = compute(operation, values);
        if (value)
            node->value = *value;
        else
            node->error = value.error().message;
    }
    return Quantity(std::move(node));
}

/// Terms of nested unnamed sums and products join their parent, so that a formula reads a + b + c.
void flattenInto(std::vector<Derivation>& out, Operation operation, const Quantity& quantity)
{
    const Derivation& node = quantity.derivation();
    if (node->operation == operation && node->name.empty())
        out.insert(out.end(), node->operands.begin(), node->operands.end());
    else
        out.push_back(node);
}

Quantity flattened(Operation operation, const Quantity& a, const Quantity& b)
{
    std::vector<Derivation> operands;
    flattenInto(operands, operation, a);
    flattenInto(operands, operation, b);
    return make(operation, std::move(operands));
}

using Texter = std::string (*)(const DerivationNode&);

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
        return call("", " + ", "");
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
        if (!operand.name.empty() || operand.operation == Operation::Input) {
            out += leaf(operand);
            continue;
        }
        const int inner = precedence(operand.operation);
        const bool rightOfMinusOrDivision
            = i > 0 && inner == own && (node.operation == Operation::Subtract || own == 2) && inner < 3;
        const bool wrap = parenthesise && (inner < own || rightOfMinusOrDivision);
        out += wrap ? "(" + expression(operand, leaf) + ")" : expression(operand, leaf);
    }
    return out;
}

std::string leafName(const DerivationNode& node)
{
    return node.name.empty() ? formatNumber(node.value) : node.name;
}

std::string leafNumber(const DerivationNode& node)
{
    return node.error.empty() ? formatNumber(node.value) : "(no value: " + node.error + ")";
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

double toDouble(const Number& number)
{
    return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

std::string_view operationName(Operation operation)
{
    constexpr std::array<std::string_view, 12> names {"input", "same", "add", "subtract", "multiply", "floor-divide",
        "ceil-divide", "minimum", "maximum", "ratio", "scale", "truncate"};
    return names[static_cast<std::size_t>(operation)];
}

Quantity::Quantity()
{
    static const Derivation zero = std::make_shared<DerivationNode>();
    m_derivation = zero;
}

Quantity::Quantity(Derivation derivation)
    : m_derivation(std::move(derivation))
{}

bool Quantity::ok() const
{
    return m_derivation->error.empty();
}

const std::string& Quantity::error() const
{
    return m_derivation->error;
}

std::int64_t Quantity::integer() const
{
    return std::get<std::int64_t>(m_derivation->value);
}

bool Quantity::isInteger() const
{
    return std::holds_alternative<std::int64_t>(m_derivation->value);
}

const Number& Quantity::number() const
{
    return m_derivation->value;
}

double Quantity::real() const
{
    return ok() ? toDouble(m_derivation->value) : 0;
}

const std::string& Quantity::name() const
{
    return m_derivation->name;
}

Unit Quantity::unit() const
{
    return m_derivation->unit;
}

const Derivation& Quantity::derivation() const
{
    return m_derivation;
}

Quantity input(std::string name, Number value, Unit unit, Source source)
{
    return input(std::move(name), value, unit, std::make_shared<const Source>(std::move(source)));
}

Quantity input(std::string name, Number value, Unit unit, std::shared_ptr<const Source> source)
{
    auto node = std::make_shared<DerivationNode>();
    node->value = value;
    node->name = std::move(name);
    node->unit = unit;
    node->source = std::move(source);
    return Quantity(std::move(node));
}

Quantity constant(std::int64_t value)
{
    static const auto source = std::make_shared<const Source>(Source {Source::Kind::Definition});
    return input({}, value, Unit::None, source);
}

Quantity operator+(const Quantity& a, const Quantity& b)
{
    return flattened(Operation::Add, a, b);
}

Quantity operator-(const Quantity& a, const Quantity& b)
{
    return make(Operation::Subtract, {a.derivation(), b.derivation()});
}

Quantity operator*(const Quantity& a, const Quantity& b)
{
    return flattened(Operation::Multiply, a, b);
}

Quantity floorDivide(const Quantity& a, const Quantity& b)
{
    return make(Operation::FloorDivide, {a.derivation(), b.derivation()});
}

Quantity ceilDivide(const Quantity& a, const Quantity& b)
{
    return make(Operation::CeilDivide, {a.derivation(), b.derivation()});
}

Quantity minimum(const Quantity& a, const Quantity& b)
{
    return make(Operation::Minimum, {a.derivation(), b.derivation()});
}

Quantity maximum(const Quantity& a, const Quantity& b)
{
    return make(Operation::Maximum, {a.derivation(), b.derivation()});
}

Quantity ratio(const Quantity& a, const Quantity& b)
{
    return make(Operation::Ratio, {a.derivation(), b.derivation()});
}

Quantity scale(const Quantity& a, const Quantity& b)
{
    return make(Operation::Scale, {a.derivation(), b.derivation()});
}

Quantity truncate(const Quantity& a)
{
    return make(Operation::Truncate, {a.derivation()});
}

Quantity sum(std::span<const Quantity> terms)
{
    std::vector<Derivation> operands;
    for (const Quantity& term : terms)
        flattenInto(operands, Operation::Add, term);
    return make(Operation::Add, std::move(operands));
}

Quantity minimum(std::span<const Quantity> terms)
{
    std::vector<Derivation> operands;
    for (const Quantity& term : terms)
        operands.push_back(term.derivation());
    return make(Operation::Minimum, std::move(operands));
}

Quantity named(const Quantity& quantity, Naming naming)
{
    const DerivationNode& given = *quantity.derivation();
    auto node = std::make_shared<DerivationNode>();
    if (given.name.empty() && given.operation != Operation::Input) {
        *node = given; // the unnamed step itself gets the name
    } else {
        node->operation = Operation::Same;
        node->operands = {quantity.derivation()};
        node->value = given.value;
        node->error = given.error;
    }
    node->name = std::move(naming.name);
    node->unit = naming.unit;
    node->source = std::move(naming.source);
    node->excludes = std::move(naming.excludes);
    return Quantity(std::move(node));
}

Quantity named(const Quantity& quantity, std::string name, Unit unit)
{
    return named(quantity, Naming {std::move(name), unit, {}, {}});
}

namespace {

using Memo = std::unordered_map<const DerivationNode*, Result<Number>>;

const Result<Number>& evaluateNode(
    const DerivationNode& node, const std::map<const DerivationNode*, Number>& replaced, Memo& memo)
{
    if (const auto known = memo.find(&node); known != memo.end())
        return known->second;
    const auto remember = [&](Result<Number> value) -> const Result<Number>& {
        return memo.emplace(&node, std::move(value)).first->second;
    };
    if (const auto given = replaced.find(&node); given != replaced.end())
        return remember(given->second);
    if (node.operation == Operation::Input)
        return remember(node.error.empty() ? Result<Number>(node.value) : Result<Number>(noValue(node.error)));
    std::vector<Number> values;
    for (const Derivation& operand : node.operands) {
        const Result<Number>& value = evaluateNode(*operand, replaced, memo);
        if (!value)
            return remember(value.error());
        values.push_back(*value);
    }
    return remember(compute(node.operation, values));
}

} // namespace

Result<Number> evaluate(const Derivation& derivation, const std::map<const DerivationNode*, Number>& replaced)
{
    Memo memo;
    return evaluateNode(*derivation, replaced, memo);
}

std::string formulaInWords(const Derivation& derivation)
{
    return expression(*derivation, leafName);
}

std::string formulaInNumbers(const Derivation& derivation)
{
    return expression(*derivation, leafNumber);
}

std::vector<Derivation> inputsOf(const Derivation& derivation)
{
    std::vector<Derivation> out;
    std::set<const DerivationNode*> seen;
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
    for (const Derivation& leaf : inputsOf(derivation)) {
        if (leaf->source && leaf->source->kind == Source::Kind::Assumption)
            return true;
    }
    return false;
}

} // namespace kvw
