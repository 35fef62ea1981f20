// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a worker says about its devices, the result of a probe and its evidence is read or refused. The first byte
// of the input says which of the three it is.

#include "fuzz/fuzz.h"
#include "import/hf_config.h"
#include "report/json_output.h"
#include "support/example_plans.h"
#include "worker/device_json.h"
#include "worker/probe_outcome.h"
#include "worker/request_json.h"

#include <nlohmann/json.hpp>

using namespace kvw;
using namespace kvw::worker;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    if (data[0] % 3 == 0) {
        const Result<JsonDocument> document = parseJson(text, "devices");
        if (!document)
            return 0;
        const Result<std::vector<OfferedDevice>> devices = devicesFromJson(*document);
        require(devices.ok() || !devices.error().code.empty());
        if (devices) {
            const std::string written = devicesJson(*devices).dump();
            const Result<JsonDocument> again = parseJson(written, "again");
            require(again.ok());
            const Result<std::vector<OfferedDevice>> back = devicesFromJson(*again);
            require(back.ok() && devicesJson(*back).dump() == written);
        }
    } else if (data[0] % 3 == 1) {
        const Result<std::vector<EvidenceRow>> rows = evidenceFromJson(text, "evidence");
        require(rows.ok() || !rows.error().code.empty());
    } else {
        const Result<ProbeOutcome> outcome = probeOutcomeFromJson(text, "result");
        require(outcome.ok() || !outcome.error().code.empty());
    }
    return 0;
}

/// What a small probe on the host says.
std::vector<std::string> fuzz::seeds()
{
    const Result<JsonDocument> config
        = parseJson(R"({"model_type":"llama","vocab_size":9,"num_hidden_layers":2,"hidden_size":64,)"
                    R"("num_attention_heads":2,"torch_dtype":"bfloat16","max_position_embeddings":512})",
            "config.json");
    const Plan plan = test::with(planFromModel(importHuggingFaceConfig(*config).value()),
        {{"limits.maxModelLen", "256"}, {"limits.concurrentSequences", "4"}, {"budget.kvBytesPerRank", "256KiB"},
            {"workload.requests", "5"}});
    ProbeOptions options;
    options.ceilings = false;
    ProbeSink nobody;
    const Result<Probe> probe = runProbeJob(plan, options, HostDevices(), nobody);
    require(probe.ok());
    return {std::string(1, 0) + devicesJson(HostDevices().list()).dump(),
        std::string(1, 1) + evidenceJson(probe->rows).dump(), std::string(1, 2) + probeResultJson(*probe).dump(),
        std::string(1, 2) + R"({"live":{},"device":{},"stopped":{"code":"a","message":"b"}})"};
}
