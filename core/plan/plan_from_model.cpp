// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/plan.h"

#include "plan/field_table.h"
#include "plan/import_problems.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// The first workload of a plan: lengths as shares of the longest sequence, two tenants in different sharing groups.
void addFirstWorkload(Plan& plan, std::int64_t longest)
{
    const auto share = [longest](std::int64_t divisor) { return std::max<std::int64_t>(1, longest / divisor); };
    WorkloadFields& workload = plan.workload;
    workload.name = "generated mix";
    workload.seed = 1;
    workload.requests = 48;
    workload.commonPrefixTokens = longest / 64; // a short sequence has no room for prefixes
    workload.sharedPrefixes = 4;
    workload.sharedPrefixTokens = longest / 16;
    workload.promptTokensMin = share(64);
    workload.promptTokensMax = share(8);
    workload.outputTokensMin = share(256);
    workload.outputTokensMax = share(64);
    workload.burstRequests = 6;
    workload.burstGapSteps = 8;
    for (const char* id : {"a", "b"}) {
        Tenant tenant;
        tenant.id = id;
        tenant.name = fmt::format("Tenant {}", id);
        tenant.sharingGroup = fmt::format("group-{}", id);
        tenant.eligibility = Eligibility::Group;
        plan.tenants.push_back(std::move(tenant));
    }
    const Assumption workloadAssumed {"plan.first_workload",
        "No workload is stated: generated requests, dealt to the tenants in turn, with lengths that are shares of the "
        "model's longest sequence.",
        "workload.requests"};
    const Assumption tenantsAssumed {"plan.first_tenants",
        "No tenants are stated: two to begin with, in different sharing groups.", "tenants.a.sharingGroup"};
    plan.assumptions.push_back(workloadAssumed);
    plan.assumptions.push_back(tenantsAssumed);
    forEachField(plan, [&](const FieldReference& field) {
        const bool ofTenants = field.path.starts_with("tenants.");
        if (isStated(field.slot) && (ofTenants || field.path.starts_with("workload.")))
            plan.provenance.set(field.path,
                Source {Source::Kind::Assumption, "assumed", {}, {}, {}, {},
                    ofTenants ? tenantsAssumed.text : workloadAssumed.text});
    });
}

/// What cross attention reads: the most that the model states, until somebody says otherwise.
void addCrossTokens(Plan& plan, const ModelSpec& model)
{
    const auto follow = [&](const std::optional<std::int64_t>& most, std::optional<std::int64_t>& field, const char* id,
                            const char* path, const char* what) {
        if (!most)
            return;
        field = most;
        const Assumption follows {id, fmt::format("{}, {} tokens, for every sequence.", what, grouped(*most)), path};
        plan.assumptions.push_back(follows);
    };
    follow(model.encoderTokens, plan.limits.encoderTokens, "plan.encoder_tokens", "limits.encoderTokens",
        "The cross attention reads the longest encoder sequence that the model states");
    follow(model.imageTokens, plan.limits.imageTokens, "plan.image_tokens", "limits.imageTokens",
        "The cross attention reads one image of the largest size that the model states");
    const bool readsImages = std::any_of(model.groups.begin(), model.groups.end(), [](const LayerGroup& group) {
        return std::any_of(group.tensors.begin(), group.tensors.end(),
            [](const StateTensor& tensor) { return tensor.growth.variable == GrowthVariable::ImageTokens; });
    });
    if (readsImages && !model.imageTokens) {
        plan.limits.imageTokens = 0;
        plan.assumptions.push_back({"plan.no_image", "No size of images is stated: text only.", "limits.imageTokens"});
    }
}

/// Where a model's field lies in a plan.
std::string planPath(const std::string& path)
{
    if (path == "weightBytes")
        return "loaded.weightBytes";
    if (path == "encoderTokens" || path == "imageTokens")
        return "limits." + path;
    return (path.starts_with("groups.") ? "worksheet." : "model.") + path;
}

} // namespace

Plan planFromModel(const ModelSpec& model)
{
    Plan plan;
    plan.document.title = model.name;
    plan.model.name = model.name;
    plan.model.architecture = model.architecture;
    plan.model.revision = model.revision;
    plan.model.basis = ModelBasis::ConfigFile;
    plan.model.maximumPositions = model.maximumPositions;
    plan.model.dtype = model.dtype;
    plan.worksheet.groups = model.groups;
    plan.loaded.weightBytes = model.weightBytes;
    plan.assumptions = model.assumptions;
    for (const auto& [path, source] : model.provenance.entries())
        plan.provenance.set(planPath(path), *source);
    // What the importer wants a planner to look at is part of what the plan rests on, and leads to its field.
    for (const Diagnostic& diagnostic : model.diagnostics)
        plan.assumptions.push_back({diagnostic.id, diagnostic.message,
            fieldOfRemark(plan, diagnostic.id, diagnostic.path, diagnostic.where.at)});

    if (model.dtype != ElementType::NotStated) {
        plan.cache.elementType = model.dtype;
        const Assumption follows {"plan.cache_element_type",
            fmt::format("The cache stores the model's own element type, {}.", factsOf(model.dtype).name),
            "cache.elementType"};
        plan.provenance.set("cache.elementType",
            Source {Source::Kind::Assumption, "the model's element type", {}, {}, {}, {}, follows.text});
        plan.assumptions.push_back(follows);
    }

    if (model.maximumPositions) {
        plan.limits.maxModelLen = model.maximumPositions;
        const Assumption follows {"plan.max_model_len",
            fmt::format("The configured maximum is the longest sequence that the model states, {} tokens.",
                grouped(*model.maximumPositions)),
            "limits.maxModelLen"};
        plan.provenance.set("limits.maxModelLen",
            Source {Source::Kind::Assumption, "the model's longest sequence", {}, {}, {}, {}, follows.text});
        plan.assumptions.push_back(follows);
    }
    addCrossTokens(plan, model);
    addFirstWorkload(plan, model.maximumPositions.value_or(8192));
    return plan;
}

} // namespace kvw
