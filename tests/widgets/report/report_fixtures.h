// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plan/plan_json.h"
#include "report/document.h"
#include "support/example_plans.h"

#include <QByteArray>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QString>
#include <QStringList>

namespace kvw::test {

/// Standard output of a program; null when it could not be run or failed.
inline QByteArray outputOf(const QString& program, const QStringList& arguments)
{
    QProcess process;
    process.start(program, arguments);
    if (!process.waitForStarted() || !process.waitForFinished(120'000) || process.exitCode() != 0)
        return {};
    const QByteArray out = process.readAllStandardOutput();
    return out.isNull() ? QByteArray("") : out;
}

/// Numbers of a text, without the commas that part groups of three.
inline QSet<QString> numbersOf(QString text)
{
    static const QRegularExpression groups(QStringLiteral("(?<=\\d),(?=\\d{3}(\\D|$))"));
    for (QString before; before != text;) {
        before = text;
        text.remove(groups);
    }
    QSet<QString> out;
    static const QRegularExpression number(QStringLiteral("\\d+(\\.\\d+)?"));
    for (auto found = number.globalMatch(text); found.hasNext();)
        out.insert(found.next().captured());
    return out;
}

/// Every text of a document that a page must show, cell by cell.
inline QStringList textsOf(const Document& document)
{
    QStringList out;
    const auto add = [&](const std::string& text) {
        out.push_back(QString::fromStdString(text).replace(QChar(0x00A0), QLatin1Char(' ')));
    };
    add(document.title);
    add(document.cover.line);
    for (const Cover::Headline& one : document.cover.strip) {
        for (const std::string& text : {one.title, one.value, one.unit, one.note})
            add(text);
    }
    for (const Section& section : document.sections) {
        add(section.title);
        add(section.conclusion);
        for (const ReportBlock& block : section.blocks) {
            if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
                add(paragraph->text);
            } else if (const auto* bullets = std::get_if<Bullets>(&block)) {
                for (const std::string& item : bullets->items)
                    add(item);
            } else if (const auto* facts = std::get_if<Facts>(&block)) {
                for (const auto& [name, value] : facts->rows) {
                    add(name);
                    add(value);
                }
                add(facts->caption);
            } else if (const auto* table = std::get_if<Table>(&block)) {
                add(table->caption);
                for (const Table::Column& column : table->columns) {
                    add(column.under.empty() ? column.title : column.under);
                    add(column.merged);
                }
                for (const auto& row : table->rows) {
                    for (const std::string& cell : row)
                        add(cell);
                }
            } else if (const auto* formula = std::get_if<Formula>(&block)) {
                // Inputs stand in the words and the numbers; sources, rules and exclusions in the table of letters.
                for (const std::string& text :
                    {formula->label, formula->title, formula->words, formula->numbers, formula->result})
                    add(text);
            } else if (const auto* figure = std::get_if<Figure>(&block)) {
                add(figure->title);
                add(figure->caption);
                add(figure->limitName);
                for (const Figure::Bar& bar : figure->bars) {
                    add(bar.name);
                    add(bar.exact);
                }
                for (const Figure::Pool& pool : figure->pools)
                    add(pool.title);
            }
        }
    }
    return out;
}

/// A plan that strains a page: many groups, long names, odd signs.
inline Plan strainingPlan(int groups)
{
    Plan plan = examplePlan("reference.kvplan");
    const LayerGroup first = plan.worksheet.groups.front();
    for (int i = 1; i < groups; ++i) {
        LayerGroup group = first;
        group.id = "group" + std::to_string(i);
        group.name = i % 3 == 0 ? "A group with a name of several words, number " + std::to_string(i)
            : i % 3 == 1        ? "Anamethathasnospaceanywhereandgoesonandonandonforalongwhile" + std::to_string(i)
                                : "Größe ⌈" + std::to_string(i) + "⌉";
        plan.worksheet.groups.push_back(std::move(group));
    }
    plan.document.title = "A title that is far too long for one line of a title page and therefore has to be wrapped "
                          "into several, as somebody will do some day";
    plan.tenants.front().name = "A tenant whose name is a whole sentence, with a comma";
    return plan;
}

} // namespace kvw::test
