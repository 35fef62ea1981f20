// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <QString>
#include <QVariant>

namespace kvw::gui {

/// What the user chose for all plans, kept between starts. One table names keys and defaults; whoever depends on a
/// choice listens to changed(). The theme is kept by style/theme.h, which needs it before anything else. Lives in the
/// GUI thread; values may be read in any.
class Preferences : public QObject
{
    Q_OBJECT

public:
    enum Key {
        RunsFolder, ///< text; empty: the default folder
        KeptRuns, ///< number: so many runs stay on disk
        PaperSize, ///< "A4" or "Letter"
        Author, ///< of reports whose plan names none
    };
    static constexpr int mostKeptRuns = 10'000;

    /// The one of the program.
    static Preferences& instance();

    QVariant value(Key key) const;
    /// An equal value changes nothing.
    void setValue(Key key, const QVariant& value);

    /// Where runs are kept: the chosen folder, else the default one.
    QString runsFolder() const;
    int keptRuns() const; ///< at least 1
    bool usesLetter() const;

signals:
    void changed(kvw::gui::Preferences::Key key);

private:
    Preferences() = default;
};

} // namespace kvw::gui
