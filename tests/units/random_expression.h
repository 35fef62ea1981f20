// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/quantity.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace kvw::test {

__extension__ using Wide = __int128;

/// What an expression is worth by school arithmetic: an integer in 128 bits, a double, or nothing.
struct Worth
{
    enum class Kind { Nothing, Integer, Real };
    Kind kind = Kind::Nothing;
    Wide integer = 0;
    double real = 0;

    static Worth of(Wide value)
    {
        if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min())
            return {};
        return {Kind::Integer, value, 0};
    }
    static Worth of(double value) { return std::isfinite(value) ? Worth {Kind::Real, 0, value} : Worth {}; }
    static Worth of(const Number& number)
    {
        if (const auto* whole = std::get_if<std::int64_t>(&number))
            return of(static_cast<Wide>(*whole));
        return of(std::get<double>(number));
    }

    bool isInteger() const { return kind == Kind::Integer; }
    bool isNothing() const { return kind == Kind::Nothing; }
    double asDouble() const { return isInteger() ? static_cast<double>(static_cast<std::int64_t>(integer)) : real; }
    bool operator==(const Worth&) const = default;
};

inline Wide floorOf(Wide a, Wide b)
{
    Wide quotient = a / b;
    while (quotient * b > a && b > 0)
        --quotient;
    while (quotient * b < a && b < 0)
        --quotient;
    return quotient;
}

/// a op b by definition. `symbol`: + - * f(loor) c(eil) < (minimum) > (maximum) / s(cale) t(runcate a).
inline Worth combine(char symbol, const Worth& a, const Worth& b)
{
    if (a.isNothing() || b.isNothing())
        return {};
    const bool whole = a.isInteger() && b.isInteger();
    switch (symbol) {
    case '+':
        return whole ? Worth::of(a.integer + b.integer) : Worth::of(a.asDouble() + b.asDouble());
    case '-':
        return whole ? Worth::of(a.integer - b.integer) : Worth::of(a.asDouble() - b.asDouble());
    case '*':
        return whole ? Worth::of(a.integer * b.integer) : Worth::of(a.asDouble() * b.asDouble());
    case 'f':
        return whole && b.integer != 0 ? Worth::of(floorOf(a.integer, b.integer)) : Worth {};
    case 'c':
        return whole && b.integer != 0 ? Worth::of(-floorOf(-a.integer, b.integer)) : Worth {};
    case '<':
        return (whole ? b.integer < a.integer : b.asDouble() < a.asDouble()) ? b : a;
    case '>':
        return (whole ? b.integer > a.integer : b.asDouble() > a.asDouble()) ? b : a;
    case '/':
        return b.asDouble() == 0 ? Worth {} : Worth::of(a.asDouble() / b.asDouble());
    case 's':
        return Worth::of(a.asDouble() * b.asDouble());
    case 't':
        if (a.isInteger())
            return a;
        return std::fabs(a.real) < 0x1p64 ? Worth::of(static_cast<Wide>(a.real)) : Worth {};
    default:
        return {};
    }
}

/// How to build an expression: leaves first, then steps, each of earlier ones. Built twice from other leaves, it is the
/// same expression of other numbers.
struct Recipe
{
    struct Step
    {
        char symbol = '+'; ///< as combine(), S (sum of three), M (minimum of three), n(amed a), r (named to nothing)
        std::size_t a = 0;
        std::size_t b = 0;
        std::size_t c = 0;
    };

    std::vector<Number> leaves;
    std::vector<bool> constants; ///< leaf without a name
    std::vector<Step> steps;

