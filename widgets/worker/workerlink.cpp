// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/workerlink.h"

#include "settings/preferences.h"
#include "units/version.h"
#include "worker/device_json.h"
#include "worker/endings.h"
#include "worker/request_json.h"

#include <QCoreApplication>
#include <QFileInfo>

namespace kvw::gui {

namespace {

constexpr int tellTime = 100; // ten times a second
constexpr int mostLogBytes = 2'048;
constexpr int quickEndTime = 1'500;

Error unexpected(const worker::Message& message)
{
    return {"protocol.order", "this message is not expected now", {}, worker::messageName(worker::typeOf(message))};
}

/// The request that a message is about; nothing when it is about none.
std::optional<std::uint64_t> requestOf(const worker::Message& message)
{
    return std::visit(
        [](const auto& one) -> std::optional<std::uint64_t> {
            if constexpr (requires { one.id; })
                return one.id;
            return std::nullopt;
        },
        message);
}

} // namespace

WorkerLink::WorkerLink(ClientSettings settings)
    : m_settings(std::move(settings))
    , m_beat(this)
    , m_deadline(this)
    , m_progressTimer(this)
{
    m_mine.product = "kvworkbench";
    m_mine.version = version();
    m_mine.process = QCoreApplication::applicationPid();
    m_mine.heartbeatSeconds = m_settings.heartbeatTime / 1000.0;
    m_beat.setInterval(m_settings.heartbeatTime);
    m_deadline.setSingleShot(true);
    m_progressTimer.setSingleShot(true);
    m_progressTimer.setInterval(tellTime);
    connect(&m_beat, &QTimer::timeout, this, &WorkerLink::beat);
    connect(&m_deadline, &QTimer::timeout, this, [this] { abandon(m_deadlineSentence); });
    connect(&m_progressTimer, &QTimer::timeout, this, &WorkerLink::tell);
}

WorkerLink::~WorkerLink() = default;

void WorkerLink::setState(WorkerState state, const QString& sentence)
{
    Q_ASSERT(mayFollow(m_state, state));
    m_state = state;
    emit stateChanged(state, sentence, m_process ? m_process->processId() : 0);
}

void WorkerLink::askDevices()
{
    m_wantDevices = true;
    if (m_state == WorkerState::Dead)
        start();
    else
        sendPending();
}

void WorkerLink::run(const RunOrder& order)
{
    m_order = order;
    if (m_state == WorkerState::Dead)
        start();
    else
        sendPending();
}

void WorkerLink::cancel()
{
    if (m_order) {
        refuseRun(*std::exchange(m_order, std::nullopt), RunEnd::How::Cancelled, tr("Cancelled before it began."));
    } else if (m_run && !m_run->progress().cancelling) {
        m_run->setCancelling();
        send(worker::Cancel {m_run->request()});
        m_deadlineSentence = tr("The run did not end within %1 seconds after it was cancelled; the worker was killed.")
                                 .arg(m_settings.cancelTime / 1000);
        m_deadline.start(m_settings.cancelTime);
        m_changed = true;
        tell();
    }
}

void WorkerLink::stop()
{
    if (m_order)
        cancel();
    if (m_state == WorkerState::Starting) {
        abandon(tr("The worker was stopped."));
    } else if (m_state != WorkerState::Dead && m_state != WorkerState::Stopping) {
        if (m_run)
            m_run->setCancelling();
        send(worker::Stop {});
        setState(WorkerState::Stopping);
        m_deadlineSentence
            = tr("The worker did not stop within %1 seconds and was killed.").arg(m_settings.stopTime / 1000);
        m_deadline.start(m_settings.stopTime);
    }
}

void WorkerLink::shutDown()
{
    m_order.reset();
    m_wantDevices = false;
    endProcess();
    for (QProcess* killed : findChildren<QProcess*>())
        killed->waitForFinished(quickEndTime);
}

void WorkerLink::endProcess()
{
    if (!m_process)
        return;
    QProcess* process = m_process;
    process->disconnect(this);
    if (m_state == WorkerState::Handshake || m_state == WorkerState::Idle || m_state == WorkerState::Busy)
        send(worker::Stop {});
    process->closeWriteChannel();
    QElapsedTimer timer;
    timer.start();
    // What still comes is kept: a run that ends here leaves a whole record.
    while (m_process && process->state() != QProcess::NotRunning && timer.elapsed() < quickEndTime) {
        process->waitForReadyRead(50);
        (void)takeFrames();
    }
    if (process->state() != QProcess::NotRunning) {
        process->kill();
        process->waitForFinished(quickEndTime);
    }
    if (!m_process)
        return; // given up: it said something wrong
    (void)takeFrames();
    if (!m_process)
        return;
    m_process = nullptr;
    delete process;
    die({});
}

void WorkerLink::start()
{
    const QString program = m_settings.program.isEmpty() ? workerProgram() : m_settings.program;
    m_process = new QProcess(this);
    m_reader = std::make_unique<worker::FrameReader>();
    m_writer = std::make_unique<worker::FrameWriter>();
    m_greeted = false;
    m_connectionError.reset();
    m_log.clear();
    m_overdue = false;
    m_lastRequest = 0;
    m_devicesRequest = 0;
    m_heard.start();
    setState(WorkerState::Starting);
    if (program.isEmpty() || !QFileInfo(program).isExecutable()) {
        abandon(program.isEmpty()
                ? tr("There is no worker: the program kvw is neither beside this program nor in PATH.")
                : tr("The worker cannot be started: %1 is no program.").arg(program));
        return;
    }
    connect(m_process, &QProcess::started, this, &WorkerLink::started);
    connect(m_process, &QProcess::readyReadStandardOutput, this, &WorkerLink::readOutput);
    connect(m_process, &QProcess::readyReadStandardError, this, &WorkerLink::readLog);
    connect(m_process, &QProcess::finished, this, &WorkerLink::finished);
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            abandon(tr("The worker cannot be started: %1.").arg(m_process->errorString()));
    });
    m_deadlineSentence
        = tr("The worker did not answer within %1 seconds and was killed.").arg(m_settings.handshakeTime / 1000);
    m_deadline.start(m_settings.handshakeTime);
    m_process->start(program, m_settings.arguments);
}

