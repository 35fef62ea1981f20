// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/trust.h"

#include "plan/field_table.h"
#include "serving/run_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// The others of the tenant's sharing domain.
std::vector<std::size_t> partners(const Plan& plan, std::size_t tenant)
{
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    std::vector<std::size_t> out;
    for (std::size_t other = 0; other < domains.size(); ++other) {
        if (other != tenant && domains[other].id == domains[tenant].id)
            out.push_back(other);
    }
    return out;
}

/// ", and no longer shares with a, b": of `partners` all but `other`.
std::string givenUp(const Plan& plan, const std::vector<std::size_t>& partners, std::size_t other)
{
    std::vector<std::string> names;
    for (const std::size_t partner : partners) {
        if (partner != other)
            names.push_back(nameOf(plan.tenants[partner]));
    }
    return names.empty() ? "" : fmt::format(", and no longer shares with {}", fmt::join(names, ", "));
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
    const std::vector<std::size_t> ofRow = partners(plan, row);
    if (!share) {
        set(plan, plan.tenants[row].id, "eligibility", "tenant");
        return fmt::format("{} keeps its state for itself", nameOf(plan.tenants[row])) + givenUp(plan, ofRow, column);
    }
    // Who is alone loses nothing by moving.
    const bool columnMoves = !ofRow.empty() && partners(plan, column).empty();
    const Tenant& mover = plan.tenants[columnMoves ? column : row];
    const Tenant& host = plan.tenants[columnMoves ? row : column];
    if (!inGroup(host)) {
        set(plan, host.id, "sharingGroup", ownGroup(plan, host));
        set(plan, host.id, "eligibility", "group");
    }
    set(plan, mover.id, "sharingGroup", host.sharingGroup);
    set(plan, mover.id, "eligibility", "group");
    return fmt::format("{} joins {}", nameOf(mover), host.sharingGroup)
        + (columnMoves ? "" : givenUp(plan, ofRow, column));
}

} // namespace kvw
