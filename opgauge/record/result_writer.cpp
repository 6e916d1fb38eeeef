// SPDX-License-Identifier: Apache-2.0
#include "opgauge/record/result_writer.h"

#include "opgauge/record/run_dir.h"

#include <utility>

namespace opgauge {
namespace {

constexpr std::chrono::seconds kSyncInterval{1};

}  // namespace

ResultWriter::ResultWriter(std::filesystem::path run_dir, LineAppender rows, LineAppender samples)
    : run_dir_(std::move(run_dir)), rows_(std::move(rows)), samples_(std::move(samples)) {}

Result<ResultWriter> ResultWriter::open(const std::filesystem::path& run_dir) {
    OPGAUGE_TRY_ASSIGN(LineAppender rows, LineAppender::open(run_dir / RunFiles::kRows));
    OPGAUGE_TRY_ASSIGN(LineAppender samples, LineAppender::open(run_dir / RunFiles::kSamples));
    return ResultWriter(run_dir, std::move(rows), std::move(samples));
}

Result<void> ResultWriter::write_identity(const Json& identity) {
    return write_file_atomically(run_dir_ / RunFiles::kIdentity, to_text(identity));
}

Result<void> ResultWriter::write_plan(const Json& plan) {
    return write_file_atomically(run_dir_ / RunFiles::kPlan, to_text(plan));
}

namespace {

Json bursts_json(const SideSamples& side) {
    Json list = Json::array();
    for (const auto& burst : side.bursts) {
        list.push_back({{"samples", burst.samples},
                        {"sm_clock_mhz", optional_json(burst.sm_clock_mhz)},
                        {"temperature_celsius", optional_json(burst.temperature_celsius)},
                        {"power_watts", optional_json(burst.power_watts)},
                        {"throttle_reasons", burst.throttle_reasons}});
    }
    return list;
}

}  // namespace

Result<void> ResultWriter::append(const Row& row, const std::optional<SideSamples>& base,
                                  const std::optional<SideSamples>& candidate) {
    for (const auto& [name, side] : {std::pair{Side::base, &base}, {Side::candidate, &candidate}}) {
        if (!*side || (*side)->values_ns.empty()) continue;
        OPGAUGE_TRY(samples_.append(to_line({{"index", row.index},
                                             {"case_id", row.case_id},
                                             {"side", name_of(name)},
                                             {"timer", (*side)->timer},
                                             {"calls_per_sample", (*side)->calls_per_sample},
                                             {"bursts", bursts_json(**side)},
                                             {"dropped_bursts", (*side)->dropped_bursts},
                                             {"values_ns", (*side)->values_ns}})));
    }
    OPGAUGE_TRY(rows_.append(to_line(to_json(row))));
    // A kill loses nothing that was appended; only a power loss can, and then what was appended
    // since the last sync: at most a second, so that short cases do not pay a disk's latency each.
    const auto now = std::chrono::steady_clock::now();
    if (now - last_sync_ < kSyncInterval) return {};
    last_sync_ = now;
    return rows_.sync();
}

Result<void> ResultWriter::write_text(const char* file_name, const std::string& content) {
    return write_file_atomically(run_dir_ / file_name, content);
}

Result<void> ResultWriter::write_status(const Json& status) {
    OPGAUGE_TRY(samples_.sync());
    OPGAUGE_TRY(rows_.sync());
    return write_file_atomically(run_dir_ / RunFiles::kStatus, to_text(status));
}

}  // namespace opgauge
