// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/worker_main.h"

#include "units/version.h"
#include "worker/session.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <unistd.h>

namespace kvw::worker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int pollMilliseconds = 250; // how late the watchdog may be
constexpr std::chrono::milliseconds drainTime {5'000};

/// Why a worker ends.
struct Ending
{
    WorkerExit code = WorkerExit::Ended;
    std::string reason {};
    std::optional<Error> error {}; ///< told to the other side
};

/// Standard input and output, taken away from everything else in the process.
class Pipes
{
public:
    Pipes()
        : m_in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3))
        , m_out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
    {
        std::fflush(stdout);
        (void)::dup2(STDERR_FILENO, STDOUT_FILENO);
        if (const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
            (void)::dup2(nothing, STDIN_FILENO);
            ::close(nothing);
        }
    }
    ~Pipes()
    {
        ::close(m_in);
        ::close(m_out);
    }
    Pipes(const Pipes&) = delete;
    Pipes& operator=(const Pipes&) = delete;

    int in() const { return m_in; }
    int out() const { return m_out; }

private:
    int m_in;
    int m_out;
};

/// Reads, handles and watches until there is a reason to end.
class Loop
{
public:
    Loop(const Pipes& pipes, Session& session, const Outbox& outbox, const WorkerSettings& settings)
        : m_pipes(pipes)
        , m_session(session)
        , m_outbox(outbox)
        , m_settings(settings)
    {}

    Ending run()
    {
        std::optional<Ending> ending;
        while (!ending) {
            // The output is watched only for nobody reading it.
            std::array<pollfd, 2> files {pollfd {m_pipes.in(), POLLIN, 0}, pollfd {m_pipes.out(), 0, 0}};
            const int ready = ::poll(files.data(), files.size(), pollMilliseconds);
            if (m_outbox.broken() || (ready > 0 && (files[1].revents & POLLERR) != 0))
                ending = Ending {WorkerExit::OutputLost, "nobody reads the output"};
            else if (ready > 0 && files[0].revents != 0)
                ending = read();
            else if (m_settings.watchdog.count() > 0 && Clock::now() - m_heard > m_settings.watchdog)
                ending = silence();
        }
        return *ending;
    }

private:
    std::optional<Ending> read()
    {
        const ssize_t got = ::read(m_pipes.in(), m_buffer.data(), m_buffer.size());
        if (got < 0)
            return errno == EINTR || errno == EAGAIN ? std::nullopt : std::optional(endOfInput());
        if (got == 0)
            return endOfInput();
        m_heard = Clock::now();
        m_reader.add(std::as_bytes(std::span(m_buffer.data(), static_cast<std::size_t>(got))));
        for (;;) {
            Result<std::optional<Frame>> frame = m_reader.next();
            if (!frame)
                return refused(frame.error());
            if (!*frame)
                return std::nullopt;
            const Result<Message> message = decode(**frame);
            if (!message)
                return refused(message.error());
            if (const Result<void> handled = m_session.handle(*message); !handled)
                return refused(handled.error());
            if (m_session.stopped())
                return Ending {WorkerExit::Ended, "stop"};
        }
    }

    Ending endOfInput() const
    {
        if (m_reader.pending() == 0)
            return {WorkerExit::Ended, "end of input"};
        return refused(Error {
            "frame.truncated", "the input ends inside a frame", {}, fmt::format("{} bytes", m_reader.pending())});
    }

    static Ending refused(const Error& error)
    {
        const bool version = error.code == "protocol.version" || error.code == "frame.version";
        return {version ? WorkerExit::Version : WorkerExit::Protocol, error.code, error};
    }

    Ending silence() const
    {
        const double seconds = std::chrono::duration<double>(m_settings.watchdog).count();
        return {WorkerExit::Watchdog, "watchdog",
            Error {"worker.watchdog", fmt::format("nothing was heard for {} seconds", seconds)}};
    }

    const Pipes& m_pipes;
    Session& m_session;
    const Outbox& m_outbox;
    const WorkerSettings& m_settings;
    FrameReader m_reader {};
    std::array<char, 65536> m_buffer {};
    Clock::time_point m_heard = Clock::now();
};

Hello helloOf(const WorkerSettings& settings)
{
    Hello hello;
    hello.product = "kvw";
    hello.version = version();
    hello.process = ::getpid();
    hello.heartbeatSeconds = std::chrono::duration<double>(settings.heartbeat).count();
    hello.watchdogSeconds = std::chrono::duration<double>(settings.watchdog).count();
    return hello;
}

/// Lets the run end and tells the rest. False when the run does not end.
bool windUp(Session& session, Outbox& outbox, const Ending& ending, const WorkerSettings& settings)
{
    const bool orderly = ending.code == WorkerExit::Ended;
    const bool ended = orderly && session.finish(settings.grace);
    if (ending.error)
        outbox.post(Failed {0, *ending.error});
    outbox.post(Bye {ending.reason, static_cast<int>(ending.code)});
    // Nobody waits for room in the outbox from here on, and nothing of a run that still goes is told any more.
    outbox.close();
    if (!ended && !session.finish(settings.grace))
        return false;
    (void)outbox.drain(drainTime);
    return true;
}

int work(const DeviceSource& devices, const WorkerSettings& settings)
{
    const Pipes pipes;
    if (pipes.in() < 0 || pipes.out() < 0) {
        fmt::print(stderr, "kvw worker: standard input or output is closed\n");
        return static_cast<int>(WorkerExit::Protocol);
    }
    Outbox outbox(pipes.out(), settings.heartbeat);
    Session session(outbox, devices, helloOf(settings));
    session.greet();
    const Ending ending = Loop(pipes, session, outbox, settings).run();
    if (ending.code != WorkerExit::Ended)
        fmt::print(stderr, "kvw worker: {}\n", ending.error ? ending.error->text() : ending.reason);
    if (!windUp(session, outbox, ending, settings)) {
        fmt::print(stderr, "kvw worker: the run does not stop; the process ends without it\n");
        ::_exit(static_cast<int>(WorkerExit::Stuck));
    }
    return static_cast<int>(ending.code);
}

} // namespace

int runWorker(const DeviceSource& devices, const WorkerSettings& settings)
{
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return work(devices, settings);
    } catch (const std::exception& error) {
        fmt::print(stderr, "kvw worker: {}\n", error.what());
    }
    return static_cast<int>(WorkerExit::Internal);
}

} // namespace kvw::worker
