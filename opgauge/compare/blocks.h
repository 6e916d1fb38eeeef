// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/measure/samples.h"

#include <cstddef>
#include <vector>

namespace opgauge {

// Neighbouring samples share clock and heat, so that few long stretches are better than many.
constexpr std::size_t kMostBlocks = 12;
constexpr std::size_t kLeastSamplesPerBlock = 4;

// Medians of at most kMostBlocks stretches of consecutive samples of one process, cut only between
// bursts. Empty for less than kLeastSamplesPerBlock samples.
std::vector<double> block_medians(const SideSamples& side);

}  // namespace opgauge
