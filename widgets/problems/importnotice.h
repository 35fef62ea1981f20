// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <QString>

namespace kvw::gui {

class MessageBar;
class PlanDocument;

/// Says in the message bar what the importer could not vouch for, once, when a model was opened; its button leads to
/// the first such field. All of them stand in Problems.
class ImportNotice : public QObject
{
    Q_OBJECT

public:
    ImportNotice(PlanDocument& document, MessageBar& bar, QObject* parent);

    /// A model was opened under this name.
    void tell(const QString& name);

signals:
    void goToField(const QString& path);

private:
    PlanDocument& m_document;
    MessageBar& m_bar;
    QString m_shown; ///< by this, as the bar has it
    QString m_path; ///< where its button leads
};

} // namespace kvw::gui