void WorkerLink::started()
{
    setState(WorkerState::Handshake);
    m_heard.start();
    send(m_mine);
    m_beat.start();
}

void WorkerLink::finished(int code, QProcess::ExitStatus status)
{
    readOutput();
    if (!m_process)
        return; // what it had sent last was wrong
    readLog();
    const bool asked = m_state == WorkerState::Stopping;
    const bool orderly = asked && status == QProcess::NormalExit && code == 0;
    const QString sentence = orderly ? tr("The worker was stopped.")
                                     : endingSentence(status, code, m_connectionError, where()) + lastWords();
    m_process->disconnect(this);
    m_process->deleteLater();
    m_process = nullptr;
    die(sentence);
}

void WorkerLink::abandon(const QString& sentence)
{
    QProcess* process = m_process;
    m_process = nullptr;
    process->disconnect(this);
    if (process->state() == QProcess::NotRunning) {
        process->deleteLater();
    } else {
        connect(process, &QProcess::finished, process, &QObject::deleteLater);
        process->kill();
    }
    die(sentence);
}

void WorkerLink::die(const QString& sentence)
{
    m_beat.stop();
    m_deadline.stop();
    m_devicesRequest = 0;
    const bool stopping = m_state == WorkerState::Stopping;
    if (m_run)
        endRun(sentence);
    if (m_order && !stopping) {
        refuseRun(*std::exchange(m_order, std::nullopt), RunEnd::How::Died, sentence);
    }
    m_wantDevices = m_wantDevices && stopping;
    const bool again = m_order || m_wantDevices;
    setState(WorkerState::Dead, sentence);
    if (again)
        start();
}

void WorkerLink::send(const worker::Message& message)
{
    std::vector<std::byte> bytes;
    if (m_process
        && m_writer->write(static_cast<std::uint8_t>(worker::typeOf(message)), worker::encode(message), bytes))
        m_process->write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size()));
}

