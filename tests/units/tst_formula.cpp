// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_expression.h"

#include "units/quantity.h"

#include <QTest>

#include <cstdlib>
#include <map>
#include <stdexcept>

using namespace kvw;
using namespace kvw::test;

namespace {

__extension__ using UnsignedWide = unsigned __int128;

/// Reads a printed formula by the rules of arithmetic alone: × and ÷ before + and −, from left to right, parentheses,
/// ⌊a ÷ b⌋, ⌈a ÷ b⌉, min, max, trunc. It knows nothing of derivations.
class FormulaReader
{
public:
    FormulaReader(std::string text, const std::map<std::string, Worth>& names)
        : m_text(std::move(text))
        , m_names(names)
    {}

    Worth read()
    {
        const Worth value = sum('/');
        if (m_at != m_text.size())
            fail("something is left over");
        return value;
    }

private:
    [[noreturn]] void fail(const char* why) const
    {
        throw std::runtime_error(why + (" in " + m_text) + " at " + std::to_string(m_at));
    }

    bool take(std::string_view token)
    {
        if (std::string_view(m_text).substr(m_at, token.size()) != token)
            return false;
        m_at += token.size();
        return true;
    }

    void need(std::string_view token)
    {
        if (!take(token))
            fail("another sign was expected");
    }

    /// `division` is what a ÷ means here: f and c directly inside ⌊ ⌋ and ⌈ ⌉.
    Worth sum(char division)
    {
        Worth value = product(division);
        for (;;) {
            if (take(" + "))
                value = exact('+', value, product(division));
            else if (take(" − "))
                value = exact('-', value, product(division));
            else
                return value;
        }
    }

    Worth product(char division)
    {
        Worth value = factor();
        for (;;) {
            if (take(" × ")) {
                const Worth right = factor();
                value = exact('*', value, right);
            } else if (take(" ÷ ")) {
                value = combine(division, value, factor());
            } else {
                return value;
            }
        }
    }

    /// Sums and products modulo 2^128: a text without parentheses may be read in another order than it was computed in,
    /// with larger steps between; what comes out in the end is the same.
    static Worth exact(char symbol, const Worth& a, const Worth& b)
    {
        if (!a.isInteger() || !b.isInteger())
            return combine(symbol, a, b);
        const auto x = static_cast<UnsignedWide>(a.integer);
        const auto y = static_cast<UnsignedWide>(b.integer);
        const UnsignedWide out = symbol == '+' ? x + y : symbol == '-' ? x - y : x * y;
        return {Worth::Kind::Integer, static_cast<Wide>(out), 0};
    }

    Worth list(char symbol)
    {
        Worth value = sum('/');
        while (take(", "))
            value = combine(symbol, value, sum('/'));
        need(")");
        return value;
    }

    Worth factor()
    {
        if (take("(")) {
            const Worth value = sum('/');
            need(")");
            return value;
        }
        for (const auto& [opening, closing, division] : {std::tuple {"⌊", "⌋", 'f'}, std::tuple {"⌈", "⌉", 'c'}}) {
            if (take(opening)) {
                const Worth value = sum(division);
                need(closing);
                return value;
            }
        }
        if (take("min("))
            return list('<');
        if (take("max("))
            return list('>');
        if (take("trunc("))
            return combine('t', list('!'), Worth::of(Wide {0}));
        const std::size_t end = m_text.find_first_of(" (),\xe2", m_at); // ⌋ and ⌉ begin with this byte
        const std::string word = m_text.substr(m_at, end == std::string::npos ? end : end - m_at);
        m_at += word.size();
        if (const auto known = m_names.find(word); known != m_names.end())
            return known->second;
        return literal(word);
    }

    Worth literal(const std::string& word) const
    {
        if (word.empty() || word.find_first_not_of("0123456789+-.e") != std::string::npos)
            fail("neither a name nor a number stands");
        char* end = nullptr;
        errno = 0;
        if (word.find_first_of(".e") == std::string::npos) {
            const long long value = std::strtoll(word.c_str(), &end, 10);
            if (errno != 0 || *end != '\0')
                fail("not an integer");
            return Worth::of(static_cast<Wide>(value));
        }
        const double value = std::strtod(word.c_str(), &end);
        if (*end != '\0')
            fail("not a number");
        return Worth::of(value);
    }