    /// All nodes in order. Leaf i is called "i<i>", the step that makes node k "n<k>" where it has a name.
    std::vector<Quantity> build(const std::vector<Number>& values) const
    {
        std::vector<Quantity> out;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto* whole = std::get_if<std::int64_t>(&values[i]);
            if (constants[i] && whole)
                out.push_back(constant(*whole));
            else
                out.push_back(input("i" + std::to_string(i), values[i], Unit::None, Source {}));
        }
        for (const Step& step : steps)
            out.push_back(made(step, out));
        return out;
    }

    /// What each node is worth, computed without a Quantity.
    std::vector<Worth> worths(const std::vector<Number>& values) const
    {
        std::vector<Worth> out;
        for (const Number& value : values)
            out.push_back(Worth::of(value));
        for (const Step& step : steps) {
            const Worth& a = out[step.a];
            const Worth& b = out[step.b];
            const Worth& c = out[step.c];
            if (step.symbol == 'S')
                out.push_back(combine('+', combine('+', a, b), c));
            else if (step.symbol == 'M')
                out.push_back(c.isNothing() ? c : combine('<', combine('<', a, b), c));
            else if (step.symbol == 'n' || step.symbol == 'r')
                out.push_back(a);
            else
                out.push_back(combine(step.symbol, a, step.symbol == 't' ? a : b));
        }
        return out;
    }

private:
    static Quantity made(const Step& step, const std::vector<Quantity>& known)
    {
        const Quantity& a = known[step.a];
        const Quantity& b = known[step.b];
        const std::vector<Quantity> three {a, b, known[step.c]};
        switch (step.symbol) {
        case '+':
            return a + b;
        case '-':
            return a - b;
        case '*':
            return a * b;
        case 'f':
            return floorDivide(a, b);
        case 'c':
            return ceilDivide(a, b);
        case '<':
            return minimum(a, b);
        case '>':
            return maximum(a, b);
        case '/':
            return ratio(a, b);
        case 's':
            return scale(a, b);
        case 't':
            return truncate(a);
        case 'S':
            return sum(three);
        case 'M':
            return minimum(three);
        case 'n':
            return named(a, "n" + std::to_string(known.size()), Unit::None);
        default:
            return named(a, "", Unit::Byte);
        }
    }
};

/// Random numbers of every size, and recipes from them.
class RandomExpressions
{
public:
    explicit RandomExpressions(std::uint32_t seed)
        : m_random(seed)
    {}

    std::uint64_t below(std::uint64_t bound) { return m_random() % bound; }

    std::int64_t integer()
    {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        switch (below(8)) {
        case 0:
            return static_cast<std::int64_t>(m_random()); // any
        case 1:
            return most - static_cast<std::int64_t>(below(3));
        case 2:
            return -most - 1 + static_cast<std::int64_t>(below(3));
        case 3:
            return static_cast<std::int64_t>(below(std::uint64_t {1} << 33)) - (std::int64_t {1} << 32);
        default:
            return static_cast<std::int64_t>(below(41)) - 8;
        }
    }

    Number number(bool reals)
    {
        if (!reals || below(3) > 0)
            return integer();
        const double part = static_cast<double>(below(1'000'000)) / 997.0 - 300.0;
        switch (below(4)) {
        case 0:
            return part * 1e300;
        case 1:
            return part * 1e15;
        default:
            return part;
        }
    }

    std::vector<Number> numbers(std::size_t count, bool reals)
    {
        std::vector<Number> out;
        while (out.size() < count)
            out.push_back(number(reals));
        return out;
    }

    Recipe recipe(std::size_t leaves, std::size_t steps, std::string_view symbols, bool reals)
    {
        Recipe out;
        out.leaves = numbers(leaves, reals);
        for (std::size_t i = 0; i < leaves; ++i)
            out.constants.push_back(below(4) == 0);
        for (std::size_t i = 0; i < steps; ++i) {
            const std::size_t known = leaves + i;
            // Every other operand is the latest node, so that trees grow deep.
            const auto pick = [&] { return below(2) == 0 ? known - 1 : below(known); };
            out.steps.push_back({symbols[below(symbols.size())], pick(), pick(), pick()});
        }
        return out;
    }

private:
    std::mt19937_64 m_random;
};

} // namespace kvw::test
