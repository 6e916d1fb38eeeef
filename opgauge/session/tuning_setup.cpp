// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_setup.h"

#include "opgauge/base/text.h"
#include "opgauge/record/caliber.h"
#include "opgauge/record/run_dir.h"
#include "opgauge/session/tuning_scope.h"

#include <fmt/format.h>

#include <chrono>

namespace opgauge {
namespace {

// Longer than a person's `opgauge tune` takes; the child waits meanwhile.
constexpr std::chrono::seconds kStoreWait{10};

TuningMode mode_of(const Plan& plan) {
    if (plan.tune.value == "record") return TuningMode::record;
    return plan.tune.value == "replay" ? TuningMode::replay : TuningMode::off;
}

}  // namespace

Result<std::optional<Replay>> open_source(const Plan& plan, const Environment& child) {
    const ReplayPlan& asked = plan.replay;
    if (asked.source.value.empty()) return std::optional<Replay>();
    OPGAUGE_TRY_ASSIGN(Replay source, Replay::open(asked.source.value, asked.accepted));
    if (asked.allow_misses) return std::optional(std::move(source));
    const auto differences =
        differences_of_all(source, scope_before_child(plan, child), asked.accepted);
    if (differences.empty()) return std::optional(std::move(source));
    return fail(ErrorKind::refused,
                fmt::format("replay_miss: no winner of {} holds here: {}; {}; record again, or "
                            "accept it with --accept-scope",
                            printable(asked.source.value), differences_text(differences),
                            source.summary()));
}

Result<TuningDesk> open_desk(const Plan& plan, const Environment& child,
                             std::optional<Replay> source, const std::filesystem::path& run_dir) {
    TuningSettings settings;
    settings.mode = mode_of(plan);
    if (settings.mode == TuningMode::off) return TuningDesk();
    settings.allow_misses = plan.replay.allow_misses;
    settings.accepted = plan.replay.accepted;
    settings.source = plan.replay.source.value;
    settings.warning = plan.replay.warning;
    settings.timing_warning = plan.tune_timing.warning;
    settings.known = scope_before_child(plan, child);
    OPGAUGE_TRY_ASSIGN(auto store, TuningStore::open(run_dir / RunFiles::kTuning,
                                                     DatabaseAccess::create, kStoreWait));
    return TuningDesk(std::move(settings), std::move(store), std::move(source));
}

Json tuning_facts(const Plan& plan, const std::optional<Replay>& source) {
    const std::string& from = plan.replay.source.value;
    const bool tunes = plan.tune.value != "off";
    return {{"mode", plan.tune.value},
            {"timing", tunes ? Json(plan.tune_timing.value) : Json(nullptr)},
            {"source", from.empty() ? Json(nullptr) : Json(from)},
            {"source_digest", source ? Json(source->digest()) : Json(nullptr)},
            {"accepted", plan.replay.accepted},
            {"winners_digest", nullptr}};
}

void complete_tuning(Json& identity, const TuningDesk& desk) {
    if (desk.mode() == TuningMode::off) return;
    const std::string digest = desk.winners_digest();
    if (digest.empty()) {
        identity["unknown"]["tuning.winners_digest"] = "no tuned kernel ran";
        return;
    }
    identity["tuning"]["winners_digest"] = digest;
    identity["unknown"].erase("tuning.winners_digest");
    if (identity["caliber_id"].is_null()) return;
    identity["caliber_id"] =
        caliber_id(identity, get_string(identity["timer"], "name"), Json::object(), digest);
}

void complete_warmup(Json& identity, const WarmupReport& report, const TuningDesk& desk) {
    Json facts = warmup_identity(report);
    const Json warmed = desk.warmed_json();
    facts["confirmed"] = get_optional<int>(warmed, "confirmed").value_or(0);
    identity["tuning"]["warmup"] = std::move(facts);
}

}  // namespace opgauge
