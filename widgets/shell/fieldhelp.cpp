// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/fieldhelp.h"

#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "models/fieldchoices.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"
#include "report/sections.h"
#include "units/format.h"

#include <QAbstractItemView>
#include <QCoreApplication>

namespace kvw::gui {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("Help", text);
}

QString limitsOf(const Field& field)
{
    if (field.type == FieldType::Choice) {
        QStringList titles = choicesOf(field)->titles;
        if (field.choices.front().empty())
            titles.removeFirst();
        return tr("One of: %1").arg(titles.join(QStringLiteral(", ")));
    }
    if (field.type == FieldType::Text)
        return {};
    QString out = field.maximum == INT64_MAX
        ? tr("From %1").arg(countText(field.minimum))
        : tr("From %1 to %2").arg(countText(field.minimum), countText(field.maximum));
    if (field.unit != Unit::None)
        out += QLatin1Char(' ') + fromStd(unitName(field.unit));
    return out;
}

} // namespace

QString fieldUnder(const QWidget& widget)
{
    for (const QWidget* at = &widget; at; at = at->parentWidget()) {
        const QString field = at->property(fieldProperty).toString();
        if (!field.isEmpty())
            return field;
        if (const auto* view = qobject_cast<const QAbstractItemView*>(at))
            return view->currentIndex().data(FieldRole).toString();
    }
    return {};
}

QString helpFor(const PlanDocument& document, const QString& path)
{
    // The table hands out writable slots; here they are only read.
    const Result<FieldReference> found = findField(const_cast<Plan&>(document.plan()), path.toStdString());
    if (!found)
        return {};
    const Field& field = *found->field;
    QString out = QStringLiteral("<b>%1</b><br>%2")
                      .arg(fromStd(field.title).toHtmlEscaped(), fromStd(field.help).toHtmlEscaped());
    if (const QString limits = limitsOf(field); !limits.isEmpty())
        out += QStringLiteral("<br>") + limits.toHtmlEscaped() + QLatin1Char('.');
    if (field.unit == Unit::Byte)
        out += QStringLiteral("<br>") + tr("Units are read as they are written: 6.51GiB, 80GB.");
    out += QStringLiteral("<br>")
        + tr("Now: %1").arg(QString::fromStdString(fieldDisplay(field, found->slot)).toHtmlEscaped());
    if (const auto source = document.plan().provenance.find(path.toStdString()))
        out += QStringLiteral(" · ") + QString::fromStdString(sourceText(*source)).toHtmlEscaped();
    return out + QStringLiteral("<br><code>%1</code>").arg(path.toHtmlEscaped());
}

QString pageHelp(const QString& name, const QString& purpose)
{
    QString out = QStringLiteral("<b>%1</b><br>%2.<br><table cellspacing=\"2\">").arg(name, purpose);
    const QList<std::pair<QString, QString>> keys {{QStringLiteral("Ctrl+1 … Ctrl+9"), tr("pages, in rail order")},
        {QStringLiteral("Ctrl+K"), tr("any command, page, field or number")},
        {QStringLiteral("F2, Enter"), tr("edit the cell; open the group")},
        {QStringLiteral("F4"), tr("to Explain, and back")}, {QStringLiteral("Ctrl+Space"), tr("pin Explain")},
        {QStringLiteral("F8, Shift+F8"), tr("next, previous problem")},
        {QStringLiteral("Ctrl+Z, Ctrl+Shift+Z"), tr("undo, redo, by name")},
        {QStringLiteral("Ctrl+C"), tr("copy cells with exact numbers")},
        {QStringLiteral("F1"), tr("help for what has the focus")}};
    for (const auto& [key, does] : keys)
        out += QStringLiteral("<tr><td><code>%1</code></td><td>%2</td></tr>").arg(key, does);
    return out + QStringLiteral("</table>");
}

} // namespace kvw::gui
