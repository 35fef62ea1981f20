// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/trust.h"

#include "plan/field_table.h"
#include "serving/run_setup.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

const std::string& nameOf(const Tenant& tenant)
{
    return tenant.name.empty() ? tenant.id : tenant.name;
}

bool inGroup(const Tenant& tenant)
{
    return tenant.eligibility == Eligibility::Group && !tenant.sharingGroup.empty();
}

void set(Plan& plan, const std::string& id, const char* field, const std::string& value)
{
    // Cannot fail: the path exists, and the values are a text and a name of the table.
    (void)setField(plan, fmt::format("tenants.{}.{}", id, field), value);
}

/// A group that nobody but `owner` is in or names.
std::string ownGroup(const Plan& plan, const Tenant& owner)
{
    const auto taken = [&](const std::string& name) {
        return std::any_of(plan.tenants.begin(), plan.tenants.end(),
            [&](const Tenant& tenant) { return tenant.id != owner.id && tenant.sharingGroup == name; });
    };
    std::string name = owner.sharingGroup.empty() ? "group-" + owner.id : owner.sharingGroup;
    const std::string stem = name;
    for (int i = 2; taken(name); ++i)
        name = fmt::format("{}-{}", stem, i);
    return name;
}

} // namespace

std::vector<std::vector<Trust>> trustMatrix(const Plan& plan)
{
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    const std::size_t count = plan.tenants.size();
    std::vector<std::vector<Trust>> out(count, std::vector<Trust>(count, Trust::Never));
    for (std::size_t row = 0; row < count; ++row) {
        for (std::size_t column = 0; column < count; ++column) {
            if (row == column)
                out[row][column] = Trust::Own;
            else if (domains[row].id == domains[column].id)
                out[row][column] = Trust::Group;
        }
    }
    return out;
}

std::string setTrust(Plan& plan, std::size_t row, std::size_t column, bool share)
{
    const std::string id = plan.tenants[row].id;
    const std::string name = nameOf(plan.tenants[row]);
    if (!share) {
        set(plan, id, "eligibility", "tenant");
        return fmt::format("{} keeps its state for itself", name);
    }
    if (!inGroup(plan.tenants[column])) {
        const std::string host = plan.tenants[column].id;
        set(plan, host, "sharingGroup", ownGroup(plan, plan.tenants[column]));
        set(plan, host, "eligibility", "group");
    }
    const std::string group = plan.tenants[column].sharingGroup;
    set(plan, id, "sharingGroup", group);
    set(plan, id, "eligibility", "group");
    return fmt::format("{} joins {}", name, group);
}

} // namespace kvw
