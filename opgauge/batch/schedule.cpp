// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/schedule.h"

#include <algorithm>
#include <numeric>

namespace opgauge {
namespace {

std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Of what this batch has taken so far, and else of what is expected.
std::optional<double> usual_seconds(const Batch& batch) {
    std::vector<double> taken;
    std::vector<double> expected;
    for (const auto& item : batch.items) {
        if (item.state == EntryState::finished && item.attempts > 0) {
            taken.push_back(item.result.seconds);
        }
        if (item.expected_s) expected.push_back(*item.expected_s);
    }
    const auto usual = median(std::move(taken));
    return usual ? usual : median(std::move(expected));
}

}  // namespace

void expect(std::vector<BatchItem>& items, const std::map<std::string, double>& known) {
    for (auto& item : items) {
        const auto found = known.find(item.entry.name);
        if (found != known.end()) item.expected_s = found->second;
    }
}

BatchQueue::BatchQueue(const std::vector<BatchItem>& items) {
    std::vector<double> known;
    for (const auto& item : items) {
        if (item.expected_s) known.push_back(*item.expected_s);
    }
    const double unknown = median(std::move(known)).value_or(0);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].state == EntryState::pending) waiting_.push_back(i);
    }
    std::stable_sort(waiting_.begin(), waiting_.end(), [&](std::size_t a, std::size_t b) {
        return items[a].expected_s.value_or(unknown) > items[b].expected_s.value_or(unknown);
    });
}

std::optional<std::size_t> BatchQueue::next() const {
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.front());
}

std::optional<std::size_t> BatchQueue::take() {
    const auto item = next();
    if (item) waiting_.pop_front();
    return item;
}

std::optional<double> seconds_left(const Batch& batch, std::size_t lanes) {
    const auto usual = usual_seconds(batch);
    if (!usual || lanes == 0) return std::nullopt;
    double sum = 0;
    double longest = 0;
    for (const auto& item : batch.items) {
        if (item.state != EntryState::pending && item.state != EntryState::running) continue;
        const double whole = item.expected_s.value_or(*usual);
        // On average a running one is half done.
        const double left = item.state == EntryState::running ? whole / 2 : whole;
        sum += left;
        longest = std::max(longest, left);
    }
    return std::max(sum / static_cast<double>(lanes), longest);
}

}  // namespace opgauge
