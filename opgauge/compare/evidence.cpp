// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/evidence.h"

#include "opgauge/compare/blocks.h"

#include <algorithm>

namespace opgauge {
namespace {

std::vector<double> values_of(const std::vector<const Measurement*>& measurements) {
    std::vector<double> values;
    for (const auto* measurement : measurements) values.push_back(measurement->value);
    return values;
}

// The first blocks of base over the first of candidate, and so on: which meets which is no matter.
std::vector<double> speedup_blocks(const RecordedSamples& samples) {
    if (!samples.base || !samples.candidate) return {};
    std::vector<double> blocks = block_medians(*samples.base);
    const std::vector<double> candidate = block_medians(*samples.candidate);
    blocks.resize(std::min(blocks.size(), candidate.size()));
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] /= candidate[i];
    return blocks;
}

std::vector<double> blocks_for(const RecordedSamples& samples, What what) {
    if (what == What::speedup) return speedup_blocks(samples);
    const auto& side = what == What::base ? samples.base : samples.candidate;
    return side ? block_medians(*side) : std::vector<double>();
}

// Foreign files may hold anything; the test takes logarithms.
bool are_positive(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

}  // namespace

std::vector<double> BlockSource::blocks_of(const Measurement& measurement) {
    const auto samples = read_samples(arm_.runs[measurement.run].directory, measurement.row_index);
    if (!samples) {
        const std::string& message = samples.error().message;
        if (warnings_.empty() || warnings_.back() != message) warnings_.push_back(message);
        return {};
    }
    std::vector<double> blocks = blocks_for(*samples, what_);
    return are_positive(blocks) ? blocks : std::vector<double>();
}

ProcessNoise::ProcessNoise(const std::vector<Pair>& pairs, double floor) : floor_(floor) {
    for (const auto& pair : pairs) {
        if (pair.from_a.size() > 1 || pair.from_b.size() > 1) continue;
        const Measurement& a = *pair.from_a.front();
        const Measurement& b = *pair.from_b.front();
        if (!(a.control > 0) || !(b.control > 0)) continue;
        double& change = changes_[{a.run, b.run}];
        change = std::max({change, a.control / b.control - 1, b.control / a.control - 1});
    }
}

double ProcessNoise::between(const Measurement& a, const Measurement& b) const {
    const auto found = changes_.find({a.run, b.run});
    const double control = found == changes_.end() ? 0 : found->second;
    return std::max(
        {floor_, std::max(a.quartile_range, b.quartile_range) / 2, kControlFactor * control});
}

Evidence evidence_of(const Pair& pair, const VerdictSettings& settings, const ProcessNoise& noise,
                     BlockSource& a, BlockSource& b) {
    Evidence evidence;
    evidence.a = values_of(pair.from_a);
    evidence.b = values_of(pair.from_b);
    if (evidence.a.size() > 1 || evidence.b.size() > 1) return evidence;
    const Measurement& left = *pair.from_a.front();
    const Measurement& right = *pair.from_b.front();
    OneProcessEach& known = evidence.one_process.emplace();
    known.noise = noise.between(left, right);
    if (!left.interval || !right.interval) return evidence;
    // Both ends at once, so it is wide; but blind to what neighbouring samples share.
    known.interval = {right.interval->first / left.interval->second,
                      right.interval->second / left.interval->first};
    const auto wide = widened(*known.interval, known.noise);
    if (!is_beyond(wide, settings.at_least) && !is_within(wide, settings.at_least)) return evidence;
    known.blocks_a = a.blocks_of(left);
    known.blocks_b = b.blocks_of(right);
    return evidence;
}

}  // namespace opgauge
