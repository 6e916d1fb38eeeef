// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace opgauge {

// Stopping rules of NVBench, for comparison only; both with its published defaults (source:
// nvbench/detail/stdrel_criterion.cxx and entropy_criterion.cxx of NVBench).
// `values_ns`: all samples so far, nanoseconds of one call, in the order in which they were taken.

// "stdrel": after 0.5 s of samples, when the relative standard deviation is below 0.5 %, or when
// over its last 512 values it has changed by less than 5 % of itself (looked at on each 16th
// sample, from the 65th on).
bool stdrel_is_finished(std::span<const double> values_ns, int calls_per_sample);

// "entropy": when the entropy of the exact values, as a line over its last 299 values, rises by
// less than 0.048 degrees and the line explains at least 36 % of it (looked at on each second
// sample).
bool entropy_is_finished(std::span<const double> values_ns);

}  // namespace opgauge
