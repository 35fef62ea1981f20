// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "forms/fieldform.h"

#include "engines/engine_rules.h"
#include "models/fieldchoices.h"
#include "models/numbertext.h"
#include "plan/field_table.h"
#include "report/sections.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPointer>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QTimer>
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

/// What stands behind the editor for the unit: nothing when the title says it, "Tokens per batch".
QString unitWord(const Field& field)
{
    if (field.unit == Unit::None || field.unit == Unit::Ratio || field.unit == Unit::Byte)
        return {};
    const QString word = fromStd(unitName(field.unit));
    return fromStd(field.title).contains(word, Qt::CaseInsensitive) ? QString() : word;
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
    connect(&document, &PlanDocument::planChanged, this, [this](const QString& path) {
        if (m_rows.contains(path))
            forgetTyped(m_rows[path]);
        refresh();
    });
    connect(&document, &PlanDocument::reset, this, [this] {
        for (Row& row : m_rows)
            forgetTyped(row);
    });
    refresh();
}

void FieldForm::setImplied(const QString& words)
{
    m_implied = words;
    for (const QString& path : std::as_const(m_paths)) {
        if (const std::optional<FieldReference> field = reference(m_document, path))
            m_rows[path].label->setText(labelOf(*field->field));
    }
    place();
    refresh();
}

QString FieldForm::labelOf(const Field& field) const
{
    QString out = fromStd(field.title);
    if (!m_implied.isEmpty() && out.endsWith(m_implied))
        out.chop(m_implied.size());
    return out;
}

/// As wide as any note of the form may become, so that nothing moves when a value is entered.
int FieldForm::noteWidth() const
{
    const QFontMetrics metrics(smallFont(font()));
    int out = 0;
    for (const QString& path : m_paths) {
        const std::optional<FieldReference> field = reference(m_document, path);
        if (!field || isWords(path, m_rows[path]))
            continue;
        const QString word = field->field->unit == Unit::Byte ? QStringLiteral("999.99 GiB")
                                                              : QStringLiteral("◇ ") + unitWord(*field->field);
        out = std::max(out, metrics.horizontalAdvance(word) + 2);
    }
    return out;
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
    m_grid->setHorizontalSpacing(6);
    const int perColumn = (static_cast<int>(m_paths.size()) + m_columns - 1) / m_columns;
    for (int i = 0; i < m_paths.size(); ++i) {
        const Row& row = m_rows[m_paths[i]];
        row.label->setInk(m_stacked ? QPalette::PlaceholderText : QPalette::WindowText);
        row.label->setFont(m_stacked ? smallFont(font()) : font());
        if (m_stacked) {
            m_grid->addWidget(row.label, 2 * i, 0);
            m_grid->addWidget(row.note, 2 * i, 1);
            m_grid->addWidget(row.editor, 2 * i + 1, 0, 1, 2);
            row.note->setMinimumWidth(0);
            row.note->setMaximumWidth(QWIDGETSIZE_MAX);
            m_grid->setColumnStretch(1, 1);
            continue;
        }
        const int column = i / perColumn * 3;
        m_grid->addWidget(row.label, i % perColumn, column);
        // Words need the room of their note; where they came from stands before the label.
        const bool words = isWords(m_paths[i], row);
        m_grid->addWidget(row.editor, i % perColumn, column + 1, 1, words ? 2 : 1);
        row.note->setVisible(!words);
        if (!words)
            m_grid->addWidget(row.note, i % perColumn, column + 2);
        row.label->setMinimumWidth(std::min(row.label->sizeHint().width(), fontMetrics().averageCharWidth() * 8));
        row.editor->setMinimumWidth(fontMetrics().averageCharWidth() * 16); // a byte count can be read
        m_grid->setColumnStretch(column, 0); // its own width while there is room
        m_grid->setColumnStretch(column + 1, 1);
        m_grid->setColumnStretch(column + 2, 0);
        if (!words)
            row.note->setFixedWidth(noteWidth());
    }
}

