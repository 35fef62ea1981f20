// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "settings/settingsdialog.h"

#include "document/plandocument.h"
#include "models/numbertext.h"
#include "settings/preferences.h"
#include "style/theme.h"
#include "worker/runstore.h"
#include "worker/workerstate.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace kvw::gui {

SettingsDialog::SettingsDialog(PlanDocument& document, QWidget* parent)
    : QDialog(parent)
    , m_document(document)
    , m_theme(new QComboBox(this))
    , m_folder(new QLineEdit(this))
    , m_kept(new QSpinBox(this))
    , m_used(new QLabel(this))
    , m_remove(new QPushButton(tr("Remove the others now"), this))
    , m_paper(new QComboBox(this))
    , m_author(new QLineEdit(this))
{
    setObjectName(QStringLiteral("settingsDialog"));
    setWindowTitle(tr("Settings"));
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    layout->addWidget(makeLook());
    layout->addWidget(makeRuns());
    layout->addWidget(makeReport());
    layout->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    layout->addWidget(buttons);
    setMinimumWidth(520);
    connect(&Preferences::instance(), &Preferences::changed, this, &SettingsDialog::refreshRuns);
    connect(&document, &PlanDocument::runsChanged, this, [this] {
        if (isVisible())
            refreshRuns();
    });
}

void SettingsDialog::open(PlanDocument& document, QWidget* window)
{
    auto* dialog = window->findChild<SettingsDialog*>();
    if (!dialog)
        dialog = new SettingsDialog(document, window);
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
}

QWidget* SettingsDialog::makeLook()
{
    auto* box = new QGroupBox(tr("Look"), this);
    auto* form = new QFormLayout(box);
    for (const auto& [theme, title] : {std::pair {Theme::System, tr("As the system")},
             std::pair {Theme::Light, tr("Light")}, std::pair {Theme::Dark, tr("Dark")}})
        m_theme->addItem(title, static_cast<int>(theme));
    form->addRow(tr("&Theme"), m_theme);
    connect(m_theme, &QComboBox::activated, this,
        [this] { chooseTheme(static_cast<Theme>(m_theme->currentData().toInt())); });
    return box;
}

QWidget* SettingsDialog::makeRuns()
{
    auto* box = new QGroupBox(tr("Live runs on disk"), this);
    auto* form = new QFormLayout(box);
    auto* folder = new QHBoxLayout;
    m_folder->setPlaceholderText(QDir::toNativeSeparators(defaultRunsFolder()));
    m_folder->setToolTip(tr("Event logs and records of live runs. Empty: the folder that is shown dim"));
    auto* choose = new QPushButton(tr("Choose…"), box);
    folder->addWidget(m_folder, 1);
    folder->addWidget(choose);
    auto* label = new QLabel(tr("&Folder"), box);
    label->setBuddy(m_folder);
    form->addRow(label, folder);
    m_kept->setRange(1, Preferences::mostKeptRuns);
    m_kept->setSuffix(tr(" runs"));
    m_kept->setToolTip(tr("Older ones are removed after each run. Runs that go, and those of the open plan, stay; a "
                          "plan that names a removed run keeps its evidence, not its log"));
    form->addRow(tr("&Keep the last"), m_kept);
    auto* used = new QHBoxLayout;
    used->addWidget(m_used, 1);
    used->addWidget(m_remove);
    form->addRow(tr("Used"), used);
    connect(choose, &QPushButton::clicked, this, &SettingsDialog::chooseFolder);
    connect(m_folder, &QLineEdit::editingFinished, this, [this] { setFolder(m_folder->text().trimmed()); });
    connect(m_kept, &QSpinBox::valueChanged, this,
        [](int kept) { Preferences::instance().setValue(Preferences::KeptRuns, kept); });
    connect(m_remove, &QPushButton::clicked, this, &SettingsDialog::removeOldRuns);
    return box;
}

QWidget* SettingsDialog::makeReport()
{
    auto* box = new QGroupBox(tr("Reports"), this);
    auto* form = new QFormLayout(box);
    m_paper->addItems({QStringLiteral("A4"), QStringLiteral("Letter")});
    m_paper->setToolTip(tr("Of the Report page, until another is chosen there"));
    form->addRow(tr("&Paper"), m_paper);
    m_author->setToolTip(tr("Of reports whose plan names no author"));
    form->addRow(tr("&Author"), m_author);
    connect(m_paper, &QComboBox::activated, this,
        [this] { Preferences::instance().setValue(Preferences::PaperSize, m_paper->currentText()); });
    connect(m_author, &QLineEdit::editingFinished, this,
        [this] { Preferences::instance().setValue(Preferences::Author, m_author->text().trimmed()); });
    return box;
}

void SettingsDialog::showEvent(QShowEvent* event)
{
    QDialog::showEvent(event);
    const Preferences& preferences = Preferences::instance();
    m_theme->setCurrentIndex(m_theme->findData(static_cast<int>(chosenTheme())));
    m_folder->setText(preferences.value(Preferences::RunsFolder).toString());
    m_kept->setValue(preferences.keptRuns());
    m_paper->setCurrentIndex(preferences.usesLetter() ? 1 : 0);
    m_author->setText(preferences.value(Preferences::Author).toString());
    refreshRuns();
}

void SettingsDialog::chooseFolder()
{
    const QString folder
        = QFileDialog::getExistingDirectory(this, tr("Where live runs are kept"), Preferences::instance().runsFolder());
    if (!folder.isEmpty())
        setFolder(folder);
}

void SettingsDialog::setFolder(const QString& folder)
{
    const bool isDefault = folder.isEmpty() || QDir(folder) == QDir(defaultRunsFolder());
    const QString whole = isDefault ? QString() : QFileInfo(folder).absoluteFilePath();
    m_folder->setText(whole);
    Preferences::instance().setValue(Preferences::RunsFolder, whole);
}

void SettingsDialog::refreshRuns()
{
    const Preferences& preferences = Preferences::instance();
    const QVector<StoredRun> runs = storedRuns(preferences.runsFolder());
    qint64 bytes = 0;
    for (const StoredRun& run : runs)
        bytes += run.bytes;
    const QVector<StoredRun> old = oldRuns(runs, preferences.keptRuns(), runFoldersOf(m_document));
    qint64 freed = 0;
    for (const StoredRun& run : old)
        freed += run.bytes;
    const auto words = [](qint64 size) {
        const NumberText text = bytesText(size);
        return QStringLiteral("%1 %2").arg(text.number, text.unit);
    };
    m_used->setText(tr("%1, %2").arg(counted(runs.size(), tr("run"), tr("runs")), words(bytes)));
    m_used->setToolTip(bytesText(bytes).exact);
    m_remove->setEnabled(!old.isEmpty());
    m_remove->setToolTip(old.isEmpty()
            ? tr("Nothing to remove: there are no more than are kept, or the others are of the open plan")
            : tr("Removes %1, %2").arg(counted(old.size(), tr("run"), tr("runs")), words(freed)));
}

int SettingsDialog::removeOldRuns()
{
    const Preferences& preferences = Preferences::instance();
    const QVector<StoredRun> runs = storedRuns(preferences.runsFolder());
    const int gone = removeRuns(oldRuns(runs, preferences.keptRuns(), runFoldersOf(m_document)));
    refreshRuns();
    return gone;
}

} // namespace kvw::gui
