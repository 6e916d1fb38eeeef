// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/corpus/provider.h"

#include <filesystem>
#include <memory>
#include <string>

namespace opgauge {

// Where the pieces of this installation lie; found relative to the binary.
struct Installation {
    std::filesystem::path bridge;            // folder that holds the package opgauge_bridge
    std::filesystem::path native_operators;  // the opgauge-operators program
};
// From /proc/self/exe: PREFIX/bin -> PREFIX/share/opgauge; BUILD/bin -> the source tree.
// OPGAUGE_BRIDGE and OPGAUGE_OPERATORS win. Missing parts are empty paths.
Installation find_installation(const Environment& environment);

// The provider for --corpus: "native" or "" is the native corpus, else a folder. A folder with
// `benchmark/` (FlagGems) or of pytest files is taken by `flaggems`. `python` is the interpreter.
// Kind environment: no such folder, or nothing in it looks like a corpus.
Result<std::unique_ptr<Provider>> open_corpus(const std::string& corpus, const std::string& python,
                                              const Installation& installation);

}  // namespace opgauge
