// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "serving/run_record.h"

#include <QVector>
#include <QWidget>

class QLabel;

namespace kvw::gui {

class ElidedLabel;

/// The prediction in six figures, refusals and preemptions first: a good hit rate does not make up for them. Each
/// number opens.
class PredictionHeadline : public QWidget
{
    Q_OBJECT

public:
    explicit PredictionHeadline(QWidget* parent = nullptr);

    /// `before`: plainFigures() of the prediction of an earlier plan that this one is seen beside, or empty.
    void setRecord(const RunRecord& record, bool stale, const QStringList& before = {});
    /// The six figures as text.
    static QStringList plainFigures(const RunRecord& record);
    /// The figures as they are read, "~ 3", "! 5 of 64".
    QStringList texts() const;

signals:
    /// The user clicked a number; its path.
    void figureSelected(const QString& figure);

private:
    QVector<QLabel*> m_values;
    QVector<ElidedLabel*> m_captions;
    QStringList m_texts;
};

} // namespace kvw::gui
