// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Opening, saving and closing: what is asked before something would be lost.

#include "live/liveprobepage.h"
#include "models/numbertext.h"
#include "newplan/newplandialog.h"
#include "newplan/savemodeldialog.h"
#include "problems/importnotice.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "shell/pendingedits.h"
#include "worksheet/startpanel.h"

#include <QAction>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QTime>

namespace kvw::gui {

namespace {

constexpr int mostRecent = 10;
constexpr auto recentKey = "files/recent";
constexpr auto geometryKey = "window/geometry";
constexpr auto saveCause = "save";
constexpr auto openCause = "open";

QMessageBox* question(QWidget* parent, const QString& title, const QString& text)
{
    auto* box = new QMessageBox(QMessageBox::Question, title, text, QMessageBox::NoButton, parent);
    box->setTextFormat(Qt::PlainText); // names of files are no markup
    box->setAttribute(Qt::WA_DeleteOnClose);
    return box;
}

} // namespace

void MainWindow::refreshRecent()
{
    m_recent->clear();
    const QStringList files = QSettings().value(QLatin1String(recentKey)).toStringList();
    for (const QString& file : files) {
        QAction* action = m_recent->addAction(file, this, [this, file] { openAsked(file); });
        action->setEnabled(QFileInfo::exists(file));
    }
    m_recent->setEnabled(!files.isEmpty());
    findChild<StartPanel*>()->setRecent(files);
}

bool MainWindow::openPath(const QString& path)
{
    const Result<void> opened = m_document.open(path);
    if (!opened) {
        Error error = opened.error();
        if (QFileInfo(QString::fromStdString(error.where.file)) == QFileInfo(path))
            error.where.file.clear(); // it is named already, and the line is short
        m_message->show(
            tr("%1 was not opened: %2").arg(QFileInfo(path).fileName(), QString::fromStdString(error.text())), {},
            QLatin1String(openCause));
        return false;
    }
    m_message->dismiss();
    if (!QFileInfo::exists(path))
        return true; // a model of the library is no recent file
    QStringList files = QSettings().value(QLatin1String(recentKey)).toStringList();
    const QString full = QFileInfo(path).absoluteFilePath();
    files.removeAll(full);
    files.prepend(full);
    QSettings().setValue(QLatin1String(recentKey), QStringList(files.mid(0, mostRecent)));
    refreshRecent();
    if (m_document.path().isEmpty()) // a model, for which a plan was made
        m_imported->tell(QFileInfo(path).fileName());
    return true;
}

void MainWindow::openAsked(const QString& path)
{
    if (!path.isEmpty() && confirmDiscard())
        openPath(path);
}

void MainWindow::openDialog()
{
    // Asked only once it is known what is to be opened: until then the plan may change, by the end of a run.
    openAsked(QFileDialog::getOpenFileName(this, tr("Open a plan or a model file"), m_document.path(),
        tr("Plans and models (*.kvplan *.json *.gguf *.safetensors);;All files (*)")));
}

void MainWindow::openFolderDialog()
{
    openAsked(QFileDialog::getExistingDirectory(
        this, tr("Open a model folder: the one that has config.json"), QFileInfo(m_document.path()).absolutePath()));
}

void MainWindow::newPlan()
{
    QStringList recent;
    for (const QString& file : QSettings().value(QLatin1String(recentKey)).toStringList()) {
        if (QFileInfo::exists(file))
            recent.push_back(file);
    }
    NewPlanDialog dialog(recent, NewPlanDialog::defaultLibraryFolder(), this);
    if (dialog.exec() != QDialog::Accepted)
        return;
    // Asked only once it is known what is to be opened, as for a file.
    if (!dialog.file().isEmpty())
        openAsked(dialog.file());
    else if (std::optional<Plan> plan = dialog.plan(); plan && confirmDiscard())
        openModel(std::move(*plan));
}

/// A plan that was made for a model, or an empty one: not yet saved.
void MainWindow::openModel(Plan plan)
{
    m_document.setPlan(std::move(plan), {});
    m_imported->tell(fromStd(m_document.plan().model.name));
}

void MainWindow::saveModel()
{
    if (!m_document.commitPending())
        return;
    auto* dialog = new SaveModelDialog(m_document, NewPlanDialog::defaultLibraryFolder(), this);
    connect(dialog, &SaveModelDialog::saved, this, [this](const QString& file) {
        m_message->showDone(tr("The model is in the own library: %1. New… lists it first.").arg(file));
    });
    dialog->show();
}

void MainWindow::openExample(const QString& name)
{
    if (!confirmDiscard())
        return;
    if (const Result<void> opened = m_document.openExample(name); !opened)
        m_message->show(QString::fromStdString(opened.error().text()), {}, QLatin1String(openCause));
    else
        m_message->dismiss();
}

bool MainWindow::saveTo(const QString& path)
{
    if (!m_document.commitPending())
        return false;
    const Result<void> saved = m_document.save(path);
    if (!saved) {
        m_message->show(
            tr("Not saved: %1").arg(QString::fromStdString(saved.error().text())), {}, QLatin1String(saveCause));
        return false;
    }
    m_message->dismissCause(QLatin1String(saveCause));
    m_savedStatus->setText(tr("Saved %1").arg(QTime::currentTime().toString(QStringLiteral("HH:mm"))));
    return true;
}

bool MainWindow::save()
{
    if (m_document.path().isEmpty())
        return saveAs();
    return m_document.commitPending() && confirmOverwrite() && saveTo(m_document.path());
}

/// Another program wrote the file: what it wrote goes only if the user says so.
bool MainWindow::confirmOverwrite()
{
    if (!m_document.isFileChanged())
        return true;
    QMessageBox* box = question(this, tr("Changed by another program"),
        tr("%1 was changed by another program since it was opened or saved here. Saving replaces what that program "
           "wrote.")
            .arg(m_document.displayName()));
    QPushButton* overwrite = box->addButton(tr("&Overwrite"), QMessageBox::DestructiveRole);
    QPushButton* other = box->addButton(tr("Save &as…"), QMessageBox::AcceptRole);
    QPushButton* again = box->addButton(tr("&Open it again"), QMessageBox::DestructiveRole);
    again->setToolTip(tr("Takes what is in the file; the changes in this window go"));
    box->addButton(QMessageBox::Cancel);
    box->setDefaultButton(other);
    box->setAttribute(Qt::WA_DeleteOnClose, false);
    box->exec();
    const QAbstractButton* chosen = box->clickedButton();
    box->deleteLater();
    if (chosen == overwrite)
        return true;
    if (chosen == other)
        saveAs();
    else if (chosen == again)
        openPath(m_document.path());
    return false;
}

bool MainWindow::saveAs()
{
    if (!m_document.commitPending())
        return false;
    const QString path
        = QFileDialog::getSaveFileName(this, tr("Save the plan"), m_document.path(), tr("Plans (*.kvplan)"));
    return !path.isEmpty() && saveTo(path);
}

QString MainWindow::whatIsLost() const
{
    QStringList parts;
    if (isRunningLive())
        parts.push_back(tr("A live run is going: it is stopped, and its evidence is not kept."));
    if (m_document.isEdited())
        parts.push_back(tr("%1 has changes that are not saved.").arg(m_document.displayName()));
    const QStringList runs = m_document.unsavedRuns();
    if (!runs.isEmpty())
        parts.push_back(tr("Evidence of %1 is not saved.").arg(runs.join(QStringLiteral(", "))));
    return parts.join(QLatin1Char('\n'));
}

bool MainWindow::confirmDiscard()
{
    if (!m_document.commitPending())
        return false;
    // While the question stands a run may end, and what would be lost is another thing then.
    for (QString lost = whatIsLost(); !lost.isEmpty();) {
        QMessageBox* box = question(this, tr("Not saved"), lost);
        box->setAttribute(Qt::WA_DeleteOnClose, false);
        const bool mayBeSaved = m_document.isModified();
        box->setStandardButtons(
            QMessageBox::Discard | QMessageBox::Cancel | (mayBeSaved ? QMessageBox::Save : QMessageBox::NoButton));
        if (!mayBeSaved)
            box->button(QMessageBox::Discard)->setText(tr("&Stop the run"));
        box->setDefaultButton(mayBeSaved ? QMessageBox::Save : QMessageBox::Cancel);
        const int answer = box->exec();
        box->deleteLater();
        if (answer != QMessageBox::Save && answer != QMessageBox::Discard)
            return false;
        if (answer == QMessageBox::Save && !save())
            return false;
        const QString now = whatIsLost();
        if (now == lost || now.isEmpty() || (answer == QMessageBox::Save && !m_document.isModified()))
            return true;
        lost = now;
    }
    return true;
}

bool MainWindow::isRunningLive() const
{
    auto* live = qobject_cast<LiveProbePage*>(page(QStringLiteral("liveprobe")));
    return live && live->controller().isRunning();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    event->setAccepted(confirmDiscard());
    if (event->isAccepted()) {
        saveLayout();
        QSettings().setValue(QLatin1String(geometryKey), saveGeometry());
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    openAsked(event->mimeData()->urls().front().toLocalFile());
}

} // namespace kvw::gui
