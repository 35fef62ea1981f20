// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/event_file.h"
#include "cache/event_log.h"
#include "support/example_plans.h"
#include "worker/protocol.h"
#include "worker/request_json.h"

#include <QDeadlineTimer>
#include <QProcess>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>

namespace kvw::test {

/// Starts `kvw worker` and talks to it. What it is told by the worker it keeps in order.
class WorkerClient
{
public:
    explicit WorkerClient(const QStringList& arguments = {})
    {
        m_process.start(QString::fromLocal8Bit(std::getenv("KVW_BINARY")), QStringList {"worker"} + arguments);
        m_process.waitForStarted();
    }
    ~WorkerClient()
    {
        m_process.kill();
        m_process.waitForFinished();
    }

    QProcess& process() { return m_process; }
    std::string error; ///< first thing that was wrong with what the worker sent

    static worker::Hello hello()
    {
        worker::Hello out;
        out.product = "test";
        out.version = "7.8";
        return out;
    }
    void greet() { send(hello()); }
    void send(const worker::Message& message)
    {
        std::vector<std::byte> bytes;
        if (m_writer.write(static_cast<std::uint8_t>(worker::typeOf(message)), worker::encode(message), bytes))
            sendBytes(bytes);
    }
    void sendBytes(const std::vector<std::byte>& bytes)
    {
        m_process.write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size()));
        m_process.waitForBytesWritten(10);
    }
    template <typename Body>
    void request(std::uint64_t id, const Body& body)
    {
        send(worker::Request {id, worker::toJson(body), false});
    }

    /// The next message that is no heartbeat; nothing when the worker has ended or says nothing for a long time.
    std::optional<worker::Message> next(int milliseconds = 120'000)
    {
        const QDeadlineTimer deadline(milliseconds);
        for (;;) {
            while (std::optional<worker::Message> message = taken()) {
                if (!std::holds_alternative<worker::Heartbeat>(*message))
                    return message;
                ++heartbeats;
            }
            if (!error.empty() || deadline.hasExpired())
                return std::nullopt;
            if (!m_process.waitForReadyRead(200) && m_process.state() == QProcess::NotRunning
                && m_process.bytesAvailable() == 0)
                return std::nullopt;
            beat();
        }
    }
    /// Messages up to the next of the type T, which is returned; those before it are in `passed`.
    template <typename T>
    std::optional<T> until()
    {
        passed.clear();
        while (std::optional<worker::Message> message = next()) {
            if (const T* wanted = std::get_if<T>(&*message))
                return *wanted;
            passed.push_back(std::move(*message));
        }
        return std::nullopt;
    }
    /// The whole text of the next result.
    std::optional<std::string> result()
    {
        worker::TextJoiner joiner;
        std::vector<worker::Message> before;
        for (;;) {
            const std::optional<worker::Done> piece = until<worker::Done>();
            before.insert(before.end(), passed.begin(), passed.end());
            if (!piece)
                return std::nullopt;
            const Result<std::optional<std::string>> text = joiner.add(piece->id, piece->text, piece->more);
            passed = before;
            if (!text || *text)
                return text ? *text : std::nullopt;
        }
    }
    /// Exit code once the worker has ended; −1 when it does not, −2 when a signal ended it.
    int exitCode()
    {
        if (m_process.state() != QProcess::NotRunning && !m_process.waitForFinished(60'000))
            return -1;
        return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -2;
    }

    std::vector<worker::Message> passed;
    int heartbeats = 0;
    bool silent = false; ///< send no heartbeats

private:
    std::optional<worker::Message> taken()
    {
        const QByteArray bytes = m_process.readAllStandardOutput();
        m_reader.add(std::as_bytes(std::span(bytes.data(), static_cast<std::size_t>(bytes.size()))));
        Result<std::optional<worker::Frame>> frame = m_reader.next();
        if (!frame) {
            error = frame.error().text();
            return std::nullopt;
        }
        if (!*frame)
            return std::nullopt;
        const Result<worker::Message> message = worker::decode(**frame);
        if (!message) {
            error = message.error().text();
            return std::nullopt;
        }
        return *message;
    }
    void beat()
    {
        if (silent || !m_greeted.hasExpired() || m_process.state() != QProcess::Running)
            return;
        send(worker::Heartbeat {});
        m_greeted.setRemainingTime(1000);
    }

    QProcess m_process;
    worker::FrameReader m_reader {};
    worker::FrameWriter m_writer {};
    QDeadlineTimer m_greeted {1000};
};

/// Keeps the events of one request, as a receiver does that must lose nothing.
class Spool
{
public:
    /// False when the message does not continue what is there.
    bool take(const worker::Message& message)
    {
        if (const auto* header = std::get_if<worker::LogHeader>(&message)) {
            Result<EventLogHeader> read = headerFromJson(header->text, "log header");
            if (!read || log)
                return false;
            log = std::make_unique<EventLog>(std::move(*read));
        } else if (const auto* digests = std::get_if<worker::Digests>(&message)) {
            if (!log || digests->first != log->digests().size())
                return false;
            for (const BlockKey& key : digests->digests)
                (void)log->addDigest(key);
        } else if (const auto* events = std::get_if<worker::Events>(&message)) {
            if (!log || events->first != log->events().size())
                return false;
            for (const Event& event : events->events) {
                if (event.kind == EventKind::Index && event.value >= log->digests().size())
                    return false;
                log->add(event);
            }
        } else if (const auto* batch = std::get_if<worker::Samples>(&message)) {
            samples.insert(samples.end(), batch->samples.begin(), batch->samples.end());
        }
        return true;
    }
    bool takeAll(const std::vector<worker::Message>& messages)
    {
        return std::all_of(messages.begin(), messages.end(), [&](const worker::Message& one) { return take(one); });
    }

    std::unique_ptr<EventLog> log {};
    std::vector<StepSample> samples {};
};

inline worker::ProbeRequest probeOf(const Plan& plan)
{
    worker::ProbeRequest out;
    out.plan = plan;
    out.options.ceilings = false;
    return out;
}

/// A run of seconds, most of them in the steps phase.
inline worker::ProbeRequest longProbe()
{
    return probeOf(with(smallPlan(), {{"workload.requests", "400"}}));
}

inline worker::ProbeRequest smallProbe()
{
    return probeOf(smallPlan());
}

/// A client that has shaken hands.
inline std::unique_ptr<WorkerClient> connected(const QStringList& arguments = {})
{
    auto client = std::make_unique<WorkerClient>(arguments);
    client->greet();
    if (!client->until<worker::Hello>())
        return nullptr;
    return client;
}

inline std::string failureCode(WorkerClient& client, std::uint64_t id)
{
    const std::optional<worker::Failed> failed = client.until<worker::Failed>();
    return failed && failed->id == id ? failed->error.code : "no failure of that id";
}

/// False when there is no program to test.
inline bool prepareWorkerTest()
{
    std::signal(SIGPIPE, SIG_IGN);
    const char* binary = std::getenv("KVW_BINARY");
    return binary && *binary;
}

} // namespace kvw::test
