// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/identity.h"
#include "plan/import_problems.h"

#include "units/amount.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

namespace kvw {

namespace {

void identityDiagnostics(const Plan& plan, Diagnostics& out)
{
    for (const IdentityRow& row : identityOf(plan)) {
        if (!row.text) {
            out.push_back({Severity::Warning, "identity." + row.id,
                row.title + ": not stated. A reviewer cannot tell which deployment the plan describes.",
                row.paths.front()});
        }
    }
}

void limitDiagnostics(const Plan& plan, Diagnostics& out)
{
    const LimitFields& limits = plan.limits;
    if (limits.promptTokens && limits.outputTokens && limits.maxModelLen) {
        const std::optional<std::int64_t> sum = checkedAdd(*limits.promptTokens, *limits.outputTokens);
        if (!sum || *sum > *limits.maxModelLen) {
            out.push_back({Severity::Error, "limits.sum",
                fmt::format(
                    "Prompt and output limits together ({} + {}) are more than the configured maximum of {} tokens.",
                    grouped(*limits.promptTokens), grouped(*limits.outputTokens), grouped(*limits.maxModelLen)),
                "limits.promptTokens"});
        }
    }
    if (limits.maxModelLen && plan.model.maximumPositions && *limits.maxModelLen > *plan.model.maximumPositions) {
        out.push_back({Severity::Warning, "limits.beyond_model",
            fmt::format("The configured maximum of {} tokens is beyond the {} that the model states.",
                grouped(*limits.maxModelLen), grouped(*plan.model.maximumPositions)),
            "limits.maxModelLen"});
    }
    if (plan.worksheet.retainedTokens && limits.maxModelLen && *plan.worksheet.retainedTokens > *limits.maxModelLen) {
        out.push_back({Severity::Error, "worksheet.retained",
            "More tokens are presently retained than the configured maximum allows.", "worksheet.retainedTokens"});
    }
    if (plan.worksheet.retainedTokens
        && (plan.worksheet.retainedAt.empty() || plan.worksheet.retainedFrom == RetainedFrom::NotStated)) {
        out.push_back({Severity::Warning, "worksheet.retained_stamp",
            "The reading of presently retained tokens has no time or no origin.", "worksheet.retainedAt"});
    }
}

void workloadDiagnostics(const Plan& plan, Diagnostics& out)
{
    const WorkloadFields& workload = plan.workload;
    const auto check = [&](const std::optional<std::int64_t>& least, const std::optional<std::int64_t>& most,
                           const char* id, const char* what, const char* path) {
        if (least && most && *least > *most) {
            out.push_back({Severity::Error, id,
                fmt::format("Workload: the least {} of {} tokens is more than the most, {}.", what, grouped(*least),
                    grouped(*most)),
                path});
        }
    };
    check(workload.promptTokensMin, workload.promptTokensMax, "workload.prompt", "private prompt",
        "workload.promptTokensMin");
    const std::int64_t most = plan.limits.maxModelLen.value_or(INT64_MAX);
    std::optional<std::int64_t> longest = 0;
    for (const std::optional<std::int64_t>& part :
        {workload.commonPrefixTokens, workload.sharedPrefixTokens, workload.promptTokensMax, workload.outputTokensMax})
        longest = longest ? checkedAdd(*longest, part.value_or(0)) : longest;
    if (!longest || *longest > most) {
        out.push_back({Severity::Warning, "workload.beyond_limit",
            fmt::format("The workload's longest requests, up to {} tokens, are beyond the configured maximum of {}: a "
                        "run rejects them.",
                longest ? grouped(*longest) : "2^63", grouped(most)),
            "workload.promptTokensMax"});
    }
    const std::optional<std::int64_t> prompts
        = checkedAdd(workload.commonPrefixTokens.value_or(0) + workload.sharedPrefixTokens.value_or(0),
            workload.promptTokensMax.value_or(0));
    const auto beyond = [&](const std::optional<std::int64_t>& longestPart, const std::optional<std::int64_t>& limit,
                            const char* id, const char* what, const char* path) {
        if (longestPart && limit && *longestPart > *limit)
            out.push_back({Severity::Warning, id,
                fmt::format(
                    "The workload's {}, up to {} tokens, are beyond the limit of {} that the plan states. A run "
                    "takes them all the same: the limit is the gateway's.",
                    what, grouped(*longestPart), grouped(*limit)),
                path});
    };
    beyond(prompts, plan.limits.promptTokens, "workload.beyond_prompt_limit", "prompts", "limits.promptTokens");
    beyond(workload.outputTokensMax, plan.limits.outputTokens, "workload.beyond_output_limit", "outputs",
        "limits.outputTokens");
    check(workload.outputTokensMin, workload.outputTokensMax, "workload.output", "output", "workload.outputTokensMin");
}

/// What the group's kind promises and its tensors do not keep, or "". A kind is only a name for tensors: the figures
/// follow the tensors, so a wrong name misleads whoever reads it.
std::string contradictsKind(const LayerGroup& group)
{
    const auto any = [&](auto predicate) {
        return std::any_of(group.tensors.begin(), group.tensors.end(),
            [&](const StateTensor& tensor) { return predicate(tensor.growth); });
    };
    const bool grows = any([](const GrowthLaw& growth) { return growth.growsWithTokens(); });
    switch (group.kind) {
    case LayerKind::Full:
        return any([](const GrowthLaw& growth) { return growth.form == GrowthForm::Linear && growth.limit; })
            ? "it keeps no more than a window"
            : "";
    case LayerKind::Sliding:
    case LayerKind::Chunked:
        return grows ? "it keeps every token: a tensor has no limit" : "";
    case LayerKind::Recurrent:
        return grows ? "it grows with the tokens: a tensor has no limit" : "";
    default:
        return {};
    }
}

void worksheetDiagnostics(const Plan& plan, Diagnostics& out)
{
    std::set<std::string> ids;
    for (const LayerGroup& group : plan.worksheet.groups)
        ids.insert(group.id);
    for (const LayerGroup& group : plan.worksheet.groups) {
        const std::string base = "worksheet.groups." + group.id + ".";
        if (group.kind == LayerKind::Shared) {
            if (!ids.contains(group.readsGroup) || group.readsGroup == group.id) {
                out.push_back({Severity::Error, "worksheet.reads",
                    fmt::format(
                        "{} reads the state of \"{}\", which is not another group.", group.id, group.readsGroup),
                    base + "readsGroup"});
            }
        } else if (group.tensors.empty()) {
            out.push_back({Severity::Warning, "worksheet.no_tensors", group.id + " keeps no tensors.", base + "kind"});
        }
        if (const std::string why = contradictsKind(group); !why.empty()) {
            out.push_back({Severity::Warning, "worksheet.kind",
                fmt::format("{} is called {}, but {}. The figures follow the tensors.", group.id,
                    layerKindNames()[static_cast<std::size_t>(group.kind)], why),
                base + "kind"});
        }
        if (!group.layerIndices.empty()) {
            const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
            if (!layers || static_cast<std::int64_t>(layers->size()) != group.layers) {
                out.push_back({Severity::Error, "worksheet.layer_indices",
                    fmt::format("{}: the layers listed are not {} layers.", group.id, group.layers),
                    base + "layerIndices"});
            }
        }
    }
    if (plan.model.basis == ModelBasis::Hypothetical) {
        out.push_back({Severity::Note, "model.hypothetical",
            "The shape is hypothetical: its sizes are shape arithmetic, not a GPU fit.", "model.basis"});
    }
}

void tenantDiagnostics(const Plan& plan, Diagnostics& out)
{
    for (const Tenant& tenant : plan.tenants) {
        const std::string base = "tenants." + tenant.id + ".";
        const auto add = [&](Severity severity, const char* id, const std::string& message, const char* field) {
            out.push_back({severity, id, fmt::format("Tenant {}: {}", tenant.id, message), base + field});
        };
        if (tenant.eligibility == Eligibility::Group && tenant.sharingGroup.empty())
            add(Severity::Error, "tenant.no_group", "shares with its group, but no group is stated.", "sharingGroup");
        if (tenant.eligibility == Eligibility::NotStated)
            add(Severity::Warning, "tenant.eligibility", "who may hit its state is not stated; it is kept alone.",
                "eligibility");
        if (tenant.identitySource == IdentitySource::ClientField || tenant.identitySource == IdentitySource::None) {
            add(Severity::Warning, "tenant.identity_client",
                "its identity is written by the client or absent: a tenant who sends another group's salt is in that "
                "group.",
                "identitySource");
        }
        if (tenant.saltSource == SaltSource::Client || tenant.saltSource == SaltSource::None)
            add(Severity::Warning, "tenant.salt_client", "its salt is chosen by the client or absent.", "saltSource");
        if (tenant.loggingBoundary == LoggingBoundary::PlainHashes)
            add(Severity::Warning, "tenant.plain_hashes",
                "short prefixes can be guessed from block hashes without a key.", "loggingBoundary");
        if (tenant.retention == Retention::TimeToLive && !tenant.retentionSeconds)
            add(Severity::Error, "tenant.retention", "is kept for a time that is not stated.", "retentionSeconds");
        if (tenant.guaranteedBlocks && tenant.maximumBlocks && *tenant.guaranteedBlocks > *tenant.maximumBlocks)
            add(Severity::Error, "tenant.quota", "more blocks are guaranteed than it may hold.", "guaranteedBlocks");
    }
}

/// Evidence is data in a file: what cannot be the outcome of a run is told.
void evidenceDiagnostics(const Plan& plan, Diagnostics& out)
{
    static constexpr std::array<std::string_view, 6> verdicts {
        "", "agrees", "differs", "not comparable", "same counter", "not put to the test"};
    for (const EvidenceSummary& row : plan.evidence) {
        const std::string base = "evidence." + row.id + ".";
        if (std::find(verdicts.begin(), verdicts.end(), row.verdict) == verdicts.end())
            out.push_back({Severity::Error, "evidence.verdict",
                fmt::format("Evidence {}: \"{}\" is no verdict.", row.id, row.verdict), base + "verdict"});
        const std::optional<double>& other = row.predicted ? row.predicted : row.estimated;
        const bool known = row.difference && row.measured && other;
        if (known && std::abs(*row.measured - *other - *row.difference) > 1e-9 * std::abs(*row.measured))
            out.push_back({Severity::Error, "evidence.difference",
                fmt::format("Evidence {}: the difference is not measured − {}.", row.id,
                    row.predicted ? "predicted" : "estimated"),
                base + "difference"});
    }
}

} // namespace

Diagnostics diagnose(const Plan& plan)
{
    Diagnostics out;
    identityDiagnostics(plan, out);
    limitDiagnostics(plan, out);
    worksheetDiagnostics(plan, out);
    tenantDiagnostics(plan, out);
    workloadDiagnostics(plan, out);
    evidenceDiagnostics(plan, out);
    const Diagnostics ofImport = importProblems(plan);
    out.insert(out.end(), ofImport.begin(), ofImport.end());
    return out;
}

} // namespace kvw
