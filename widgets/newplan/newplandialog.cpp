// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "newplan/newplandialog.h"

#include "estimate/estimate.h"
#include "import/json_place.h"
#include "models/celltablemodel.h"
#include "models/numbertext.h"
#include "models/tableview.h"
#include "newplan/planchoices.h"
#include "plan/choices.h"
#include "plan/model_library.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextCursor>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

constexpr int longestText = 16 << 20; ///< characters of a pasted configuration

QVector<QVector<Cell>> groupRows(const Plan& plan)
{
    QVector<QVector<Cell>> out;
    for (const LayerGroup& group : plan.worksheet.groups) {
        bool first = true;
        const auto row = [&](const QString& tensor, const QString& shape, const QString& growth) {
            out.push_back({Cell::words(first ? fromStd(group.name) : QString()),
                Cell::words(
                    first ? fromStd(choiceTitle(layerKindNames(), static_cast<std::size_t>(group.kind))) : QString()),
                first ? Cell::count(group.layers) : Cell::words({}), Cell::words(tensor), Cell::words(shape),
                Cell::words(growth)});
            first = false;
        };
        for (const StateTensor& tensor : group.tensors)
            row(fromStd(tensor.id), QStringLiteral("%1 × %2").arg(tensor.heads).arg(tensor.width),
                QString::fromStdString(growthText(tensor.growth)));
        if (group.tensors.empty())
            row(NewPlanDialog::tr("reads %1").arg(fromStd(group.readsGroup)), {}, {});
    }
    return out;
}

/// What one more token and one more sequence take, and what is doubtful.
QString aboutText(const Plan& plan, const QString& from)
{
    QStringList out {from};
    if (const Result<Estimate> figures = estimate(plan)) {
        const NumberText token = numberText(figures->bytesPerToken);
        const NumberText fixed = numberText(figures->fixedBytes);
        out.push_back(NewPlanDialog::tr("%1 %2 a token and %3 %4 fixed for each sequence, as %5")
                          .arg(token.number, token.unit, fixed.number, fixed.unit,
                              fromStd(factsOf(plan.cache.elementType).name)));
    }
    for (const Assumption& assumption : plan.assumptions) {
        if (assumption.id.starts_with("import.") || assumption.id.starts_with("library."))
            out.push_back(QStringLiteral("◇ ") + QString::fromStdString(assumption.text));
    }
    return out.join(QLatin1Char('\n'));
}

} // namespace

NewPlanDialog::NewPlanDialog(const QStringList& recent, const QString& libraryFolder, QWidget* parent)
    : QDialog(parent)
    , m_search(new QLineEdit(this))
    , m_list(new TableView(this))
    , m_title(new QLabel(this))
    , m_about(new QLabel(this))
    , m_text(new QPlainTextEdit(this))
    , m_groups(new CellTableModel(
          {tr("Layer group"), tr("Kind"), tr("Layers"), tr("Tensor"), tr("Heads × width"), tr("Growth")}, this))
    , m_groupView(new TableView(this))
{
    setObjectName(QStringLiteral("newPlanDialog"));
    setWindowTitle(tr("New plan"));
    std::vector<Error> refused;
    m_own = ownModels(libraryFolder.toStdString(), refused);
    m_choices = new PlanChoices(recent, m_own, this);
    m_search->setPlaceholderText(tr("Search models and recent files, or paste the text of a config.json"));
    m_search->setAccessibleName(tr("Search"));
    m_search->setMaxLength(longestText);
    m_search->setClearButtonEnabled(true);
    m_list->setModel(m_choices);
    m_list->setAccessibleName(tr("Models and files"));
    m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setShowGrid(false);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this);
    m_open = buttons->button(QDialogButtonBox::Open);
    m_open->setDefault(true);
    connect(buttons->addButton(tr("File…"), QDialogButtonBox::ActionRole), &QPushButton::clicked, this,
        [this] { chooseFile(false); });
    connect(buttons->addButton(tr("Folder…"), QDialogButtonBox::ActionRole), &QPushButton::clicked, this,
        [this] { chooseFile(true); });
    connect(buttons->addButton(tr("Empty plan"), QDialogButtonBox::ActionRole), &QPushButton::clicked, this, [this] {
        m_file.clear();
        m_plan = Plan();
        accept();
    });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setChildrenCollapsible(false);
    split->addWidget(m_list);
    split->addWidget(makePreview());
    split->setSizes({520, 480});
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    layout->addWidget(m_search);
    for (const Error& error : refused) { // a library of one's own that is not read is told, and costs nothing else
        layout->addWidget(new ElidedLabel(QStringLiteral("! ") + QString::fromStdString(error.text()), this));
    }
    layout->addWidget(split, 1);
    layout->addWidget(buttons);
    resize(1040, 560);

    m_search->installEventFilter(this);
    connect(m_search, &QLineEdit::textChanged, this, &NewPlanDialog::searchChanged);
    connect(m_text, &QPlainTextEdit::textChanged, this, [this] { readPasted(true); });
    connect(m_list->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& index) { showChoice(index.row()); });
    connect(m_list, &QTableView::activated, this, [this] {
        if (m_open->isEnabled())
            accept();
    });
    searchChanged({});
    m_list->setColumnsFitted();
    m_search->setFocus();
}

NewPlanDialog::~NewPlanDialog() = default;

