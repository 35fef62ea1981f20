// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "cache/event_log.h"
#include "estimate/estimate.h"
#include "evidence/reconcile.h"
#include "evidence/runs.h"
#include "plan/plan.h"
#include "serving/run_record.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QUndoStack>
#include <QVector>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace kvw::gui {

/// A finished prediction with everything that views show of it.
struct PredictionResult
{
    RunSetup setup;
    RunRecord record;
    std::shared_ptr<const EventLog> events;
};

/// A live run as far as it came.
struct LiveResult
{
    QString id; ///< "run3"
    QString device;
    QString state; ///< "running", "done", "cancelled at step 3 of 9", or a sentence why it stopped
    RunSetup setup;
    std::vector<StepSample> samples;
    std::vector<EvidenceRow> rows;
    std::shared_ptr<const EventLog> events; ///< null while it runs
    std::string planHash;
    QString eventsFile {}; ///< where the run's event log and record are kept; empty: nowhere
    QString recordFile {};
};

/// The open plan: the one owner of its data, of the undo stack and of what was computed from it.
///
/// Every edit is a named undo step. After each the estimate is computed anew, at once; predictions and runs stay and
/// are stale when their plan hash differs. Lives in the GUI thread.
class PlanDocument : public QObject
{
    Q_OBJECT

public:
    explicit PlanDocument(QObject* parent = nullptr);
    ~PlanDocument() override;

    const Plan& plan() const;
    QUndoStack* undoStack();

    /// The estimate, or null with estimateError() when there can be none.
    const Estimate* estimate() const;
    QString estimateError() const;
    /// A figure of the estimate by its path ("engine.blocks"); nothing when there is none.
    std::optional<Quantity> figure(const QString& path) const;
    /// Of the plan, the engine and the estimate together.
    const Diagnostics& diagnostics() const;
    /// SHA-256 of what results depend on.
    const std::string& hash() const;

    /// Replaces the document: a new plan, never saved when `path` is empty. Clears the undo stack and all results.
    void setPlan(Plan plan, const QString& path);
    /// Opens a plan, a config.json or a model folder. Errors as the readers give them; the document is unchanged then.
    Result<void> open(const QString& path);
    /// The plans that come with the program: name and title.
    static QVector<std::pair<QString, QString>> examples();
    /// Opens one of them, as a plan that was never saved.
    Result<void> openExample(const QString& name);
    /// Saves atomically. Errors as savePlan; the old file stays.
    Result<void> save(const QString& path);
    QString path() const;
    /// "name.kvplan", or "untitled".
    QString displayName() const;
    /// True when closing would lose something: edits of the plan, or the evidence of a run.
    bool isModified() const;
    /// True when the plan itself was edited since it was saved.
    bool isEdited() const;
    /// The runs whose evidence the file lacks: "run 1".
    QStringList unsavedRuns() const;
    /// True when the file is no more what was opened or saved last: another program wrote it.
    bool isFileChanged() const;
    /// What is in the file now is known to the user: isFileChanged() is false until it changes again.
    void acceptFile();

    /// Something may still be typed and not be committed. `commit` commits it, or returns false after it told why not.
    void setCommitPending(std::function<bool()> commit);
    /// Before the plan is saved, predicted, run or exported: commits what is still being typed. False: not now.
    bool commitPending();

    /// Sets one field from text as --set would, as one undo step named after the field. An equal value is no step.
    /// Errors as setField, which name the field by its title; the plan is unchanged then.
    Result<void> setField(const QString& path, const QString& text);
    /// Sets several fields, path and text each, as one undo step. Errors as setField; nothing is changed then.
    Result<void> setFields(const QString& name, const QVector<std::pair<QString, QString>>& fields);
    /// Any other edit as one undo step: `change` edits a copy of the plan. A plan that is the same afterwards is no
    /// step.
    void edit(const QString& name, const std::function<void(Plan&)>& change);
    /// The field whose new value was refused last, and the sentence; empty once it has a good value again.
    QString refusedField() const;
    QString refusal() const;
    /// The field at `path` shows a good value again, without an edit.
    void clearRefusal(const QString& path);

    const std::shared_ptr<const PredictionResult>& prediction() const;
    void setPrediction(std::shared_ptr<const PredictionResult> prediction);
    bool isPredictionStale() const;
    const std::vector<std::shared_ptr<const LiveResult>>& runs() const;
    /// Adds a run, or replaces the one of the same id.
    void setRun(std::shared_ptr<const LiveResult> run);
    bool isStale(const LiveResult& run) const;
    /// Evidence of a finished run goes into the plan file without an undo step (it is no edit of the plan).
    void storeEvidence(const LiveResult& run, const QString& time);

signals:
    /// After every edit, undo, redo and load. `path`: the field that changed, empty when more than one may have.
    void planChanged(const QString& path);
    /// The whole document was replaced.
    void reset();
    void predictionChanged();
    void runsChanged();
    void fileChanged();
    /// The value that was refused last is mended, or taken back.
    void refusalCleared();

private:
    friend class PlanCommand;
    void apply(const Plan& plan, const QString& path);
    void recompute();
    Error refuse(const QString& path, Error error);
    void rememberFile();

    Plan m_plan;
    QString m_path;
    QUndoStack m_stack;
    std::optional<Estimate> m_estimate;
    QString m_estimateError;
    Diagnostics m_diagnostics;
    std::string m_hash;
    std::shared_ptr<const PredictionResult> m_prediction;
    std::vector<std::shared_ptr<const LiveResult>> m_runs;
    QStringList m_unsavedRuns;
    std::function<bool()> m_commitPending;
    QString m_refusedField;
    QString m_refusal;
    QByteArray m_fileDigest; ///< of the file as it was opened or saved last; empty: there was none
};

/// A run as people call it: "run 3" of "run3".
QString runName(const QString& id);

} // namespace kvw::gui
