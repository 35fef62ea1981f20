// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"
#include "units/unit.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvw {

/// Where an input of a derivation came from, or the authority behind a rule.
struct Source
{
    enum class Kind {
        User, ///< entered by a person
        File, ///< read from a file with a known SHA-256
        Library, ///< a built-in entry with its own source and dates
        EngineRule, ///< fixed by an engine's code
        EngineDefault, ///< what the engine uses when nothing is said
        Measurement, ///< read by an instrument on a device, in a run
        Assumption, ///< taken as true without being stated
        Definition, ///< true by definition (K and V are two tensors)
    };

    Kind kind = Kind::User;
    std::string name {}; ///< file, library entry, engine with version, device …
    std::string at {}; ///< JSON pointer, plan path, run id
    std::string sha256 {}; ///< of the file, lower-case hex
    std::string published {}; ///< ISO date; empty: not stated in the source
    std::string verified {}; ///< ISO date on which it was checked
    std::string note {}; ///< why, when that is not obvious

    bool operator==(const Source&) const = default;
};

/// "user", "file", "library", "engine rule", "engine default", "measurement", "assumption", "definition".
std::string_view sourceKindName(Source::Kind kind);
/// The kind whose sourceKindName is `name`, or nothing.
std::optional<Source::Kind> sourceKindFromName(std::string_view name);

/// A number as derivations know it: an exact 64-bit integer, or a double where the rule itself computes in doubles.
using Number = std::variant<std::int64_t, double>;

/// The number as a double, for display and ratios.
double toDouble(const Number& number);

enum class Operation : std::uint8_t {
    Input, ///< no operands; the value is given
    Same, ///< the one operand under another name
    Add, ///< any number of operands; exact for integers, a double as soon as one operand is one
    Subtract, ///< two operands, likewise
    Multiply, ///< any number of operands, likewise
    FloorDivide, ///< two operands, ⌊a ÷ b⌋
    CeilDivide, ///< two operands, ⌈a ÷ b⌉
    Minimum, ///< any number of operands
    Maximum, ///< any number of operands
    Ratio, ///< two operands, a ÷ b as a double
    Scale, ///< two operands, product as a double (a double times an integer)
    Truncate, ///< one operand, a double cut towards zero to an integer
};

/// "input", "same", "add" … : stable names for JSON.
std::string_view operationName(Operation operation);

struct DerivationNode;
/// A derivation is a shared, immutable expression.
using Derivation = std::shared_ptr<const DerivationNode>;

/// One node of a derivation. The expression that produced a value and the value's explanation are the same object.
struct DerivationNode
{
    Operation operation = Operation::Input;
    std::vector<Derivation> operands {};
    Number value = std::int64_t {0};
    std::string error {}; ///< why there is no value (overflow, division by zero); empty when there is one
    std::string name {}; ///< what the value is, in the design's words; empty for an unnamed step
    Unit unit = Unit::None;
    bool assumed = false; ///< an input below, or this one, is an assumption
    std::shared_ptr<const Source>
        source {}; ///< inputs: where it came from; named steps: the rule's authority, may be null
    std::vector<std::string> excludes {}; ///< what a total does not contain
};

/// A value together with the expression that produced it.
///
/// Arithmetic on Quantities builds the expression and computes its value at once, exactly. An operation that overflows,
/// divides by zero or leaves the finite numbers gives a Quantity without value whose error() says so; operations on it
/// stay without value. So an estimate is computed straight through and checked once at the end.
class Quantity
{
public:
    /// An unnamed zero. A placeholder until a value is assigned.
    Quantity();
    explicit Quantity(Derivation derivation);

    bool ok() const;
    /// Empty when ok().
    const std::string& error() const;
    /// The exact integer. REQUIRES ok() and isInteger().
    std::int64_t integer() const;
    bool isInteger() const;
    const Number& number() const;
    /// The value as a double; 0 when !ok().
    double real() const;

    const std::string& name() const;
    Unit unit() const;
    const Derivation& derivation() const;

private:
    Derivation m_derivation;
};

/// An input: a leaf with a name, a unit and a source.
Quantity input(std::string name, Number value, Unit unit, Source source);
Quantity input(std::string name, Number value, Unit unit, std::shared_ptr<const Source> source);
/// An input that has no value, and why.
Quantity inputWithoutValue(std::string name, Unit unit, std::string error, std::shared_ptr<const Source> source);
/// A number that is part of a formula by definition, such as the 8 bits of a byte.
Quantity constant(std::int64_t value);

Quantity operator+(const Quantity& a, const Quantity& b);
Quantity operator-(const Quantity& a, const Quantity& b);
Quantity operator*(const Quantity& a, const Quantity& b);
Quantity floorDivide(const Quantity& a, const Quantity& b);
Quantity ceilDivide(const Quantity& a, const Quantity& b);
Quantity minimum(const Quantity& a, const Quantity& b);
Quantity maximum(const Quantity& a, const Quantity& b);
/// a ÷ b as a double, for figures that an engine itself computes so.
Quantity ratio(const Quantity& a, const Quantity& b);
/// a × b as a double.
Quantity scale(const Quantity& a, const Quantity& b);
/// A double cut towards zero.
Quantity truncate(const Quantity& a);
/// The sum of all; an empty sum is 0.
Quantity sum(std::span<const Quantity> terms);
/// The smallest of all. REQUIRES at least one.
Quantity minimum(std::span<const Quantity> terms);

/// What a named step of a derivation says about itself.
struct Naming
{
    std::string name;
    Unit unit = Unit::None;
    std::shared_ptr<const Source> source {}; ///< the rule's authority
    std::vector<std::string> excludes {};
};

/// `quantity` as a named step. A named step is shown by its name in the formulas that use it, and opens on its own.
Quantity named(const Quantity& quantity, Naming naming);
Quantity named(const Quantity& quantity, std::string name, Unit unit);

/// The value of `derivation` computed anew from its inputs, some of them replaced. Each node is computed once.
/// Returns an error where the expression has no value for these inputs.
Result<Number> evaluate(const Derivation& derivation, const std::map<const DerivationNode*, Number>& replaced = {});

/// The formula in words: the names of the inputs and named steps it is made of, "sequences × blocks each × bytes per
/// block".
std::string formulaInWords(const Derivation& derivation);
/// The same with every input and named step below printed by `nameOf`.
std::string formulaInWords(
    const Derivation& derivation, const std::function<std::string(const DerivationNode&)>& nameOf);
/// The same formula with numbers, "12 × 1033 × 589824". C locale.
std::string formulaInNumbers(const Derivation& derivation);
/// Every input below `derivation`, each once, in the order of first use.
std::vector<Derivation> inputsOf(const Derivation& derivation);
/// True when an input below is an assumption.
bool restsOnAssumption(const Derivation& derivation);

} // namespace kvw
