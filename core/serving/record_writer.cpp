// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/run_record.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>

namespace kvw {

namespace {

using Ordered = nlohmann::ordered_json;

std::string text(const Ordered& json)
{
    return json.dump(-1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

Ordered outcomesJson(const std::array<std::int64_t, outcomeCount>& outcomes)
{
    Ordered out;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
        out[outcomeName(static_cast<Outcome>(i))] = outcomes[i];
    return out;
}

} // namespace

RecordWriter::RecordWriter(std::FILE* file, std::string path)
    : m_file(file)
    , m_path(std::move(path))
{}

RecordWriter::~RecordWriter()
{
    std::fclose(m_file);
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::create(const std::string& path)
{
    std::FILE* file = std::fopen(path.c_str(), "wbe");
    if (!file)
        return Error {"io.open", std::string("the run record cannot be written: ") + std::strerror(errno), {path, {}}};
    return std::unique_ptr<RecordWriter>(new RecordWriter(file, path));
}

Result<void> RecordWriter::line(const std::string& content)
{
    if (std::fwrite(content.data(), 1, content.size(), m_file) != content.size() || std::fflush(m_file) != 0)
        return Error {
            "io.write", std::string("the run record cannot be written: ") + std::strerror(errno), {m_path, {}}};
    return {};
}

Result<void> RecordWriter::start(const RunRecord& record, const RunSetup& setup)
{
    Ordered json {{"type", "run"}, {"version", 1}, {"kind", record.kind}, {"device", record.device},
        {"planHash", record.planHash}, {"workloadHash", record.workloadHash}, {"poolFraction", record.poolFraction},
        {"requests", setup.workload.requests.size()}};
    for (const PoolSpec& pool : setup.layout.pools)
        json["pools"].push_back(
            {{"blocks", pool.blocks.value}, {"blockBytes", pool.blockBytes.value}, {"held", pool.held.value}});
    return line(text(json));
}

Result<void> RecordWriter::step(const StepSample& sample)
{
    return line(text({{"type", "step"}, {"step", sample.step}, {"running", sample.running}, {"waiting", sample.waiting},
        {"scheduledTokens", sample.scheduledTokens}, {"active", sample.active}, {"cached", sample.cached},
        {"free", sample.free}, {"activeBytes", sample.activeBytes}, {"cachedBytes", sample.cachedBytes},
        {"reservedBytes", sample.reservedBytes}}));
}

Result<void> RecordWriter::request(const RequestRecord& request, const std::string& tenant)
{
    Ordered json {{"type", "request"}, {"id", request.id}, {"tenant", tenant},
        {"outcome", outcomeName(request.outcome)}, {"promptTokens", request.promptTokens},
        {"outputTokens", request.outputTokens}, {"arrivalStep", request.arrivalStep}, {"admitStep", request.admitStep},
        {"firstTokenStep", request.firstTokenStep}, {"endStep", request.endStep}, {"hitTokens", request.hitTokens},
        {"neverComputed", request.neverComputed}, {"recomputedTokens", request.recomputedTokens},
        {"preemptions", request.preemptions}, {"missCause", missCauseName(request.missCause)}};
    if (!request.reason.empty())
        json["reason"] = request.reason;
    return line(text(json));
}

Result<void> RecordWriter::end(const RunRecord& record)
{
    return line(text({{"type", "end"}, {"complete", record.complete}, {"stopReason", record.stopReason},
        {"steps", record.steps}, {"outcomes", outcomesJson(record.outcomes())}, {"evictions", record.evictions},
        {"preemptions", record.preemptions}, {"recomputedTokens", record.recomputedTokens},
        {"computedTokens", record.computedTokens}, {"appendedBytes", record.appendedBytes}}));
}

} // namespace kvw
