// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/session.h"

#include "worker/device_json.h"
#include "worker/wire_sink.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <new>

namespace kvw::worker {

namespace {

/// What the other side's TextJoiner takes.
constexpr std::size_t mostResultBytes = std::size_t {64} << 20;

std::string textOf(const OrderedJson& json)
{
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// The result's text. A run of very many steps leaves out its samples: the live ones were told as they came.
Result<std::string> makeResultText(const Probe& probe)
{
    OrderedJson json = probeResultJson(probe);
    std::string text = textOf(json);
    if (text.size() > mostResultBytes) {
        for (const char* run : {"prediction", "live"})
            json[run]["samples"] = OrderedJson::array();
        json["samplesLeftOut"] = true;
        text = textOf(json);
    }
    if (text.size() > mostResultBytes)
        return Error {"worker.result", "the result is too long to be sent", {}, fmt::format("{} bytes", text.size()),
            fmt::format("at most {} bytes", mostResultBytes)};
    return text;
}

Result<std::string> resultText(const Probe& probe)
{
    try {
        return makeResultText(probe);
    } catch (const std::bad_alloc&) {
        return Error {"worker.memory", "no memory is left for the result"};
    }
}

/// Names of the phases that a probe goes through.
std::vector<std::string> phasesOf(const ProbeOptions& options)
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < probePhaseCount; ++i) {
        const auto phase = static_cast<ProbePhase>(i);
        if (phase != ProbePhase::Ceilings || options.ceilings)
            out.emplace_back(phaseName(phase));
    }
    return out;
}

Result<Probe> probeWithoutExceptions(const ProbeRequest& request, const DeviceSource& devices, ProbeSink& sink)
{
    try {
        ProbeOptions options = request.options;
        options.created = isoNow();
        return runProbeJob(request.plan, options, devices, sink);
    } catch (const std::bad_alloc&) {
        return Error {"worker.memory", "no memory is left for the run"};
    } catch (const std::exception& error) {
        return Error {"worker.internal", std::string("the run failed inside the program: ") + error.what()};
    }
}

} // namespace

Session::Session(Outbox& outbox, const DeviceSource& devices, Hello mine)
    : m_outbox(outbox)
    , m_devices(devices)
    , m_mine(std::move(mine))
{
    m_thread = std::thread([this] { run(); });
}

Session::~Session()
{
    {
        const std::lock_guard lock(m_mutex);
        cancelAll();
    }
    m_changed.notify_all();
    m_thread.join();
}

void Session::greet()
{
    m_outbox.post(m_mine);
}

Result<void> Session::handle(const Message& message)
{
    if (const auto* hello = std::get_if<Hello>(&message)) {
        if (m_greeted)
            return Error {"protocol.order", "a second hello"};
        const Result<int> version = agreeOnVersion(m_mine, *hello);
        m_greeted = version.ok();
        return version ? Result<void>() : Result<void>(version.error());
    }
    if (!m_greeted)
        return Error {"protocol.order", "the first message is no hello", {}, messageName(typeOf(message)), "hello"};
    if (const auto* request = std::get_if<Request>(&message))
        return handleRequest(*request);
    if (const auto* cancelled = std::get_if<Cancel>(&message)) {
        cancel(cancelled->id);
        return {};
    }
    if (const auto* barrier = std::get_if<Barrier>(&message)) {
        auto task = std::make_shared<Task>();
        task->id = barrier->id;
        task->isBarrier = true;
        add(std::move(task));
        return {};
    }
    if (std::holds_alternative<Stop>(message)) {
        m_stopped = true;
        return {};
    }
    if (std::holds_alternative<Heartbeat>(message))
        return {};
    return Error {"protocol.direction", "only the worker sends this", {}, messageName(typeOf(message))};
}

Result<void> Session::handleRequest(const Request& request)
{
    const bool continues = m_textOpen && request.id == m_lastId;
    if (!continues && request.id <= m_lastId)
        return Error {"protocol.request_id", "the ids of requests must grow", {}, fmt::format("{}", request.id),
            fmt::format("more than {}", m_lastId)};
    const Result<std::optional<std::string>> text = m_text.add(request.id, request.text, request.more);
    if (!text)
        return text.error();
    m_lastId = request.id;
    m_textOpen = request.more;
    if (request.more)
        return {};
    Result<RequestBody> body = requestFromJson(**text, fmt::format("request {}", request.id));
    if (!body)
        m_outbox.post(Failed {request.id, body.error()});
    else if (auto* probe = std::get_if<ProbeRequest>(&*body))
        startProbe(request.id, std::move(*probe));
    else
        answerDevices(request.id);
    return {};
}

void Session::answerDevices(std::uint64_t id)
{
    m_outbox.post(Accepted {id, "devices", {}});
    m_outbox.post(Done {id, textOf(devicesJson(m_devices.list())), false});
}

void Session::startProbe(std::uint64_t id, ProbeRequest request)
{
    const bool busy = [&] {
        const std::lock_guard lock(m_mutex);
        return isBusy();
    }();
    if (busy) {
        m_outbox.post(Failed {id, Error {"worker.busy", "another probe runs; one at a time"}});
        return;
    }
    m_outbox.post(Accepted {id, "probe", phasesOf(request.options)});
    auto task = std::make_shared<Task>();
    task->id = id;
    task->probe = std::move(request);
    add(std::move(task));
}

bool Session::isBusy() const
{
    const auto first = m_tasks.begin() + (m_answering ? 1 : 0);
    return std::any_of(first, m_tasks.end(), [](const auto& task) { return !task->isBarrier; });
}

void Session::add(std::shared_ptr<Task> task)
{
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_changed.notify_all();
}

void Session::cancel(std::uint64_t id)
{
    const std::lock_guard lock(m_mutex);
    for (const std::shared_ptr<Task>& task : m_tasks) {
        if (!task->isBarrier && task->id == id)
            task->cancelled = true;
    }
}

bool Session::finish(std::chrono::milliseconds longest)
{
    std::unique_lock lock(m_mutex);
    cancelAll();
    m_changed.notify_all();
    return m_changed.wait_for(lock, longest, [&] { return m_ended; });
}

void Session::cancelAll()
{
    for (const std::shared_ptr<Task>& task : m_tasks)
        task->cancelled = true;
    m_finishing = true;
}

void Session::run()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [&] { return m_finishing || !m_tasks.empty(); });
        if (m_tasks.empty())
            break;
        const std::shared_ptr<Task> task = m_tasks.front();
        lock.unlock();
        runTask(*task);
        lock.lock();
        m_tasks.pop_front();
        m_answering = false;
    }
    m_ended = true;
    m_changed.notify_all();
}

void Session::runTask(Task& task)
{
    try {
        if (task.isBarrier)
            (void)m_outbox.send(Barrier {task.id});
        else
            runProbe(task);
    } catch (const std::bad_alloc&) {
        m_outbox.breakOff(); // an answer that cannot even be made: the worker ends
    }
}

void Session::runProbe(Task& task)
{
    WireSink sink(m_outbox, task.id, task.cancelled, task.probe.holdBack);
    const Result<Probe> probe = probeWithoutExceptions(task.probe, m_devices, sink);
    sink.flush();
    const Result<std::string> text = probe ? resultText(*probe) : Result<std::string>(probe.error());
    {
        // From its last piece on the other side may ask for the next probe.
        const std::lock_guard lock(m_mutex);
        m_answering = true;
    }
    if (text)
        (void)sendPieces<Done>(m_outbox, task.id, *text);
    else
        (void)m_outbox.send(Failed {task.id, text.error()});
}

} // namespace kvw::worker
