// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/quantity.h"

#include "units/amount.h"

#include <array>
#include <cmath>
#include <unordered_map>

namespace kvw {

namespace {

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

Result<Number> finite(double value)
{
    if (!std::isfinite(value))
        return noValue("the result is not a finite number");
    return Number {value};
}

/// One operand after the other, as the printed formula reads: exact as long as both are integers, a double from the
/// first double on.
Result<Number> fold(Values values, std::optional<std::int64_t> (*exact)(std::int64_t, std::int64_t),
    double (*inDoubles)(double, double))
{
    Number total = values[0];
    for (const Number& value : values.subspan(1)) {
        if (std::holds_alternative<std::int64_t>(total) && std::holds_alternative<std::int64_t>(value)) {
            const std::optional<std::int64_t> next
                = exact(std::get<std::int64_t>(total), std::get<std::int64_t>(value));
            if (!next)
                return noValue("the result does not fit into 64 bits");
            total = *next;
        } else {
            const Result<Number> next = finite(inDoubles(toDouble(total), toDouble(value)));
            if (!next)
                return next;
            total = *next;
        }
    }
    return total;
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

bool isLess(const Number& a, const Number& b)
{
    if (std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b))
        return std::get<std::int64_t>(a) < std::get<std::int64_t>(b);
    return toDouble(a) < toDouble(b);
}

/// The first of several that are equal.
Number extreme(Values values, bool smallest)
{
    Number best = values[0];
    for (const Number& value : values.subspan(1)) {
        if (smallest ? isLess(value, best) : isLess(best, value))
            best = value;
    }
    return best;
}

Result<Number> truncated(const Number& value)
{
    if (std::holds_alternative<std::int64_t>(value))
        return value;
    const double real = std::get<double>(value);
    if (!(real >= -0x1p63 && real < 0x1p63))
        return noValue("the result does not fit into 64 bits");
    return Number {static_cast<std::int64_t>(real)};
}

/// The one place that knows what each operation computes.
Result<Number> compute(Operation operation, Values values)
{
    if ((operation == Operation::FloorDivide || operation == Operation::CeilDivide) && !allIntegers(values))
        return noValue("a whole division met a number that is not an integer");
    switch (operation) {
    case Operation::Input:
        return noValue("an input has no operands");
    case Operation::Same:
        return values[0];
    case Operation::Add:
        if (values.empty())
            return Number {std::int64_t {0}};
        return fold(values, checkedAdd, [](double a, double b) { return a + b; });
    case Operation::Subtract:
        return fold(values, checkedSubtract, [](double a, double b) { return a - b; });
    case Operation::Multiply:
        return fold(values, checkedMultiply, [](double a, double b) { return a * b; });
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
        return finite(toDouble(values[0]) / toDouble(values[1]));
    case Operation::Scale:
        return finite(toDouble(values[0]) * toDouble(values[1]));
    case Operation::Truncate:
        return truncated(values[0]);
    }
    return noValue("unknown operation");
}

Quantity make(Operation operation, std::vector<Derivation> operands)
{
    auto node = std::make_shared<DerivationNode>();
    node->operation = operation;
    // Nearly all have a handful of operands; an edit makes thousands of nodes.
    std::array<Number, 8> few;
    std::vector<Number> many(operands.size() > few.size() ? operands.size() : 0);
    const std::span<Number> values
        = many.empty() ? std::span<Number>(few).first(operands.size()) : std::span<Number>(many);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i]->error.empty() && node->error.empty())
            node->error = operands[i]->error;
        values[i] = operands[i]->value;
        node->assumed = node->assumed || operands[i]->assumed;
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

/// An unnamed sum or product that stands first joins its parent, so that a formula reads a + b + c. Only the first:
/// folded one after the other, its terms give what it gives itself, errors and roundings included. (And a sum of a sum
/// and itself grows by one term, not twofold.) With room for `others` more.
std::vector<Derivation> joinedWithFirst(Operation operation, const Quantity& first, std::size_t others)
{
    const Derivation& node = first.derivation();
    std::vector<Derivation> out;
    if (node->operation == operation && node->name.empty() && !node->operands.empty()) {
        out.reserve(node->operands.size() + others);
        out.assign(node->operands.begin(), node->operands.end());
    } else {
        out.reserve(1 + others);
        out.push_back(node);
    }
    return out;
}

Quantity flattened(Operation operation, const Quantity& a, const Quantity& b)
{
    std::vector<Derivation> operands = joinedWithFirst(operation, a, 1);
    operands.push_back(b.derivation());
    return make(operation, std::move(operands));
}

} // namespace

double toDouble(const Number& number)
{
    return std::visit([](auto value) { return static_cast<double>(value); }, number);
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
    node->assumed = source && source->kind == Source::Kind::Assumption;
    node->source = std::move(source);
    return Quantity(std::move(node));
}

Quantity inputWithoutValue(std::string name, Unit unit, std::string error, std::shared_ptr<const Source> source)
{
    auto node = std::make_shared<DerivationNode>();
    node->name = std::move(name);
    node->unit = unit;
    node->error = std::move(error);
    node->assumed = source && source->kind == Source::Kind::Assumption;
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
    for (const Quantity& term : terms) {
        if (operands.empty())
            operands = joinedWithFirst(Operation::Add, term, terms.size() - 1);
        else
            operands.push_back(term.derivation());
    }
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
        node->assumed = given.assumed;
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

} // namespace kvw
