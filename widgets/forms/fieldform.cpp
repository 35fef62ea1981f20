// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "forms/fieldform.h"

#include "engines/engine_rules.h"
#include "models/numbertext.h"
#include "plan/choices.h"
#include "plan/field_table.h"
#include "report/sections.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolTip>

namespace kvw::gui {

namespace {

std::optional<FieldReference> reference(const PlanDocument& document, const QString& path)
{
    // The table hands out writable slots; here they are only read.
    Result<FieldReference> found = findField(const_cast<Plan&>(document.plan()), path.toStdString());
    return found ? std::optional(*found) : std::nullopt;
}

QString editText(const FieldReference& field)
{
    return QString::fromStdString(fieldText(*field.field, field.slot));
}

} // namespace

FieldForm::FieldForm(PlanDocument& document, const QStringList& paths, int columns, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_columns(columns)
    , m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setVerticalSpacing(4);
    for (const QString& path : paths) {
        const std::optional<FieldReference> field = reference(document, path);
        if (!field)
            continue;
        Row row;
        row.label = new ElidedLabel(fromStd(field->field->title), this);
        row.editor = makeEditor(path);
        row.note = new ElidedLabel({}, this);
        row.note->setFont(smallFont(font()));
        row.editor->setAccessibleName(row.label->text());
        row.label->setTip(fromStd(field->field->help));
        row.editor->setProperty(fieldProperty, path);
        row.editor->setToolTip(fromStd(field->field->help) + QLatin1Char('\n') + path);
        m_paths.push_back(path);
        m_rows[path] = row;
    }
    place();
    connect(&document, &PlanDocument::planChanged, this, &FieldForm::refresh);
    refresh();
}

void FieldForm::setStacked(bool stacked)
{
    m_stacked = stacked;
    place();
}

void FieldForm::place()
{
    for (const Row& row : std::as_const(m_rows)) {
        for (QWidget* widget : std::initializer_list<QWidget*> {row.label, row.editor, row.note})
            m_grid->removeWidget(widget);
    }
    m_grid->setHorizontalSpacing(8);
    const int perColumn = (static_cast<int>(m_paths.size()) + m_columns - 1) / m_columns;
    for (int i = 0; i < m_paths.size(); ++i) {
        const Row& row = m_rows[m_paths[i]];
        row.label->setInk(m_stacked ? QPalette::PlaceholderText : QPalette::WindowText);
        row.label->setFont(m_stacked ? smallFont(font()) : font());
        if (m_stacked) {
            m_grid->addWidget(row.label, 2 * i, 0);
            m_grid->addWidget(row.note, 2 * i, 1);
            m_grid->addWidget(row.editor, 2 * i + 1, 0, 1, 2);
            m_grid->setColumnStretch(1, 1);
            continue;
        }
        const int column = i / perColumn * 3;
        m_grid->addWidget(row.label, i % perColumn, column);
        m_grid->addWidget(row.editor, i % perColumn, column + 1);
        m_grid->addWidget(row.note, i % perColumn, column + 2);
        row.label->setMinimumWidth(std::min(row.label->sizeHint().width(), fontMetrics().averageCharWidth() * 20));
        row.editor->setMinimumWidth(fontMetrics().averageCharWidth() * 14); // a byte count can be read
        m_grid->setColumnStretch(column, 0); // its own width while there is room
        m_grid->setColumnStretch(column + 1, 3);
        m_grid->setColumnStretch(column + 2, 2);
    }
}

QStringList FieldForm::paths() const
{
    return m_paths;
}

QWidget* FieldForm::makeEditor(const QString& path)
{
    const std::optional<FieldReference> field = reference(m_document, path);
    const bool engine = path == QLatin1String("engine.name");
    if (field->field->type == FieldType::Choice || engine) {
        auto* combo = new QComboBox(this);
        combo->setMinimumContentsLength(8);
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        combo->setFocusPolicy(Qt::StrongFocus);
        combo->installEventFilter(this); // the wheel scrolls the form, it does not edit
        if (engine) {
            combo->addItem(tr("not stated"), QString());
            for (const std::string_view name : engineNames())
                combo->addItem(fromStd((*engineRules(name))->title()), fromStd(name));
        } else {
            const auto& names = field->field->choices;
            for (std::size_t value = 0; value < names.size(); ++value)
                combo->addItem(fromStd(choiceTitle(names, value)), fromStd(names[value]));
        }
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
    Row& row = m_rows[path];
    row.refused = false;
    if (auto* line = qobject_cast<QLineEdit*>(row.editor))
        line->setModified(false); // also when it is refused: told once, until the text changes
    const Result<void> set = m_document.setField(path, text);
    if (set) {
        refreshRow(path, row);
        return;
    }
    const QString why = QString::fromStdString(set.error().text());
    row.refused = true;
    const QColor differs = tokensFor(palette()).differs;
    setInk(row, differs, false);
    row.note->setInk(QPalette::PlaceholderText, differs);
    row.note->setText(QStringLiteral("✗ ") + QString::fromStdString(set.error().message));
    if (row.editor->isVisible())
        QToolTip::showText(row.editor->mapToGlobal(QPoint(0, row.editor->height())), why, row.editor, {}, 8000);
    emit refused(path, why);
}

void FieldForm::setInk(Row& row, const QColor& ink, bool italic)
{
    if (ink == row.ink)
        return; // palettes and fonts cost a lot, and a form refreshes with every edit
    row.ink = ink;
    QPalette palette;
    if (ink.isValid())
        palette.setColor(QPalette::Text, ink);
    row.editor->setPalette(palette);
    QFont own = font();
    own.setItalic(italic);
    row.editor->setFont(own);
}

void FieldForm::refresh()
{
    m_stale = !isVisible() && m_filled;
    if (m_stale)
        return; // done when somebody looks
    m_filled = true;
    for (const QString& path : std::as_const(m_paths))
        refreshRow(path, m_rows[path]);
}

void FieldForm::refreshRow(const QString& path, Row& row)
{
    const std::optional<FieldReference> field = reference(m_document, path);
    if (!field)
        return;
    const Tokens& tokens = tokensFor(palette());
    const QString now = editText(*field);
    if (row.refused) {
        // Its text stays until somebody edits it, here or elsewhere.
        auto* line = qobject_cast<QLineEdit*>(row.editor);
        if (line && line->text() != now)
            return;
        row.refused = false;
    }
    const auto source = m_document.plan().provenance.find(path.toStdString());
    const bool assumed = source && source->kind == Source::Kind::Assumption;
    setInk(row, assumed ? tokens.assumed : QColor(), assumed);
    if (auto* combo = qobject_cast<QComboBox*>(row.editor)) {
        if (combo->findData(now) < 0)
            combo->addItem(now, now); // a name that this program has no rules for
        combo->setCurrentIndex(std::max(0, combo->findData(now)));
    } else if (auto* line = qobject_cast<QLineEdit*>(row.editor)) {
        if (line->text() != now) {
            const QSignalBlocker quiet(line);
            line->setText(now);
            line->setCursorPosition(0);
        }
        line->setModified(false);
    }
    const bool stated = isStated(field->slot);
    QStringList note;
    if (!stated)
        note.push_back(QStringLiteral("⚠ ") + tr("not stated"));
    else if (field->field->unit == Unit::Byte)
        note.push_back(QString::fromStdString(fieldDisplay(*field->field, field->slot)));
    else if (field->field->unit != Unit::None && field->field->unit != Unit::Ratio)
        note.push_back(fromStd(unitName(field->field->unit)));
    if (stated && source && source->kind != Source::Kind::User)
        note.push_back((assumed ? QStringLiteral("◇ ") : QStringLiteral("▤ ")) + fromStd(sourceKindName(source->kind)));
    row.note->setText(note.join(QStringLiteral(" · ")));
    row.note->setInk(QPalette::PlaceholderText, !stated || assumed ? tokens.warning : QColor());
    row.note->setTip(source ? QString::fromStdString(sourceText(*source)) : QString());
}

bool FieldForm::showField(const QString& path)
{
    QWidget* editor = m_rows.value(path).editor;
    if (!editor)
        return false;
    editor->setFocus(Qt::OtherFocusReason);
    if (auto* line = qobject_cast<QLineEdit*>(editor))
        line->selectAll();
    return true;
}

QWidget* FieldForm::editor(const QString& path) const
{
    return m_rows.value(path).editor;
}

bool FieldForm::eventFilter(QObject* object, QEvent* event)
{
    if (event->type() == QEvent::Wheel && !static_cast<QWidget*>(object)->hasFocus()) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(object, event);
}

void FieldForm::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale)
        refresh();
}

void FieldForm::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

} // namespace kvw::gui
