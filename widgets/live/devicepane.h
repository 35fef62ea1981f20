// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "live/livepreview.h"
#include "worker/device_source.h"
#include "worker/runstory.h"

#include <QWidget>

#include <memory>
#include <vector>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;

namespace kvw::gui {

class MemoryBar;

/// What a run is made on, how much it may reserve, and what runs and what does not.
class DevicePane : public QWidget
{
    Q_OBJECT

public:
    explicit DevicePane(QWidget* parent = nullptr);

    /// As they are entered. What cannot be read keeps the last value.
    const ProbeOptions& options() const;
    void setDevices(const std::vector<OfferedDevice>& devices);
    /// What is shown: of a run once it is set up, else of the preview; either may be null.
    void setShown(const PreviewResult* preview, const RunProgress* run);
    /// Options cannot be changed while a run goes.
    void setRunning(bool running);
    /// Why a run of these options would be refused by the device; empty: it would not.
    QString refusal(const PreviewResult* preview) const;
    /// The facts as "name: value" lines, for tests.
    QStringList facts() const;

signals:
    void optionsChanged();

private:
    void commit();
    void showAmount();
    void setFact(int row, const QString& name, const QString& value, const QString& tip = {});
    const OfferedDevice* device() const;

    ProbeOptions m_options {};
    std::vector<OfferedDevice> m_devices;
    QComboBox* m_device;
    MemoryBar* m_bar;
    QComboBox* m_kind;
    QLineEdit* m_amount;
    QCheckBox* m_ceilings;
    QLabel* m_note;
    QGridLayout* m_grid;
    std::vector<std::pair<QLabel*, QLabel*>> m_facts;
};

} // namespace kvw::gui
