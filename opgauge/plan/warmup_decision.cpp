// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/warmup_decision.h"

#include "opgauge/base/text.h"
#include "opgauge/device/backends.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge {
namespace {

constexpr const char* kVariable = "PARALLEL_WARMUP_GPUS";
constexpr const char* kOption = "--warmup-devices";
constexpr unsigned long long kMostShards = 1024;
constexpr double kDefaultOverlap = 0.05;

struct Asked {
    int shards = 0;  // 0: no warm-up
    std::string why;
    bool by_option = false;
};

Result<Asked> how_many(const WarmupOptions& options, const Environment& environment) {
    const auto variable = environment.get_non_empty(kVariable);
    Asked asked;
    asked.by_option = !options.devices.empty();
    if (!asked.by_option && !variable) return asked;
    const std::string text(trim(asked.by_option ? options.devices : *variable));
    asked.why = asked.by_option ? fmt::format("{} {}", kOption, printable(text))
                                : fmt::format("{}={}", kVariable, printable(text));
    const auto number = parse_unsigned(text);
    if (!number || *number > kMostShards || (asked.by_option && *number == 0)) {
        return fail(ErrorKind::usage,
                    fmt::format("{}: it takes the number of devices to tune on", asked.why));
    }
    asked.shards = static_cast<int>(*number);
    return asked;
}

Result<void> check_without(const WarmupOptions& options) {
    const char* option = options.share              ? "--share-devices"
                         : options.confirm          ? "--confirm"
                         : !options.overlap.empty() ? "--overlap-keys"
                                                    : nullptr;
    if (option == nullptr) return {};
    return fail(ErrorKind::usage, fmt::format("{} belongs to a warm-up: ask for one with {} or {}",
                                              option, kOption, kVariable));
}

// "5%" is a share of all cases, "5" a number of them.
Result<WarmupOverlap> overlap_of(const std::string& option) {
    WarmupOverlap overlap{kDefaultOverlap, std::nullopt};
    const std::string_view text = trim(option);
    if (text.empty()) return overlap;
    if (text.ends_with('%')) {
        const auto percent = parse_double(text.substr(0, text.size() - 1));
        if (percent && *percent >= 0 && *percent <= 100) {
            overlap.share = *percent / 100;
            return overlap;
        }
    } else if (const auto count = parse_unsigned(text); count && *count <= 1'000'000) {
        overlap.share = 0;
        overlap.count = static_cast<int>(*count);
        return overlap;
    }
    return fail(ErrorKind::usage,
                fmt::format("--overlap-keys {}: it takes a number of cases, or a share of them "
                            "such as 5%",
                            printable(text)));
}

// Why nothing can be tuned ahead here; empty: it can.
std::string nothing_to_tune(const Plan& plan, CorpusTuning corpus) {
    if (corpus == CorpusTuning::none) return "the native corpus has nothing to tune";
    if (plan.tune.value == "record") return "";
    return fmt::format("tuning mode is {} ({}), and only mode record tunes", plan.tune.value,
                       plan.tune.why);
}

// A winner of one model says nothing of another.
Result<void> check_models(const std::vector<SelectedDevice>& devices) {
    const auto& first = devices.front();
    for (const auto& other : devices) {
        if (other.device.name == first.device.name) continue;
        return fail(ErrorKind::refused,
                    fmt::format("the warm-up would tune on devices of different models: {} is {}, "
                                "{} is {}; name devices of one model with --devices",
                                first.token, printable(first.device.name), other.token,
                                printable(other.device.name)));
    }
    return {};
}

Result<void> check_number(const Asked& asked, const WarmupOptions& options, std::size_t devices) {
    if (static_cast<std::size_t>(asked.shards) <= devices || options.share) return {};
    return fail(ErrorKind::refused,
                fmt::format("{}: {} shards for {} device{}; ask for at most {}, name more with "
                            "--devices, or let shards share one with --share-devices",
                            asked.why, asked.shards, devices, devices == 1 ? "" : "s", devices));
}

}  // namespace

Result<WarmupPlan> decide_warmup(const WarmupOptions& options, const std::string& devices,
                                 const Plan& plan, CorpusTuning corpus, const Backend& backend,
                                 const Environment& environment) {
    WarmupPlan warmup;
    const std::string reason = nothing_to_tune(plan, corpus);
    // A variable that is set for a whole batch must not end the runs that cannot use it.
    if (const auto variable = environment.get_non_empty(kVariable);
        variable && options.devices.empty() && !reason.empty()) {
        warmup.why =
            fmt::format("{}={} is left aside: {}", kVariable, printable(*variable), reason);
        return warmup;
    }
    OPGAUGE_TRY_ASSIGN(const Asked asked, how_many(options, environment));
    warmup.why = asked.why;
    if (asked.shards == 0) {
        OPGAUGE_TRY(check_without(options));
        return warmup;
    }
    OPGAUGE_TRY_ASSIGN(warmup.overlap, overlap_of(options.overlap));
    if (!reason.empty()) {
        return fail(ErrorKind::refused, fmt::format("{}: {}; leave it out", asked.why, reason));
    }
    OPGAUGE_TRY_ASSIGN(
        const auto selected,
        select_devices(backend, plan.discovery, devices.empty() ? "all" : devices, environment));
    OPGAUGE_TRY(check_number(asked, options, selected.size()));
    warmup.shared = static_cast<std::size_t>(asked.shards) > selected.size();
    warmup.confirm = options.confirm || warmup.shared;
    for (int i = 0; i < asked.shards; ++i) {
        warmup.shards.push_back(selected[static_cast<std::size_t>(i) % selected.size()]);
    }
    OPGAUGE_TRY(check_models(warmup.shards));
    if (asked.shards == 1) warmup.overlap = {};  // there is no other shard to agree with
    return warmup;
}

}  // namespace opgauge