void WorkerLink::sendRequest(std::uint64_t id, const std::string& text)
{
    std::size_t at = 0;
    do {
        worker::Request piece {id, text.substr(at, worker::mostTextPiece), false};
        at += piece.text.size();
        piece.more = at < text.size();
        send(piece);
    } while (at < text.size());
}

/// What was asked for before the worker could be.
void WorkerLink::sendPending()
{
    const bool ready = m_state == WorkerState::Idle || m_state == WorkerState::Busy;
    if (ready && m_wantDevices && m_devicesRequest == 0) {
        m_wantDevices = false;
        m_devicesRequest = ++m_lastRequest;
        sendRequest(m_devicesRequest, worker::toJson(worker::DevicesRequest {}));
    }
    if (m_state != WorkerState::Idle || !m_order)
        return;
    const RunOrder order = *std::exchange(m_order, std::nullopt);
    const QString folder
        = m_settings.runsFolder.isEmpty() ? Preferences::instance().runsFolder() : m_settings.runsFolder;
    Result<std::unique_ptr<RunReceiver>> run = RunReceiver::begin(order, m_lastRequest + 1, folder);
    if (!run) {
        refuseRun(order, RunEnd::How::Failed, errorClause(run.error()) + QLatin1Char('.'));
        return;
    }
    m_run = std::move(*run);
    m_lastRequest = m_run->request();
    worker::ProbeRequest request;
    request.plan = order.plan;
    request.options = order.options;
    sendRequest(m_lastRequest, worker::toJson(request));
    setState(WorkerState::Busy);
    m_changed = true;
    tell();
}

void WorkerLink::readOutput()
{
    if (m_process)
        (void)takeFrames();
}

void WorkerLink::readLog()
{
    const QByteArray text = m_process->readAllStandardError();
    if (m_run && !text.isEmpty())
        m_run->log(text);
    m_log = (m_log + text).right(mostLogBytes);
}

/// The last line that the worker wrote for people, when it said nothing by the protocol.
QString WorkerLink::lastWords() const
{
    const QByteArray line = m_log.trimmed().split('\n').back().trimmed();
    return m_connectionError || line.isEmpty() ? QString() : tr(" It wrote: %1").arg(QString::fromUtf8(line));
}

bool WorkerLink::takeFrames()
{
    const QByteArray bytes = m_process->readAllStandardOutput();
    if (!bytes.isEmpty()) {
        m_heard.start();
        m_overdue = false;
    }
    m_reader->add(std::as_bytes(std::span(bytes.data(), static_cast<std::size_t>(bytes.size()))));
    for (;;) {
        Result<void> taken;
        const Result<std::optional<worker::Frame>> frame = m_reader->next();
        if (frame && !*frame)
            return true;
        if (frame) {
            const Result<worker::Message> message = worker::decode(**frame);
            taken = message ? take(*message) : Result<void>(message.error());
        } else {
            taken = frame.error();
        }
        if (!m_process)
            return false;
        if (!taken) {
            const bool version = taken.error().code == "protocol.version" || taken.error().code == "frame.version";
            const QString clause = errorClause(taken.error());
            abandon(version
                    ? tr("The worker cannot be used: %1.").arg(clause)
                    : tr("The worker sent what its protocol does not allow and was ended%1: %2.").arg(where(), clause));
            return false;
        }
    }
}

Result<void> WorkerLink::take(const worker::Message& message)
{
    if (const auto* hello = std::get_if<worker::Hello>(&message))
        return takeHello(*hello);
    if (const auto* failed = std::get_if<worker::Failed>(&message); failed && failed->id == 0) {
        m_connectionError = failed->error; // bye and exit follow
        return {};
    }
    if (!m_greeted)
        return unexpected(message);
    if (std::holds_alternative<worker::Heartbeat>(message) || std::holds_alternative<worker::Bye>(message))
        return {};
    const std::optional<std::uint64_t> id = requestOf(message);
    const bool answers = id && !std::holds_alternative<worker::Request>(message)
        && !std::holds_alternative<worker::Cancel>(message) && !std::holds_alternative<worker::Barrier>(message);
    return answers ? takeAboutRequest(message, *id) : Result<void>(unexpected(message));
}

