// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/formula_book.h"
#include "report/sections.h"

#include "units/format.h"

#include <fmt/format.h>

namespace kvw {

Formula formulaOf(const Quantity& quantity, std::string label, std::string title)
{
    Formula out;
    out.label = std::move(label);
    out.title = std::move(title);
    out.words = formulaInWords(quantity.derivation());
    out.numbers = formulaInNumbers(quantity.derivation());
    const bool plain = quantity.unit() == Unit::None || quantity.unit() == Unit::Ratio;
    out.result = quantity.ok()
        ? formatNumber(quantity.number()) + (plain ? "" : " " + std::string(unitName(quantity.unit())))
        : quantity.error();
    if (quantity.ok() && quantity.isInteger() && isByteUnit(quantity.unit()))
        out.result += " = " + format(Bytes(quantity.integer()));
    for (const Derivation& input : inputsOf(quantity.derivation())) {
        if (!input->name.empty())
            out.inputs.emplace_back(
                input->name + " = " + formatNumber(input->value), input->source ? sourceText(*input->source) : "");
    }
    out.excludes = quantity.derivation()->excludes;
    if (quantity.derivation()->operation != Operation::Input && quantity.derivation()->source)
        out.rule = sourceText(*quantity.derivation()->source);
    out.assumed = restsOnAssumption(quantity.derivation());
    return out;
}

namespace {

/// A title for a figure that the report's own list does not name: the step's name, with its group or rank.
std::string titleFor(const std::string& path, const Quantity& quantity, const Estimate& estimate)
{
    const std::string& name = quantity.name();
    for (const GroupEstimate& group : estimate.groups) {
        const std::string& title = group.group->name;
        if (path.starts_with("groups." + group.group->id + ".") && !name.starts_with(title)) {
            const char* which = path.ends_with(".configuredBytes") ? ", configured maximum"
                : path.ends_with(".retainedBytes")                 ? ", presently retained"
                                                                   : "";
            return title + ": " + name + which;
        }
    }
    return name.empty() ? path : name;
}

/// Enters the figures that the reader meets first, in the order of the worksheet.
void addMainFigures(FormulaBook& book, const Estimate& estimate)
{
    const auto add = [&](const std::string& title, const std::optional<Quantity>& quantity) {
        if (quantity)
            book.add(title, *quantity);
    };
    for (const GroupEstimate& group : estimate.groups) {
        add(group.group->name + ": growing bytes of a token", group.bytesPerToken);
        if (group.fixedBytes.ok() && group.fixedBytes.integer() != 0)
            add(group.group->name + ": bytes of a sequence at the limit", group.fixedBytes);
        if (group.configured)
            add(group.group->name + ": configured maximum", group.configured->bytes);
    }
    add("Ideal need", estimate.idealBytes);
    add("Presently retained", estimate.retainedBytes);
    add("Bytes per block", estimate.engine.bytesPerBlock);
    add("Blocks", estimate.engine.blocks);
    add("Blocks per request", estimate.engine.blocksPerRequest);
    add("Maximum concurrency", estimate.engine.maxConcurrency);
    add("Engine need", estimate.engine.engineNeedBytes);
    add("Reserved", estimate.reservedBytes);
}

/// What the letters stand for.
Table keyTable(const FormulaBook& book)
{
    Table out;
    out.columns = {{"Letter"}, {"Source of an input, authority of a rule, or what a total excludes"}};
    for (const auto& [letter, text] : book.keys())
        out.rows.push_back({"[" + letter + "]", text});
    out.caption = "The letters of the formulas, here and in the section Formulas.";
    return out;
}

} // namespace

std::vector<Section> formulaSections(const Estimate& estimate)
{
    FormulaBook book;
    addMainFigures(book, estimate);
    const std::size_t main = book.size();
    for (const auto& [path, quantity] : figuresOf(estimate)) {
        const DerivationNode& node = *quantity.derivation();
        if (node.operation != Operation::Input && !node.operands.empty())
            book.add(titleFor(path, quantity, estimate), quantity, false);
    }
    book.addSteps();
    std::vector<Formula> formulas = book.formulas();
    Section first {"formulas", "Formulas", {},
        "The reader may compute each result again from the line of numbers below its formula, and follow each input to "
        "the entry or the source that it names. An input with ◇ is one that nobody stated."};
    Section rest {"formula_steps", "Appendix: formulas, step by step", {},
        "The reader may follow every number of this document down to what was entered, read from a file, or fixed by a "
        "rule. A formula says how a number comes about, not that its inputs are right."};
    for (std::size_t i = 0; i < formulas.size(); ++i)
        (i < main ? first : rest).blocks.emplace_back(std::move(formulas[i]));
    for (Section* section : {&first, &rest}) {
        if (section->blocks.empty())
            section->blocks.emplace_back(Paragraph {"There are none: no figure of this plan has more than its input."});
    }
    first.blocks.emplace_back(
        Paragraph {"F and a number in round brackets name another formula, from the appendix where "
                   "it is not here; a letter in square brackets names a source or a list in the "
                   "appendix. An input without letter was entered in the plan."});
    if (!book.keys().empty())
        rest.blocks.emplace_back(keyTable(book));
    return {std::move(first), std::move(rest)};
}

} // namespace kvw