QWidget* NewPlanDialog::makePreview()
{
    auto* out = new QWidget(this);
    auto* layout = new QVBoxLayout(out);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    m_title->setFont(strongFont(m_title->font()));
    for (QLabel* label : {m_title, m_about}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setMinimumWidth(1);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    m_about->setObjectName(QStringLiteral("newPlanAbout"));
    m_groupView->setModel(m_groups);
    m_groupView->setAccessibleName(tr("Layer groups"));
    m_groupView->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_groupView->setColumnsFitted();
    m_text->setObjectName(QStringLiteral("pastedText"));
    m_text->setAccessibleName(tr("Pasted text"));
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setTabChangesFocus(true);
    m_text->hide();
    layout->addWidget(m_title);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_groupView, 1);
    layout->addWidget(m_about);
    return out;
}

/// A text of several lines keeps them, which a line edit would not.
bool NewPlanDialog::eventFilter(QObject* object, QEvent* event)
{
    if (object == m_search && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Paste)) {
        const QString text = QApplication::clipboard()->text();
        if (text.trimmed().startsWith(QLatin1Char('{'))) {
            pasteText(text);
            return true;
        }
    }
    return QDialog::eventFilter(object, event);
}

void NewPlanDialog::pasteText(const QString& text)
{
    const QSignalBlocker quietSearch(m_search);
    const QSignalBlocker quietText(m_text);
    if (m_search->text() != text)
        m_search->setText(text);
    m_choices->search({});
    m_list->clearSelection();
    m_file.clear();
    m_text->setPlainText(text.left(longestText));
    readPasted(false);
}

/// `typing`: somebody mends the text, and keeps the cursor.
void NewPlanDialog::readPasted(bool typing)
{
    const std::string text = m_text->toPlainText().toStdString();
    const Result<OpenedPlan> opened = openPlanOrModelText(text, "pasted text");
    preview(opened, tr("Pasted configuration"), tr("Read from the text that was pasted."));
    m_text->show();
    markPlace(text, opened ? std::string() : opened.error().where.at, typing);
}

void NewPlanDialog::markPlace(const std::string& text, const std::string& at, bool typing)
{
    const std::optional<TextPlace> place = jsonPlace(text, at);
    if (!place) {
        m_text->setExtraSelections({});
        return;
    }
    // The text is in bytes, the cursor counts UTF-16.
    const auto units = [&](std::size_t offset, std::size_t length) {
        return static_cast<int>(QString::fromStdString(text.substr(offset, length)).size());
    };
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(m_text->document());
    mark.cursor.setPosition(units(0, place->offset));
    mark.cursor.setPosition(mark.cursor.position() + units(place->offset, place->length), QTextCursor::KeepAnchor);
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(tokensFor(palette()).differs);
    mark.format.setBackground(tokensFor(palette()).staleGround);
    m_text->setExtraSelections({mark});
    if (typing)
        return;
    m_text->setTextCursor(mark.cursor);
    m_text->ensureCursorVisible();
}

void NewPlanDialog::searchChanged(const QString& text)
{
    if (text.trimmed().startsWith(QLatin1Char('{'))) {
        pasteText(text);
        return;
    }
    m_text->hide();
    m_choices->search(text);
    m_list->fitColumns();
    if (m_choices->rowCount() > 0)
        m_list->setCurrentIndex(m_choices->index(0, 0));
    else
        preview(Error {"library.unknown", "Nothing fits. File… opens a model file or a plan."}, {}, {});
}

void NewPlanDialog::showChoice(int row)
{
    m_file.clear();
    m_text->hide();
    if (const LibraryModel* model = m_choices->modelAt(row)) {
        const QString published = model->published.empty() ? tr("not stated in the source") : fromStd(model->published);
        preview(OpenedPlan {planFromLibrary(*model)}, fromStd(model->id),
            tr("Source: %1\nPublished: %2; verified: %3; confidence: %4")
                .arg(fromStd(model->source), published, fromStd(model->verified), fromStd(model->confidence)));
        return;
    }
    const QString file = m_choices->fileAt(row);
    if (file.isEmpty())
        return;
    preview(openPlanOrModel(file.toStdString()), QFileInfo(file).fileName(), file);
    m_file = file;
}

/// What would be opened, or why it cannot be.
void NewPlanDialog::preview(const Result<OpenedPlan>& opened, const QString& title, const QString& from)
{
    m_title->setText(title);
    m_open->setEnabled(opened.ok());
    m_groupView->setVisible(opened.ok());
    if (!opened) {
        m_plan.reset();
        m_about->setText(
            (title.isEmpty() ? QString() : QStringLiteral("✗ ")) + QString::fromStdString(opened.error().text()));
        return;
    }
    m_plan = opened->plan;
    m_groups->setRows(groupRows(*m_plan));
    m_groupView->fitColumns();
    m_about->setText(aboutText(*m_plan, from));
}

void NewPlanDialog::chooseFile(bool folder)
{
    const QString path = folder
        ? QFileDialog::getExistingDirectory(this, tr("Open a model folder: the one that has config.json"))
        : QFileDialog::getOpenFileName(this, tr("Open a plan or a model file"), {},
            tr("Plans and models (*.kvplan *.json *.gguf *.safetensors);;All files (*)"));
    if (path.isEmpty())
        return;
    m_list->clearSelection();
    m_text->hide();
    const Result<OpenedPlan> opened = openPlanOrModel(path.toStdString());
    preview(opened, QFileInfo(path).fileName(), path);
    m_file = path;
}

QString NewPlanDialog::file() const
{
    return m_file;
}

std::optional<Plan> NewPlanDialog::plan() const
{
    return m_file.isEmpty() ? m_plan : std::nullopt;
}

QString NewPlanDialog::defaultLibraryFolder()
{
    return QString::fromStdString(ownModelsFolder());
}

} // namespace kvw::gui
