// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "serving/run_record.h"

// What the numbers of a run's record are, and from which events they are counted: data of explainRecord().
namespace kvw {

/// One number of the whole run.
struct RunFigure
{
    const char* path;
    const char* title;
    Unit unit;
    std::int64_t RunRecord::*value;
    const char* what;
    const char* from;
};

inline constexpr RunFigure runFigures[] {
    {"steps", "steps", Unit::Step, &RunRecord::steps, "Steps of the serving loop until the last request had ended.",
        "Step events, one for each step"},
    {"preemptions", "preemptions", Unit::Request, &RunRecord::preemptions,
        "How often a running request lost its state, so that others could go on.",
        "Preempt events, one for each preemption"},
    {"evictions", "evictions", Unit::Block, &RunRecord::evictions,
        "Cached blocks that lost their identity, so that they could be used anew.", "Evict events, one for each block"},
    {"recomputedTokens", "tokens computed again", Unit::Token, &RunRecord::recomputedTokens,
        "Tokens whose entries had been computed before and were lost by a preemption. Served from the cache at the "
        "next admission they are not computed, and not counted.",
        "in each step, of the tokens computed for a request, those that it had computed before its Preempt event"},
    {"computedTokens", "tokens computed", Unit::Token, &RunRecord::computedTokens,
        "Tokens that the loop computed, prompt and output, repeats counted.", "the tokens scheduled in each step"},
    {"appendedBytes", "bytes appended", Unit::Byte, &RunRecord::appendedBytes,
        "Bytes of the entries that were written, all layer groups together, repeats counted.",
        "the tokens scheduled in each step × bytes per token of each group on the rank"},
    {"readBackEntries", "entries held at the end of requests", Unit::Entry, &RunRecord::readBackEntries,
        "Entries that completed requests held when they ended, all groups: what a live run reads back.",
        "the block tables at each Complete event"},
    {"final.active", "active blocks at the end", Unit::Block, &RunRecord::finalActive,
        "Blocks that a block table still named when the run ended.", "Allocate and Reference less Release and Drop"},
    {"final.cached", "cached blocks at the end", Unit::Block, &RunRecord::finalCached,
        "Blocks in no table that could still be found by their identity.",
        "Index events less Evict events, in no table"},
    {"final.free", "free blocks at the end", Unit::Block, &RunRecord::finalFree,
        "Blocks of nobody, their content meaningless.", "the blocks of the pool less those of all other states"},
    {"final.held", "held blocks", Unit::Block, &RunRecord::finalHeld,
        "Blocks that the engine's layout never gives away (null, dummy, padding).", "Hold events, one for each block"},
};

/// One number of a request.
struct RequestFigure
{
    const char* path;
    const char* title;
    Unit unit;
    std::int64_t RequestRecord::*value;
    const char* from;
};

inline constexpr RequestFigure requestFigures[] {
    {"promptTokens", "prompt tokens", Unit::Token, &RequestRecord::promptTokens, "the value of its Arrive event"},
    {"outputTokens", "output tokens", Unit::Token, &RequestRecord::outputTokens,
        "the value of the event that ended it: one token in each step after its prompt was computed"},
    {"hitTokens", "prompt tokens by prefix hits", Unit::Token, &RequestRecord::hitTokens,
        "the values of its Admit events, all admissions together"},
    {"neverComputed", "prompt tokens never computed", Unit::Token, &RequestRecord::neverComputed,
        "the least value of its Admit events, at most its prompt"},
    {"arrivalStep", "step of its arrival", Unit::Step, &RequestRecord::arrivalStep, "the step of its Arrive event"},
    {"admitStep", "step of its first admission", Unit::Step, &RequestRecord::admitStep,
        "the step of its first Admit event"},
    {"firstTokenStep", "step of its first output token", Unit::Step, &RequestRecord::firstTokenStep,
        "the first step after which its whole prompt was computed"},
    {"endStep", "step in which it ended", Unit::Step, &RequestRecord::endStep,
        "the step of its Complete, Reject, Cancel or Fail event"},
    {"preemptions", "preemptions", Unit::None, &RequestRecord::preemptions, "its Preempt events"},
    {"recomputedTokens", "tokens computed again", Unit::Token, &RequestRecord::recomputedTokens,
        "the tokens computed for it that it had computed before its Preempt event"},
    {"mostBlocks", "most blocks at a time", Unit::Block, &RequestRecord::mostBlocks,
        "its table of the first group after each step: Allocate and Reference less Release and Drop events"},
};

/// A latency in steps.
struct Latency
{
    const char* path;
    const char* title;
    StepDistribution (RunRecord::*of)(bool warm) const;
    const char* from; ///< a step of a request …
    const char* to; ///< … and the later one
    std::int64_t RequestRecord::*first;
    std::int64_t RequestRecord::*last;
    bool perToken;
};

inline constexpr Latency latencies[] {
    {"queueSteps", "steps in the queue", &RunRecord::queueSteps, "arrival", "first admission",
        &RequestRecord::arrivalStep, &RequestRecord::admitStep, false},
    {"firstTokenSteps", "steps to the first token", &RunRecord::firstTokenSteps, "arrival", "first output token",
        &RequestRecord::arrivalStep, &RequestRecord::firstTokenStep, false},
    {"perTokenSteps", "steps per output token", &RunRecord::perTokenSteps, "first output token", "end",
        &RequestRecord::firstTokenStep, &RequestRecord::endStep, true},
    {"endToEndSteps", "steps end to end", &RunRecord::endToEndSteps, "arrival", "end", &RequestRecord::arrivalStep,
        &RequestRecord::endStep, false},
};

/// A share of a distribution's requests, by the name of its quantile.
struct Share
{
    const char* path;
    const char* title;
    double share;
};

inline constexpr Share shares[] {
    {"median", "median", 0.5}, {"p90", "90 %", 0.9}, {"p99", "99 %", 0.99}, {"max", "most", 1}};

} // namespace kvw
