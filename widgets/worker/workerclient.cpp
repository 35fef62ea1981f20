// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/workerclient.h"

#include "worker/workerlink.h"

#include <QMetaObject>

namespace kvw::gui {

WorkerClient::WorkerClient(ClientSettings settings, QObject* parent)
    : QObject(parent)
    , m_link(new WorkerLink(std::move(settings)))
{
    m_link->moveToThread(&m_thread);
    connect(
        m_link, &WorkerLink::stateChanged, this, [this](WorkerState state, const QString& sentence, qint64 process) {
            m_state = state;
            m_process = process;
            m_sentence = sentence;
            emit stateChanged(state, sentence);
        });
    connect(m_link, &WorkerLink::devicesChanged, this, [this](const std::vector<OfferedDevice>& devices) {
        m_devices = devices;
        emit devicesChanged();
    });
    connect(m_link, &WorkerLink::progressWaits, this, [this] {
        std::shared_ptr<const RunProgress> latest = m_link->takeProgress();
        if (!latest || !m_running)
            return;
        m_progress = std::move(latest);
        emit progressChanged();
    });
    connect(m_link, &WorkerLink::runEnded, this, [this](const std::shared_ptr<const RunEnd>& end) {
        m_running = false;
        m_progress.reset();
        emit runEnded(end);
    });
    m_thread.setObjectName(QStringLiteral("worker link"));
    m_thread.start();
}

WorkerClient::~WorkerClient()
{
    m_link->disconnect(this);
    post([](WorkerLink& link) {
        link.shutDown();
        link.deleteLater(); // at the end of the thread
        QThread::currentThread()->quit();
    });
    m_thread.wait();
}

template <typename Call>
void WorkerClient::post(Call call)
{
    WorkerLink* link = m_link;
    QMetaObject::invokeMethod(
        link, [link, call] { call(*link); }, Qt::QueuedConnection);
}

WorkerState WorkerClient::state() const
{
    return m_state;
}

QString WorkerClient::sentence() const
{
    return m_sentence;
}

qint64 WorkerClient::processId() const
{
    return m_process;
}

const std::vector<OfferedDevice>& WorkerClient::devices() const
{
    return m_devices;
}

bool WorkerClient::isRunning() const
{
    return m_running;
}

std::shared_ptr<const RunProgress> WorkerClient::progress() const
{
    return m_progress;
}

void WorkerClient::askDevices()
{
    post([](WorkerLink& link) { link.askDevices(); });
}

void WorkerClient::run(const RunOrder& order)
{
    m_running = true;
    m_progress.reset();
    post([order](WorkerLink& link) { link.run(order); });
}

void WorkerClient::cancel()
{
    post([](WorkerLink& link) { link.cancel(); });
}

void WorkerClient::stop()
{
    post([](WorkerLink& link) { link.stop(); });
}

} // namespace kvw::gui
