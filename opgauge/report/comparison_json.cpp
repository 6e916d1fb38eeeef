// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/comparison_report.h"

namespace opgauge {
namespace {

Json interval_json(const std::optional<std::pair<double, double>>& interval) {
    return interval ? Json{interval->first, interval->second} : Json(nullptr);
}

Json arm_json(const Arm& arm) {
    Json runs = Json::array();
    for (const auto& run : arm.runs) {
        runs.push_back({{"directory", run.directory.string()},
                        {"created_utc", run.created_utc},
                        {"caliber_id", run.caliber_id},
                        {"timer", run.timer},
                        {"opgauge_version", run.opgauge_version},
                        {"complete", run.complete}});
    }
    return {{"paths", arm.paths}, {"runs", runs}, {"setups", arm.setups}};
}

Json options_json(const CompareOptions& options) {
    return {{"what", name_of(options.what)},
            {"fdr", options.verdict.fdr},
            {"at_least", options.verdict.at_least},
            {"confidence", options.verdict.confidence},
            {"process_noise", options.process_noise},
            {"factors", options.factors},
            {"cross_caliber", options.rule == CaliberRule::cross}};
}

Json differences_json(const Comparison& comparison) {
    Json list = Json::array();
    for (const auto& difference : comparison.differences) {
        list.push_back({{"fact", difference.fact},
                        {"left", {{"name", difference.left_name}, {"value", difference.left}}},
                        {"right", {{"name", difference.right_name}, {"value", difference.right}}}});
    }
    return list;
}

Json work_json(const ArmCase& work) {
    return {{"case_id", work.case_id},
            {"operator", work.operator_name},
            {"dtype", work.dtype},
            {"shapes", work.shapes}};
}

Json one_process_json(const std::optional<OneProcessEach>& known) {
    if (!known) return nullptr;
    return {{"noise", known->noise},
            {"interval", interval_json(known->interval)},
            {"blocks_a", known->blocks_a},
            {"blocks_b", known->blocks_b}};
}

Json row_json(const ComparedRow& row, CaliberRule rule) {
    const RowVerdict& verdict = row.verdict;
    const bool cross = rule == CaliberRule::cross;
    Json json = work_json(*row.work);
    json["timer"] = row.timer;
    json["flags"] = row.flags;
    json["a"] = row.a;
    json["b"] = row.b;
    json["processes"] = {row.processes_a, row.processes_b};
    json["ratio"] = verdict.ratio;
    json["interval"] = interval_json(verdict.interval);
    json["verdict"] = cross ? Json(nullptr) : Json(name_of(verdict.verdict));
    json["next"] = cross ? "" : name_of(verdict.next);
    json["p"] = cross ? Json(nullptr) : optional_json(verdict.p);
    json["adjusted_p"] = cross ? Json(nullptr) : optional_json(verdict.adjusted_p);
    json["values_a"] = row.evidence.a;
    json["values_b"] = row.evidence.b;
    json["one_process_each"] = one_process_json(row.evidence.one_process);
    return json;
}

Json counts_json(const Comparison& comparison) {
    Json verdicts = Json::object();
    for (const auto verdict :
         {Verdict::faster, Verdict::slower, Verdict::same, Verdict::undecided}) {
        verdicts[std::string(name_of(verdict))] = count_of(comparison, verdict);
    }
    Json left_out = Json::object();
    for (const auto kind : {LeftOutKind::only_in_a, LeftOutKind::only_in_b, LeftOutKind::failed,
                            LeftOutKind::flagged, LeftOutKind::timers_differ}) {
        left_out[std::string(name_of(kind))] = count_of(comparison, kind);
    }
    const bool cross = comparison.options.rule == CaliberRule::cross;
    return {{"compared", comparison.rows.size()},
            {"verdicts", cross ? Json(nullptr) : verdicts},
            {"left_out", left_out},
            {"measurements_flagged", comparison.flagged},
            {"measurements_failed", comparison.failed_measurements},
            {"measurements_of_another_timer", comparison.other_timer_measurements}};
}

}  // namespace

Json comparison_json(const Comparison& comparison) {
    Json rows = Json::array();
    for (const auto& row : comparison.rows) {
        rows.push_back(row_json(row, comparison.options.rule));
    }
    Json left_out = Json::array();
    for (const auto& entry : comparison.left_out) {
        Json json = work_json(*entry.work);
        json["kind"] = name_of(entry.kind);
        json["arm"] = entry.arm;
        json["why"] = entry.detail;
        left_out.push_back(std::move(json));
    }
    return {{"schema_version", 1},
            {"options", options_json(comparison.options)},
            {"a", arm_json(comparison.a)},
            {"b", arm_json(comparison.b)},
            {"differences", differences_json(comparison)},
            {"refused", comparison.refusal ? Json(comparison.refusal->message) : Json(nullptr)},
            {"counts", counts_json(comparison)},
            {"geomean_ratio", optional_json(comparison.geomean_ratio)},
            {"geomean_n", comparison.geomean_n},
            {"processes_needed", comparison.processes_needed},
            {"rows", rows},
            {"left_out", left_out},
            {"notes", comparison.notes}};
}

}  // namespace opgauge
