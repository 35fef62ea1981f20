// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QFrame>
#include <QVector>

class QToolButton;

namespace kvw::gui {

class ElidedLabel;
class PlanDocument;

/// The eleven facts without which a plan cannot be reviewed, and what is loaded. Folds to one line; each fact leads to
/// its field by a click.
class IdentityPanel : public QFrame
{
    Q_OBJECT

public:
    explicit IdentityPanel(PlanDocument& document, QWidget* parent = nullptr);

    bool isFolded() const;
    void setFolded(bool folded);
    /// Folds when the window is low, unless the user chose for himself.
    void foldFor(int windowHeight);

signals:
    void goToField(const QString& path);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Fact
    {
        QString path;
        ElidedLabel* title = nullptr;
        ElidedLabel* value = nullptr;
    };
    void refresh();

    PlanDocument& m_document;
    QToolButton* m_fold;
    ElidedLabel* m_line;
    ElidedLabel* m_missing;
    QWidget* m_grid;
    QVector<Fact> m_facts;
    bool m_chosen = false;
};

} // namespace kvw::gui
