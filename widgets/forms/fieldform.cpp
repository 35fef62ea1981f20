// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "forms/fieldform.h"

#include "models/numbertext.h"
#include "plan/field_table.h"
#include "report/sections.h"
#include "style/tokens.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>

namespace kvw::gui {

namespace {

std::optional<FieldReference> reference(const PlanDocument& document, const QString& path)
{
    // The table hands out writable slots; here they are only read.
    Result<FieldReference> found = findField(const_cast<Plan&>(document.plan()), path.toStdString());
    return found ? std::optional(*found) : std::nullopt;
}

/// What an editor shows: sizes as people write them where nothing is lost, else exact.
QString editText(const FieldReference& field)
{
    return QString::fromStdString(fieldText(*field.field, field.slot));
}

} // namespace

FieldForm::FieldForm(PlanDocument& document, const QStringList& paths, int columns, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_paths(paths)
{
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    const int rows = (static_cast<int>(paths.size()) + columns - 1) / columns;
    for (int i = 0; i < paths.size(); ++i) {
        const std::optional<FieldReference> field = reference(document, paths[i]);
        if (!field)
            continue;
        auto* label = new QLabel(fromStd(field->field->title), this);
        QWidget* editor = makeEditor(paths[i]);
        auto* note = new QLabel(this);
        note->setForegroundRole(QPalette::PlaceholderText);
        QFont small = note->font();
        small.setPointSizeF(small.pointSizeF() * 0.92);
        note->setFont(small);
        label->setBuddy(editor);
        editor->setAccessibleName(label->text());
        editor->setToolTip(fromStd(field->field->help) + QLatin1Char('\n') + paths[i]);
        const int row = i % rows;
        const int column = i / rows * 3;
        grid->addWidget(label, row, column);
        grid->addWidget(editor, row, column + 1);
        grid->addWidget(note, row, column + 2);
        grid->setColumnStretch(column + 1, 2);
        grid->setColumnStretch(column + 2, 1);
        m_editors[paths[i]] = editor;
        m_notes[paths[i]] = note;
    }
    connect(&document, &PlanDocument::planChanged, this, &FieldForm::refresh);
    refresh();
}

QStringList FieldForm::paths() const
{
    return m_paths;
}

QWidget* FieldForm::makeEditor(const QString& path)
{
    const std::optional<FieldReference> field = reference(m_document, path);
    if (field->field->type == FieldType::Choice) {
        auto* combo = new QComboBox(this);
        for (const std::string_view name : field->field->choices)
            combo->addItem(name.empty() ? tr("not stated") : fromStd(name), fromStd(name));
        connect(
            combo, &QComboBox::activated, this, [this, combo, path] { commit(path, combo->currentData().toString()); });
        return combo;
    }
    auto* line = new QLineEdit(this);
    line->setPlaceholderText(tr("not stated"));
    connect(line, &QLineEdit::editingFinished, this, [this, line, path] {
        if (line->isModified())
            commit(path, line->text());
    });
    return line;
}

void FieldForm::commit(const QString& path, const QString& text)
{
    const Result<void> set = m_document.setField(path, text);
    QWidget* editor = m_editors[path];
    if (set) {
        refresh();
        return;
    }
    const QString why = QString::fromStdString(set.error().text());
    QPalette palette = editor->palette();
    palette.setColor(QPalette::Text, tokensFor(palette).differs);
    editor->setPalette(palette);
    m_notes[path]->setText(QStringLiteral("✗ ") + why);
    m_notes[path]->setToolTip(why);
    emit refused(path, why);
}

void FieldForm::refresh()
{
    for (const QString& path : std::as_const(m_paths)) {
        const std::optional<FieldReference> field = reference(m_document, path);
        if (!field || !m_editors.contains(path))
            continue;
        QWidget* editor = m_editors[path];
        editor->setPalette({});
        if (auto* combo = qobject_cast<QComboBox*>(editor)) {
            combo->setCurrentIndex(std::max(0, combo->findData(editText(*field))));
        } else if (auto* line = qobject_cast<QLineEdit*>(editor)) {
            if (line->text() != editText(*field))
                line->setText(editText(*field));
            line->setModified(false);
        }
        QString note;
        if (!isStated(field->slot)) {
            note = QStringLiteral("⚠ ") + tr("not stated");
        } else {
            if (field->field->unit == Unit::Byte)
                note = QString::fromStdString(fieldDisplay(*field->field, field->slot));
            const auto source = m_document.plan().provenance.find(path.toStdString());
            if (source && source->kind != Source::Kind::User)
                note += (note.isEmpty() ? QString() : QStringLiteral(" · "))
                    + (source->kind == Source::Kind::Assumption ? QStringLiteral("◇ ") : QString())
                    + fromStd(sourceKindName(source->kind));
            m_notes[path]->setToolTip(source ? QString::fromStdString(sourceText(*source)) : QString());
        }
        m_notes[path]->setText(note);
    }
}

bool FieldForm::showField(const QString& path)
{
    QWidget* editor = m_editors.value(path);
    if (!editor)
        return false;
    editor->setFocus(Qt::OtherFocusReason);
    if (auto* line = qobject_cast<QLineEdit*>(editor))
        line->selectAll();
    return true;
}

} // namespace kvw::gui