    std::string m_text;
    const std::map<std::string, Worth>& m_names;
    std::size_t m_at = 0;
};

/// The formula with every name replaced by its number, as the test prints numbers.
std::string withNumbers(const std::string& words, const std::map<std::string, Worth>& names)
{
    std::string out;
    for (std::size_t at = 0; at < words.size();) {
        if ((words[at] != 'i' && words[at] != 'n') || at + 1 == words.size() || words[at + 1] < '0'
            || words[at + 1] > '9') {
            out += words[at++];
            continue;
        }
        const std::size_t end = std::min(words.find_first_not_of("0123456789", at + 1), words.size());
        out += std::to_string(static_cast<std::int64_t>(names.at(words.substr(at, end - at)).integer));
        at = end;
    }
    return out;
}

/// What each name in a formula of the recipe stands for.
std::map<std::string, Worth> namesOf(const Recipe& recipe, const std::vector<Worth>& worths)
{
    std::map<std::string, Worth> out;
    for (std::size_t k = 0; k < worths.size(); ++k) {
        out["i" + std::to_string(k)] = worths[k];
        if (k >= recipe.leaves.size())
            out["n" + std::to_string(k)] = worths[k];
    }
    return out;
}

} // namespace

class FormulaTest : public QObject
{
    Q_OBJECT
private slots:
    void ofIntegersIsTheExpression();
    void withRealsIsTheExpression();
    void inNumbersReadsBackExactly();
    void texts_data();
    void texts();
};

