// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/corpus/provider.h"

#include <memory>

namespace opgauge {

// A corpus of pytest benchmarks: FlagGems (`benchmark/`, `conf/operators.yaml`), or any folder of
// test_*.py files that measure through FlagGems' Benchmark class or triton.testing.do_bench.
// `bridge` is the folder that holds opgauge_bridge. Kind environment: no benchmarks there.
Result<std::unique_ptr<Provider>> open_flaggems(const std::filesystem::path& folder,
                                                const std::string& python,
                                                const std::filesystem::path& bridge);

}  // namespace opgauge
