// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "forms/fieldform.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"

#include <QAbstractButton>
#include <QApplication>
#include <QFile>
#include <QLineEdit>
#include <QMessageBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

namespace kvw::gui {

inline QString example(const char* name)
{
    return qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/resources/examples/") + QLatin1String(name);
}

/// A window on a copy of the reference plan that may be saved.
struct Bench
{
    explicit Bench(QSize size = {1440, 900})
    {
        path = folder.filePath("a.kvplan");
        QFile::copy(example("reference.kvplan"), path);
        QFile(path).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
        if (!window.openPath(path))
            qFatal("the example was not opened");
        window.setWindowState(Qt::WindowNoState);
        window.resize(size);
        window.show();
        window.activateWindow();
        if (!QTest::qWaitForWindowActive(&window))
            qFatal("the window was not activated");
    }

    void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        window.activateWindow(); // a question may have been before it
        QTRY_VERIFY(QApplication::activeWindow() == &window && !QApplication::activeModalWidget());
        QCoreApplication::processEvents();
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus ? focus : &window, static_cast<Qt::Key>(key), modifiers);
    }

    /// Goes to the field's editor and types over what it holds.
    QLineEdit* type(const QString& field, const QString& text)
    {
        window.showPage("deployment");
        window.goToField(field);
        auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
        if (!line || line->property(fieldProperty).toString() != field)
            qFatal("the field's editor has no focus");
        line->selectAll();
        QTest::keyClicks(line, text);
        return line;
    }

    Plan saved() const
    {
        PlanDocument document;
        return document.open(path) ? document.plan() : Plan();
    }

    QString message() const { return window.messageBar()->text(); }
    PlanDocument& document() { return window.document(); }

    QTemporaryDir folder;
    QString path;
    MainWindow window;
};

/// Answers the next question with the button whose text has `button`; gives its text when it came.
struct Answer
{
    explicit Answer(const QString& button)
    {
        QObject::connect(&timer, &QTimer::timeout, &timer, [this, button] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box)
                return;
            text = box->text();
            timer.stop();
            for (QAbstractButton* one : box->buttons()) {
                if (one->text().remove('&').contains(button))
                    return one->click();
            }
            box->reject();
        });
        timer.start(20);
    }

    QTimer timer;
    QString text;
};

} // namespace kvw::gui