/// A choice, or a text: it has no unit, and may be long.
bool FieldForm::isWords(const QString& path, const Row& row) const
{
    const std::optional<FieldReference> field = reference(m_document, path);
    return qobject_cast<QComboBox*>(row.editor) || (field && field->field->type == FieldType::Text);
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
            const FieldChoices& choices = *choicesOf(*field->field);
            for (qsizetype value = 0; value < choices.names.size(); ++value)
                combo->addItem(choices.titles[value], choices.names[value]);
        }
        connect(
            combo, &QComboBox::activated, this, [this, combo, path] { commit(path, combo->currentData().toString()); });
        return combo;
    }
    auto* line = new QLineEdit(this);
    line->setPlaceholderText(QStringLiteral("⚠ ") + tr("not stated"));
    line->installEventFilter(this);
    connect(line, &QLineEdit::editingFinished, this, [this, line, path] {
        if (line->isModified())
            commit(path, line->text());
    });
    return line;
}

void FieldForm::commit(const QString& path, const QString& text)
{
    Row& row = m_rows[path];
    row.refusal.clear();
    if (auto* line = qobject_cast<QLineEdit*>(row.editor))
        line->setModified(false); // also when it is refused: told once, until the text changes
    const Result<void> set = m_document.setField(path, text);
    if (set) {
        refreshRow(path, row);
        return;
    }
    const QString why = QString::fromStdString(set.error().text());
    row.refusal = why;
    const QColor differs = tokensFor(palette()).differs;
    setInk(row, differs, false);
    row.note->setInk(QPalette::PlaceholderText, differs);
    row.note->setText(QStringLiteral("✗"));
    if (!m_stacked && isWords(path, row))
        row.label->setText(QStringLiteral("✗ ") + fromStd(reference(m_document, path)->field->title));
    row.note->setTip(why);
    if (row.editor->isVisible())
        QToolTip::showText(row.editor->mapToGlobal(QPoint(0, row.editor->height())), why, row.editor, {}, 8000);
    emit refused(path, why);
}

QString FieldForm::commitPending()
{
    const QPointer<FieldForm> alive(this); // a commit may replace the form
    for (const QString& path : QStringList(m_paths)) {
        const auto* line = qobject_cast<QLineEdit*>(m_rows[path].editor);
        if (line && line->isModified()) {
            commit(path, line->text());
            if (!alive)
                return {};
        } else if (!m_rows[path].refusal.isEmpty()) {
            emit refused(path, m_rows[path].refusal);
        }
        if (!m_rows[path].refusal.isEmpty())
            return path;
    }
    return {};
}

/// The text that was typed goes; the plan's value stands again.
void FieldForm::restore(const QString& path)
{
    Row& row = m_rows[path];
    forgetTyped(row);
    refreshRow(path, row);
    if (auto* line = qobject_cast<QLineEdit*>(row.editor))
        line->selectAll();
    m_document.clearRefusal(path);
}

void FieldForm::forgetTyped(Row& row)
{
    row.refusal.clear();
    if (auto* line = qobject_cast<QLineEdit*>(row.editor))
        line->setModified(false);
}

QString FieldForm::pathOf(const QObject* editor)
{
    return editor->property(fieldProperty).toString();
}

void FieldForm::setInk(Row& row, const QColor& ink, bool italic)
{
    if (ink == row.ink)
        return; // palettes and fonts cost a lot, and a form refreshes with every edit
    row.ink = ink;
    QPalette palette;
    if (ink.isValid()) {
        palette.setColor(QPalette::Text, ink);
        palette.setColor(QPalette::ButtonText, ink);
        palette.setColor(QPalette::PlaceholderText, ink);
    }
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
    auto* typed = qobject_cast<QLineEdit*>(row.editor);
    if (typed && typed->text() != now && (!row.refusal.isEmpty() || typed->isModified()))
        return; // what is being typed, or was refused, stays until somebody edits it, here or elsewhere
    row.refusal.clear();
    const auto source = m_document.plan().provenance.find(path.toStdString());
    const bool assumed = source && source->kind == Source::Kind::Assumption;
    const bool unstated
        = !isStated(field->slot) && (field->field->type != FieldType::Choice || field->field->choices.front().empty());
    const QString error = errorAt(path);
    setInk(row,
        !error.isEmpty() ? tokens.differs
            : assumed    ? tokens.assumed
            : unstated   ? tokens.warning
                         : QColor(),
        assumed);
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
    refreshNote(*field, row);
    if (error != row.error) {
        row.error = error;
        row.label->setTip(error.isEmpty() ? fromStd(field->field->help) : error);
    }
    if (error.isEmpty())
        return;
    // The value stands in the plan, and the plan cannot be computed with it.
    if (isWords(path, row))
        row.label->setText(QStringLiteral("✗ ") + labelOf(*field->field));
    row.note->setInk(QPalette::PlaceholderText, tokens.differs);
    row.note->setText(QStringLiteral("✗ ") + row.note->text());
    row.note->setTip(error);
}