/// Random trees of exact operations: the printed words and the printed numbers, read by the rules of arithmetic, have
/// the value of the expression.
void FormulaTest::ofIntegersIsTheExpression()
{
    RandomExpressions random(11);
    int read = 0;
    for (int i = 0; i < 12'000; ++i) {
        const Recipe recipe = random.recipe(5, 7, "+-*fc<>SMnr+-*-", false);
        const std::vector<Worth> worths = recipe.worths(recipe.leaves);
        const Quantity top = recipe.build(recipe.leaves).back();
        if (!top.ok())
            continue;
        const std::map<std::string, Worth> names = namesOf(recipe, worths);
        const std::string words = formulaInWords(top.derivation());
        const std::string numbers = formulaInNumbers(top.derivation());
        try {
            QVERIFY2(FormulaReader(words, names).read() == worths.back(), words.c_str());
            QVERIFY2(FormulaReader(numbers, {}).read() == worths.back(), numbers.c_str());
        } catch (const std::exception& error) {
            QFAIL(error.what());
        }
        if (top.derivation()->operation != Operation::Input)
            QCOMPARE(numbers, withNumbers(words, names));
        ++read;
    }
    QVERIFY2(read > 3'000, qPrintable(QString::number(read)));
}

/// The same with ratios, scalings and truncations; names keep the type of their value, so that nothing is lost in
/// print.
void FormulaTest::withRealsIsTheExpression()
{
    RandomExpressions random(12);
    int read = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Recipe recipe = random.recipe(5, 7, "+-*fc<>/s/stSMnr", true);
        const std::vector<Worth> worths = recipe.worths(recipe.leaves);
        // A scaling of two integers prints like a product of them; rules scale by a real.
        const bool ambiguous = std::any_of(recipe.steps.begin(), recipe.steps.end(), [&](const Recipe::Step& step) {
            return step.symbol == 's' && worths[step.a].isInteger() && worths[step.b].isInteger();
        });
        const Quantity top = recipe.build(recipe.leaves).back();
        if (ambiguous || !top.ok())
            continue;
        const std::string words = formulaInWords(top.derivation());
        try {
            QVERIFY2(FormulaReader(words, namesOf(recipe, worths)).read() == worths.back(), words.c_str());
        } catch (const std::exception& error) {
            QFAIL(error.what());
        }
        ++read;
    }
    QVERIFY2(read > 1'500, qPrintable(QString::number(read)));
}

void FormulaTest::inNumbersReadsBackExactly()
{
    RandomExpressions random(13);
    for (int i = 0; i < 20'000; ++i) {
        const Number value = random.number(true);
        const std::string text = formulaInNumbers(input("x", value, Unit::None, Source {}).derivation());
        if (const auto* real = std::get_if<double>(&value))
            QCOMPARE(std::strtod(text.c_str(), nullptr), *real);
        else
            QCOMPARE(text, std::to_string(std::get<std::int64_t>(value)));
    }
}

void FormulaTest::texts_data()
{
    QTest::addColumn<QString>("found");
    QTest::addColumn<QString>("expected");
    const auto x = [](const char* name, std::int64_t value) { return input(name, value, Unit::None, Source {}); };
    const Quantity a = x("a", 12);
    const Quantity b = x("b", 5);
    const Quantity c = x("c", 2);
    const Quantity share = input("share", 0.9, Unit::Ratio, Source {});
    const auto row = [](const char* name, const Quantity& quantity, const char* words, const char* numbers) {
        QTest::addRow("%s, words", name) << QString::fromStdString(formulaInWords(quantity.derivation()))
                                         << QString::fromUtf8(words);
        QTest::addRow("%s, numbers", name)
            << QString::fromStdString(formulaInNumbers(quantity.derivation())) << QString::fromUtf8(numbers);
    };
    row("sum", a + b + c, "a + b + c", "12 + 5 + 2");
    row("sum on the right", a + (b + c), "a + b + c", "12 + 5 + 2");
    row("product on the right", a * (b * c), "a × b × c", "12 × 5 × 2");
    row("minus a sum", a - (b + c), "a − (b + c)", "12 − (5 + 2)");
    row("minus a difference", a - (b - c), "a − (b − c)", "12 − (5 − 2)");
    row("differences", a - b - c, "a − b − c", "12 − 5 − 2");
    row("times a sum", (a + b) * c, "(a + b) × c", "(12 + 5) × 2");
    row("sum of products", a * b + b * c, "a × b + b × c", "12 × 5 + 5 × 2");
    row("floor", floorDivide(a, b) * c, "⌊a ÷ b⌋ × c", "⌊12 ÷ 5⌋ × 2");
    row("floor of a product", floorDivide(a * b, c), "⌊a × b ÷ c⌋", "⌊12 × 5 ÷ 2⌋");
    row("floor by a product", floorDivide(a, b * c), "⌊a ÷ (b × c)⌋", "⌊12 ÷ (5 × 2)⌋");
    row("ceil of a sum", ceilDivide(a + b, c), "⌈(a + b) ÷ c⌉", "⌈(12 + 5) ÷ 2⌉");
    row("nested floors", floorDivide(floorDivide(a, c), b), "⌊⌊a ÷ c⌋ ÷ b⌋", "⌊⌊12 ÷ 2⌋ ÷ 5⌋");
    row("extremes", minimum(a + b, maximum(b, c)), "min(a + b, max(b, c))", "min(12 + 5, max(5, 2))");
    row("ratio of a ratio", ratio(a, ratio(b, c)), "a ÷ (b ÷ c)", "12 ÷ (5 ÷ 2)");
    row("truncated", truncate(scale(share, a * b)), "trunc(share × (a × b))", "trunc(0.9 × (12 × 5))");
    row("constant", a * constant(8), "a × 8", "12 × 8");
    row("step", named(a + b, "step", Unit::Byte) * c, "step × c", "17 × 2");
    row("step itself", named(a + b, "step", Unit::Byte), "a + b", "12 + 5");
    row("another name", named(a, "other", Unit::Byte), "a", "12");
    row("no value", floorDivide(a, c - c) + b, "⌊a ÷ (c − c)⌋ + b", "⌊12 ÷ (2 − 2)⌋ + 5");
    row("a step without value", named(floorDivide(a, c - c), "step", Unit::Byte) + b, "step + b",
        "(no value: division by zero) + 5");
}

void FormulaTest::texts()
{
    QFETCH(QString, found);
    QFETCH(QString, expected);
    QCOMPARE(found, expected);
}

QTEST_APPLESS_MAIN(FormulaTest)
#include "tst_formula.moc"
