// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "evidence/reconcile.h"
#include "serving/run_record.h"
#include "worker/probe_job.h"
#include "worker/probe_outcome.h"
#include "worker/run_spool.h"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace kvw::gui {

/// What a worker is asked to run.
struct RunOrder
{
    QString id; ///< "run3"
    Plan plan {};
    std::string planHash; ///< of the document; the run's own plan may have got an engine
    ProbeOptions options {};
};

/// A part of a run as far as it came.
struct PhaseStatus
{
    enum class State {
        Waiting,
        Running,
        Done,
        CutShort, ///< begun, and the run ended in it
    };

    ProbePhase phase = ProbePhase::Setup;
    State state = State::Waiting;
    double seconds = 0; ///< once it is done
};

/// A run as far as it came. Samples are thinned out when there are many; the record file has them all.
struct RunProgress
{
    QString id;
    std::string planHash;
    std::shared_ptr<const RunSetup> setup; ///< null until the worker's plan was set up
    std::vector<PhaseStatus> phases;
    std::optional<PoolReservation> reservation;
    std::optional<MemoryReading> memory;
    std::optional<MemoryCeilings> ceilings;
    std::int64_t step = 0; ///< the last one that was told
    std::int64_t predictedSteps = 0; ///< 0: not told yet
    std::vector<StepSample> samples;
    std::int64_t events = 0;
    bool cancelling = false;
};

/// How a run ended, and everything that came of it.
struct RunEnd
{
    enum class How {
        Done,
        Cancelled,
        Failed, ///< the worker lives and says why
        Died, ///< the worker is gone
    };

    How how = How::Done;
    QString sentence; ///< empty for a run that did what it should
    bool complete = false; ///< every request ended, and the evidence is of the whole run
    RunProgress progress {};
    std::vector<EvidenceRow> rows {};
    std::optional<worker::ProbeOutcome> outcome {};
    std::optional<worker::SpoolFiles> files {}; ///< null when nothing could be written
    bool hasLog = false; ///< files.events is there
};

/// The phase that runs, or nothing.
std::optional<ProbePhase> runningPhase(const RunProgress& progress);

} // namespace kvw::gui