Result<void> WorkerLink::takeHello(const worker::Hello& hello)
{
    if (m_greeted)
        return Error {"protocol.order", "a second hello"};
    if (const Result<int> version = worker::agreeOnVersion(m_mine, hello); !version)
        return version.error();
    m_greeted = true;
    if (m_state != WorkerState::Handshake)
        return {}; // told to stop meanwhile
    m_deadline.stop();
    setState(WorkerState::Idle);
    sendPending();
    return {};
}

Result<void> WorkerLink::takeAboutRequest(const worker::Message& message, std::uint64_t id)
{
    if (m_devicesRequest != 0 && id == m_devicesRequest) {
        if (const auto* done = std::get_if<worker::Done>(&message))
            return takeDevices(*done);
        if (std::holds_alternative<worker::Failed>(message))
            m_devicesRequest = 0;
        else if (!std::holds_alternative<worker::Accepted>(message))
            return unexpected(message);
        return {};
    }
    if (!m_run || id != m_run->request())
        return Error {"protocol.request_id", "a message about a request that is not open"};
    if (const Result<void> taken = m_run->take(message); !taken)
        return taken;
    m_changed = true;
    if (m_run->ended()) {
        if (m_state == WorkerState::Busy)
            m_deadline.stop();
        endRun({});
        if (m_state == WorkerState::Busy)
            setState(WorkerState::Idle);
        sendPending();
    } else {
        if (m_run->trouble())
            cancel();
        if (!m_progressTimer.isActive())
            m_progressTimer.start();
    }
    return {};
}

Result<void> WorkerLink::takeDevices(const worker::Done& done)
{
    if (done.more)
        return Error {"protocol.length", "the list of devices is too long"};
    const Result<JsonDocument> document = parseJson(done.text, "devices");
    if (!document)
        return document.error();
    const Result<std::vector<OfferedDevice>> devices = worker::devicesFromJson(*document);
    if (!devices)
        return devices.error();
    m_devicesRequest = 0;
    emit devicesChanged(*devices);
    return {};
}

void WorkerLink::beat()
{
    if (m_state == WorkerState::Idle || m_state == WorkerState::Busy)
        send(worker::Heartbeat {});
    if (m_state == WorkerState::Stopping || !m_heard.hasExpired(m_settings.silenceTime)) {
        m_overdue = false;
    } else if (!m_overdue) {
        m_overdue = true; // once more: perhaps it was this thread that slept
    } else {
        abandon(tr("The worker stopped answering%1: nothing was heard for %2 seconds. It was killed.")
                    .arg(where())
                    .arg(m_settings.silenceTime / 1000));
    }
}

void WorkerLink::tell()
{
    if (!m_run || !m_changed)
        return;
    m_changed = false;
    auto progress = std::make_shared<const RunProgress>(m_run->snapshot());
    bool waits = false;
    {
        const std::lock_guard lock(m_mutex);
        waits = m_latest != nullptr;
        m_latest = std::move(progress);
    }
    if (!waits)
        emit progressWaits();
}

std::shared_ptr<const RunProgress> WorkerLink::takeProgress()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_latest, nullptr);
}

void WorkerLink::endRun(const QString& death)
{
    m_progressTimer.stop();
    (void)takeProgress(); // the end says more
    auto end = std::make_shared<RunEnd>(m_run->end(death));
    if (death.isEmpty() && !m_run->ended())
        end->how = RunEnd::How::Cancelled;
    m_run.reset();
    emit runEnded(end);
}

void WorkerLink::refuseRun(const RunOrder& order, RunEnd::How how, const QString& sentence)
{
    auto end = std::make_shared<RunEnd>();
    end->progress.id = order.id;
    end->progress.planHash = order.planHash;
    end->how = how;
    end->sentence = sentence;
    emit runEnded(end);
}

QString WorkerLink::where() const
{
    return m_run ? whereText(m_run->progress()) : QString();
}

} // namespace kvw::gui
