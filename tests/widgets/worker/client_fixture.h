// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plan/identity.h"
#include "support/example_plans.h"
#include "worker/workerclient.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>

#include <csignal>
#include <memory>
#include <optional>

namespace kvw::test {

constexpr int longTime = 60'000;

inline gui::RunOrder orderOf(const Plan& plan, const QString& id, bool ceilings = false)
{
    gui::RunOrder out;
    out.id = id;
    out.plan = plan;
    out.planHash = planHash(plan);
    out.options.ceilings = ceilings;
    return out;
}

inline Plan longPlan()
{
    return with(smallPlan(), {{"workload.requests", "400"}});
}

/// A client with its story: every state that it went through, in order, and how its last run ended.
class Watched
{
public:
    explicit Watched(const QString& folder, gui::ClientSettings settings = {})
        : m_client(withFolder(std::move(settings), folder))
    {
        QObject::connect(
            &m_client, &gui::WorkerClient::stateChanged, &m_client, [this](gui::WorkerState state, const QString&) {
                legal = legal && gui::mayFollow(states.back(), state);
                states.push_back(state);
            });
        QObject::connect(&m_client, &gui::WorkerClient::runEnded, &m_client,
            [this](const std::shared_ptr<const gui::RunEnd>& one) { ends.push_back(one); });
        QObject::connect(&m_client, &gui::WorkerClient::progressChanged, &m_client, [this] {
            ++news;
            last = m_client.progress();
        });
    }

    gui::WorkerClient& client() { return m_client; }
    /// The end of the run; null when none comes.
    std::shared_ptr<const gui::RunEnd> end(int milliseconds = longTime)
    {
        QElapsedTimer timer;
        timer.start();
        while (m_client.isRunning() && timer.elapsed() < milliseconds)
            QTest::qWait(2);
        return m_client.isRunning() || ends.empty() ? nullptr : ends.back();
    }
    bool reaches(gui::WorkerState state, int milliseconds = longTime)
    {
        return QTest::qWaitFor([&] { return m_client.state() == state; }, milliseconds);
    }
    std::shared_ptr<const gui::RunEnd> run(const gui::RunOrder& order)
    {
        m_client.run(order);
        return end();
    }
    void kill(int number = SIGKILL) { ::kill(static_cast<pid_t>(m_client.processId()), number); }

    std::vector<gui::WorkerState> states {gui::WorkerState::Dead};
    bool legal = true; ///< every change is one of the documented ones
    std::vector<std::shared_ptr<const gui::RunEnd>> ends;
    int news = 0;
    std::shared_ptr<const gui::RunProgress> last;

private:
    static gui::ClientSettings withFolder(gui::ClientSettings settings, const QString& folder)
    {
        settings.runsFolder = folder;
        return settings;
    }

    gui::WorkerClient m_client;
};

/// What `kvw` prints for these arguments; nothing when it refuses them.
inline std::optional<QByteArray> kvwOutput(const QStringList& arguments)
{
    QProcess process;
    process.start(QString::fromLocal8Bit(std::getenv("KVW_BINARY")), arguments);
    if (!process.waitForFinished(longTime) || process.exitCode() != 0)
        return std::nullopt;
    return process.readAllStandardOutput();
}

} // namespace kvw::test
