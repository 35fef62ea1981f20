// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plandocument.h"

#include "document/plancommand.h"
#include "import/json.h"
#include "plan/field_table.h"
#include "plan/identity.h"
#include "plan/open_plan.h"
#include "plan/plan_json.h"

#include <QCryptographicHash>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

// Outside any namespace, as the macro demands. A static library's resources are not found without it.
static void initExamples()
{
    Q_INIT_RESOURCE(examples);
}

namespace kvw::gui {

PlanDocument::PlanDocument(QObject* parent)
    : QObject(parent)
{
    connect(&m_stack, &QUndoStack::cleanChanged, this, [this] { emit fileChanged(); });
    recompute();
}

PlanDocument::~PlanDocument()
{
    m_stack.disconnect(this); // it tells its end, and nobody shall hear of a document that is half gone
}

const Plan& PlanDocument::plan() const
{
    return m_plan;
}

QUndoStack* PlanDocument::undoStack()
{
    return &m_stack;
}

const Estimate* PlanDocument::estimate() const
{
    return m_estimate ? &*m_estimate : nullptr;
}

QString PlanDocument::estimateError() const
{
    return m_estimateError;
}

std::optional<Quantity> PlanDocument::figure(const QString& path) const
{
    return m_estimate && !path.isEmpty() ? figureAt(*m_estimate, path.toStdString()) : std::nullopt;
}

const Diagnostics& PlanDocument::diagnostics() const
{
    return m_diagnostics;
}

const std::string& PlanDocument::hash() const
{
    return m_hash;
}

void PlanDocument::setPlan(Plan plan, const QString& path)
{
    m_stack.clear();
    m_stack.setClean();
    m_unsavedRuns.clear();
    m_plan = std::move(plan);
    m_path = path;
    rememberFile();
    clearRefusal(m_refusedField);
    m_prediction.reset();
    m_runs.clear();
    recompute();
    emit reset();
    emit planChanged({});
    emit predictionChanged();
    emit runsChanged();
    emit fileChanged();
}

Result<void> PlanDocument::open(const QString& path)
{
    Result<OpenedPlan> opened = openPlanOrModel(path.toStdString());
    if (!opened)
        return opened.error();
    // For a model, a plan of its own, not yet saved.
    setPlan(std::move(opened->plan), opened->isPlanFile ? QFileInfo(path).absoluteFilePath() : QString());
    return {};
}

QVector<std::pair<QString, QString>> PlanDocument::examples()
{
    return {{QStringLiteral("reference"), tr("Reference shape: full attention only")},
        {QStringLiteral("gpt-oss-120b"), tr("gpt-oss-120b: window and full layers")},
        {QStringLiteral("deepseek-r1-tp8"), tr("DeepSeek-R1: latent attention, eight ranks")}};
}

Result<void> PlanDocument::openExample(const QString& name)
{
    initExamples();
    QFile file(QStringLiteral(":/examples/%1.kvplan").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return Error {"io.open", "there is no such example", {name.toStdString(), {}}};
    const Result<JsonDocument> document = parseJson(file.readAll().toStdString(), name.toStdString());
    if (!document)
        return document.error();
    Result<Plan> plan = planFromJson(*document);
    if (!plan)
        return plan.error();
    setPlan(std::move(*plan), {});
    return {};
}

Result<void> PlanDocument::save(const QString& path)
{
    Result<void> saved = savePlan(m_plan, path.toStdString());
    if (!saved)
        return saved;
    m_path = QFileInfo(path).absoluteFilePath();
    m_unsavedRuns.clear();
    rememberFile();
    m_stack.setClean();
    emit fileChanged();
    return {};
}

QString PlanDocument::path() const
{
    return m_path;
}

QString PlanDocument::displayName() const
{
    return m_path.isEmpty() ? tr("untitled") : QFileInfo(m_path).fileName();
}

bool PlanDocument::isModified() const
{
    return isEdited() || !m_unsavedRuns.isEmpty();
}

bool PlanDocument::isEdited() const
{
    return !m_stack.isClean();
}

QStringList PlanDocument::unsavedRuns() const
{
    return m_unsavedRuns;
}

namespace {

/// Of what is in the file now; empty when it cannot be read.
QByteArray digestOf(const QString& path)
{
    QFile file(path);
    QCryptographicHash hash(QCryptographicHash::Sha256);
    return !path.isEmpty() && file.open(QIODevice::ReadOnly) && hash.addData(&file) ? hash.result() : QByteArray();
}

} // namespace

void PlanDocument::rememberFile()
{
    m_fileDigest = digestOf(m_path);
}

bool PlanDocument::isFileChanged() const
{
    return !m_path.isEmpty() && QFile::exists(m_path) && digestOf(m_path) != m_fileDigest;
}

void PlanDocument::acceptFile()
{
    rememberFile();
}

void PlanDocument::setCommitPending(std::function<bool()> commit)
{
    m_commitPending = std::move(commit);
}

bool PlanDocument::commitPending()
{
    return !m_commitPending || m_commitPending();
}

namespace {

QString toQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// "Layers of full", "Concurrency": the field's title, and whose it is.
QString fieldName(const FieldReference& field)
{
    const QString title = toQString(field.field->title);
    const QStringList parts = QString::fromStdString(field.path).split(QLatin1Char('.'));
    if (toQString(field.field->path) == parts.join(QLatin1Char('.')))
        return title;
    const QStringList own = toQString(field.field->path).split(QLatin1Char('.'));
    const QStringList owner = parts.mid(0, parts.size() - own.size());
    // "worksheet.groups.full.tensors.k": ids are every second part from the end on.
    const bool tensor = owner.size() >= 4 && owner[owner.size() - 2] == QLatin1String("tensors");
    const QString id = tensor ? owner[owner.size() - 3] + QLatin1Char('.') + owner.back() : owner.back();
    return PlanDocument::tr("%1 of %2").arg(title, id);
}

} // namespace

Result<void> PlanDocument::setField(const QString& path, const QString& text)
{
    Plan changed = m_plan;
    const std::string key = path.toStdString();
    if (const Result<void> set = kvw::setField(changed, key, text.toStdString()); !set)
        return refuse(path, set.error());
    clearRefusal(path);
    const FieldReference before = *findField(m_plan, key);
    const FieldReference after = *findField(changed, key);
    if (fieldText(*before.field, before.slot) == fieldText(*after.field, after.slot))
        return {};
    const QString value = QString::fromStdString(fieldDisplay(*after.field, after.slot));
    m_stack.push(new PlanCommand(*this, m_plan, std::move(changed), path, tr("%1: %2").arg(fieldName(after), value)));
    return {};
}

Result<void> PlanDocument::setFields(const QString& name, const QVector<std::pair<QString, QString>>& fields)
{
    Plan changed = m_plan;
    bool differs = false;
    for (const auto& [path, text] : fields) {
        const std::string key = path.toStdString();
        const Result<FieldReference> before = findField(m_plan, key);
        if (const Result<void> set = kvw::setField(changed, key, text.toStdString()); !set)
            return refuse(path, set.error());
        clearRefusal(path);
        const FieldReference after = *findField(changed, key);
        differs = differs || fieldText(*before->field, before->slot) != fieldText(*after.field, after.slot);
    }
    if (differs)
        m_stack.push(new PlanCommand(*this, m_plan, std::move(changed), {}, name));
    return {};
}

Error PlanDocument::refuse(const QString& path, Error error)
{
    if (const Result<FieldReference> field = findField(m_plan, path.toStdString()))
        error.where.at = fieldName(*field).toStdString();
    m_refusedField = path;
    m_refusal = QString::fromStdString(error.text());
    return error;
}

QString PlanDocument::refusedField() const
{
    return m_refusedField;
}

QString PlanDocument::refusal() const
{
    return m_refusal;
}

void PlanDocument::clearRefusal(const QString& path)
{
    if (m_refusedField.isEmpty() || m_refusedField != path)
        return;
    m_refusedField.clear();
    m_refusal.clear();
    emit refusalCleared();
}

void PlanDocument::edit(const QString& name, const std::function<void(Plan&)>& change)
{
    Plan changed = m_plan;
    change(changed);
    if (planToJson(changed) == planToJson(m_plan))
        return;
    m_stack.push(new PlanCommand(*this, m_plan, std::move(changed), {}, name));
}

const std::shared_ptr<const PredictionResult>& PlanDocument::prediction() const
{
    return m_prediction;
}

void PlanDocument::setPrediction(std::shared_ptr<const PredictionResult> prediction)
{
    m_prediction = std::move(prediction);
    emit predictionChanged();
}

bool PlanDocument::isPredictionStale() const
{
    return m_prediction && m_prediction->setup.planHash != m_hash;
}

const std::vector<std::shared_ptr<const LiveResult>>& PlanDocument::runs() const
{
    return m_runs;
}

void PlanDocument::setRun(std::shared_ptr<const LiveResult> run)
{
    const auto same
        = std::find_if(m_runs.begin(), m_runs.end(), [&](const auto& known) { return known->id == run->id; });
    if (same != m_runs.end())
        *same = std::move(run);
    else
        m_runs.push_back(std::move(run));
    emit runsChanged();
}

bool PlanDocument::isStale(const LiveResult& run) const
{
    return run.planHash != m_hash;
}

void PlanDocument::storeEvidence(const LiveResult& run, const QString& time)
{
    m_plan.evidence = summaries(run.rows, run.id.toStdString());
    RunReference reference;
    reference.id = run.id.toStdString();
    reference.kind = "live run";
    reference.planHash = run.planHash;
    reference.device = run.device.toStdString();
    reference.at = time.toStdString();
    reference.events = run.eventsFile.toStdString();
    reference.record = run.recordFile.toStdString();
    reference.poolFraction = run.setup.poolFraction;
    std::erase_if(m_plan.runs, [&](const RunReference& known) { return known.id == reference.id; });
    m_plan.runs.push_back(std::move(reference));
    const QString name = runName(run.id);
    if (!m_unsavedRuns.contains(name))
        m_unsavedRuns.push_back(name); // the file lacks it: ask on close
    emit runsChanged();
    emit fileChanged();
}

void PlanDocument::apply(const Plan& plan, const QString& path)
{
    // Evidence is not under undo: it belongs to the runs, whatever the plan is.
    std::vector<EvidenceSummary> evidence = std::move(m_plan.evidence);
    std::vector<RunReference> runs = std::move(m_plan.runs);
    m_plan = plan;
    m_plan.evidence = std::move(evidence);
    m_plan.runs = std::move(runs);
    recompute();
    // The refused text stands no more for anything when its field changed elsewhere, or by undo.
    if (path.isEmpty() || path == m_refusedField)
        clearRefusal(m_refusedField);
    emit planChanged(path);
}

QString runName(const QString& id)
{
    static const QRegularExpression number(QStringLiteral("^run(\\d+)$"));
    const QRegularExpressionMatch match = number.match(id);
    return match.hasMatch() ? PlanDocument::tr("run %1").arg(match.captured(1)) : id;
}

void PlanDocument::recompute()
{
    m_hash = planHash(m_plan);
    Result<Estimate> result = kvw::estimate(m_plan);
    if (result) {
        m_estimate = std::move(*result);
        m_estimateError.clear();
        m_diagnostics = m_estimate->diagnostics;
    } else {
        m_estimate.reset();
        m_estimateError = m_plan.worksheet.groups.empty() ? tr("The worksheet has no layer group yet.")
                                                          : QString::fromStdString(result.error().text());
        m_diagnostics = diagnose(m_plan);
        m_diagnostics.push_back(
            {Severity::Error, result.error().code, result.error().message, result.error().where.at, {}});
    }
}

} // namespace kvw::gui
