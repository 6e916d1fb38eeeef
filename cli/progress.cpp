// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include "opgauge/base/text.h"
#include "opgauge/report/latency_report.h"

#include <fmt/format.h>

namespace opgauge::cli {
namespace {

std::string work_text(const Row& row) {
    return fmt::format("{} {} {}", printable(row.work.operator_name, 40),
                       printable(row.work.dtype, 20), printable(shapes_text(row.work), 60));
}

std::string median_text(const std::optional<SideResult>& side) {
    return side && side->summary ? time_text(side->summary->median) : "-";
}

constexpr std::chrono::seconds kBetweenShardLines{5};

std::string shard_text(const ShardProgress& progress) {
    const double seconds = std::chrono::duration<double>(progress.elapsed).count();
    std::string text =
        fmt::format("warm-up  shard {} of {} on {}  {}{} cases, {} tuned", progress.shard,
                    progress.shards, printable(progress.device, 60), progress.done,
                    progress.total ? fmt::format("/{}", *progress.total) : "", progress.tuned);
    if (progress.ended) return text + ", ended";
    if (!progress.kernel.empty()) text += "  " + printable(progress.kernel, 40);
    // Cases of other shards pass in no time: before the first of its own they say nothing.
    if (progress.tuned == 0 || seconds <= 0) return text;
    text += fmt::format("  {:.1f} cases/min", 60 * progress.done / seconds);
    if (progress.total && progress.done < *progress.total) {
        const std::chrono::duration<double> left(seconds / progress.done *
                                                 (*progress.total - progress.done));
        text += ", about " + duration_text(left) + " left";
    }
    return text;
}

}  // namespace

Progress::Progress(std::FILE* stream, const Clock& clock)
    : status_(stream), clock_(clock), begin_(clock.now()), first_case_(begin_) {}

void Progress::on_phase(const std::string& text) {
    phase_ = text;
    shards_.clear();
    if (!status_.redraws()) status_.print("opgauge: " + text);
    on_tick();
}

void Progress::on_case_begin(const Row& row, std::optional<int> planned) {
    if (begun_ == 0) first_case_ = clock_.now();
    begun_ = row.index;
    if (planned) planned_ = planned;
    current_ = work_text(row);
    on_tick();
}

void Progress::on_row(const Row& row) {
    ++finished_;
    if (!status_.redraws()) {
        const auto speedup = row.speedup();
        status_.print(fmt::format("case {}  {}  base {}  candidate {}  speed-up {}  {}", row.index,
                                  work_text(row), median_text(row.base), median_text(row.candidate),
                                  speedup ? fmt::format("{:.3f}", *speedup) : "-",
                                  name_of(row.status)));
    }
    on_tick();
}

void Progress::on_tuning(const std::string& kernel) {
    tuning_ = printable(kernel, 40);
    on_tick();
}

// On a terminal all shards share the redrawn line; else each has a line of its own now and then.
void Progress::on_shard(const ShardProgress& progress) {
    shards_[progress.shard] = progress;
    if (status_.redraws()) return on_tick();
    const auto now = clock_.now();
    auto [shown, first] = shown_at_.try_emplace(progress.shard, now);
    if (!progress.ended && !first && now - shown->second < kBetweenShardLines) return;
    shown->second = now;
    status_.print(shard_text(progress));
}

void Progress::on_tick() {
    if (status_.redraws()) status_.update(line());
}

void Progress::finish() {
    status_.clear();
}

std::string Progress::shards_line() const {
    std::string text = "warm-up";
    for (const auto& [shard, progress] : shards_) {
        text += fmt::format("  {}: {}{}", shard, progress.done,
                            progress.total ? fmt::format("/{}", *progress.total) : "");
        if (!progress.ended && !progress.kernel.empty()) text += " " + progress.kernel;
    }
    return text;
}

std::string Progress::line() const {
    if (!shards_.empty()) return shards_line() + "  " + duration_text(clock_.now() - begin_);
    const auto now = clock_.now();
    const std::string elapsed = duration_text(now - begin_);
    if (begun_ == 0) return fmt::format("{} ({})", phase_, elapsed);
    std::string text = fmt::format("{}  case {}", current_, begun_);
    if (planned_) text += fmt::format(" of {}", *planned_);
    if (!tuning_.empty()) text += "  tuning " + tuning_;
    text += "  " + elapsed;
    if (planned_ && finished_ > 0 && finished_ < *planned_) {
        const std::chrono::duration<double> spent = now - first_case_;
        text += ", about " + duration_text(spent / finished_ * (*planned_ - finished_)) + " left";
    }
    return text;
}

}  // namespace opgauge::cli
