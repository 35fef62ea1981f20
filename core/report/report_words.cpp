// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_words.h"

#include "plan/field_table.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kvw {

bool isAssumed(const Plan& plan, std::string_view path)
{
    const std::shared_ptr<const Source> source = plan.provenance.find(std::string(path));
    return source && source->kind == Source::Kind::Assumption;
}

std::string marked(const Plan& plan, std::string_view path, const std::string& text)
{
    return isAssumed(plan, path) ? "◇ " + text : text;
}

std::string fieldTitle(std::string_view path)
{
    Plan nobody;
    const Result<FieldReference> found = findField(nobody, path);
    return found ? std::string(found->field->title) : std::string(path);
}

std::string tenantName(const Plan* plan, const std::string& id)
{
    if (!plan)
        return id;
    const auto found = std::find_if(
        plan->tenants.begin(), plan->tenants.end(), [&](const Tenant& tenant) { return tenant.id == id; });
    return found == plan->tenants.end() || found->name.empty() ? id : found->name;
}

std::string groupName(const Plan* plan, const std::string& id)
{
    if (!plan)
        return id;
    const auto& groups = plan->worksheet.groups;
    const auto found
        = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& group) { return group.id == id; });
    return found == groups.end() || found->name.empty() ? id : found->name;
}

std::string stampText(const std::string& iso)
{
    const bool stamp = iso.size() == 20 && iso[4] == '-' && iso[10] == 'T' && iso[13] == ':' && iso.back() == 'Z';
    return stamp ? iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC" : iso;
}

std::string runText(const std::string& id)
{
    const bool number = id.size() > 3 && id.starts_with("run")
        && std::all_of(id.begin() + 3, id.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    return number ? "run " + id.substr(3) : id;
}

std::string percentText(double share)
{
    return fmt::format("{:.1f} %", 100 * share);
}

std::string counted(std::int64_t count, std::string_view one, std::string_view more)
{
    return fmt::format("{} {}", grouped(count), count == 1 ? one : more);
}

std::string sourceForReaders(const Source& source)
{
    return source.kind == Source::Kind::User ? "entered" : sourceText(source);
}

namespace {

/// A straight apostrophe after a letter is an apostrophe; anywhere else it may be a quotation mark or part of a name.
void setApostrophes(std::string& text)
{
    for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 1)) {
        if (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0)
            text.replace(at, 1, "’");
    }
}

struct Setting
{
    void operator()(Paragraph& paragraph) const { setApostrophes(paragraph.text); }
    void operator()(Bullets& bullets) const
    {
        std::for_each(bullets.items.begin(), bullets.items.end(), setApostrophes);
    }
    void operator()(Facts& facts) const
    {
        for (auto& [name, value] : facts.rows) {
            setApostrophes(name);
            setApostrophes(value);
        }
        setApostrophes(facts.caption);
    }
    void operator()(Table& table) const
    {
        for (Table::Column& column : table.columns) {
            setApostrophes(column.title);
            setApostrophes(column.span);
        }
        for (std::vector<std::string>& row : table.rows)
            std::for_each(row.begin(), row.end(), setApostrophes);
        setApostrophes(table.caption);
    }
    void operator()(Formula& formula) const
    {
        setApostrophes(formula.title);
        setApostrophes(formula.words);
        for (auto& [input, source] : formula.inputs) {
            setApostrophes(input);
            setApostrophes(source);
        }
    }
    void operator()(Figure& figure) const
    {
        setApostrophes(figure.title);
        setApostrophes(figure.caption);
        for (Figure::Bar& bar : figure.bars)
            setApostrophes(bar.name);
    }
};

} // namespace

void setTypographically(Document& document)
{
    setApostrophes(document.title);
    setApostrophes(document.cover.line);
    for (Cover::Headline& one : document.cover.strip)
        setApostrophes(one.note);
    for (Section& section : document.sections) {
        setApostrophes(section.title);
        setApostrophes(section.conclusion);
        for (ReportBlock& block : section.blocks)
            std::visit(Setting {}, block);
    }
}

} // namespace kvw