/// Why the plan cannot have what it states at `path`; empty when it can.
QString FieldForm::errorAt(const QString& path) const
{
    for (const Diagnostic& diagnostic : m_document.diagnostics()) {
        if (diagnostic.severity == Severity::Error && diagnostic.path == path.toStdString())
            return QString::fromStdString(diagnostic.message);
    }
    return {};
}

/// Beside the editor: a mark for what was not entered, and the unit, or the size as people read it.
void FieldForm::refreshNote(const FieldReference& reference, Row& row)
{
    const Field& field = *reference.field;
    const Tokens& tokens = tokensFor(palette());
    const auto source = m_document.plan().provenance.find(reference.path);
    const bool assumed = source && source->kind == Source::Kind::Assumption;
    // The first choice of a field that always has one is what holds when nobody says anything.
    const bool byDefault = !source && field.type == FieldType::Choice && !field.choices.front().empty()
        && fieldText(field, reference.slot) == field.choices.front();
    const bool stated = byDefault || isStated(reference.slot);
    const QString mark = assumed                                 ? QStringLiteral("◇")
        : byDefault                                              ? QStringLiteral("◇")
        : stated && source && source->kind != Source::Kind::User ? QStringLiteral("▤")
                                                                 : QString();
    QString word;
    if (stated && field.unit == Unit::Byte)
        word = QString::fromStdString(fieldDisplay(field, reference.slot));
    else if (!unitWord(field).isEmpty())
        word = unitWord(field);
    else if (assumed || byDefault)
        word = assumed ? tr("assumed") : tr("default");
    else if (!mark.isEmpty())
        word = fromStd(sourceKindName(source->kind));
    row.note->setText((mark + QLatin1Char(' ') + word).trimmed());
    if (!m_stacked) {
        const bool words = isWords(fromStd(reference.path), row);
        row.label->setText((words && !mark.isEmpty() ? mark + QLatin1Char(' ') : QString()) + labelOf(field));
    }
    row.note->setInk(QPalette::PlaceholderText, assumed ? tokens.assumed : QColor());
    row.note->setTip(source ? QString::fromStdString(sourceText(*source))
            : byDefault     ? tr("The default: nobody stated it.")
            : !stated       ? tr("Not stated")
                            : QString());
}

bool FieldForm::showField(const QString& path)
{
    QWidget* editor = m_rows.value(path).editor;
    if (!editor)
        return false;
    editor->setFocus(Qt::TabFocusReason); // its frame is seen
    const auto reveal = [editor] {
        for (QWidget* at = editor->parentWidget(); at; at = at->parentWidget()) {
            if (auto* area = qobject_cast<QScrollArea*>(at))
                area->ensureWidgetVisible(editor, 8, 24);
        }
    };
    reveal();
    // Once more when a form that was hidden has its size.
    QTimer::singleShot(0, editor, reveal);
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
    const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        const QString path = pathOf(object);
        const auto* line = qobject_cast<QLineEdit*>(object);
        if (line && (line->isModified() || !m_rows.value(path).refusal.isEmpty())) {
            if (event->type() == QEvent::KeyPress)
                restore(path);
            event->accept(); // before it stops a run
            return true;
        }
    }
    if (!qobject_cast<QComboBox*>(object))
        return QWidget::eventFilter(object, event);
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
