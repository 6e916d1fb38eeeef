// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/providers.h"

#include "opgauge/corpus/flaggems.h"
#include "opgauge/corpus/native.h"

#include <system_error>

namespace opgauge {
namespace {

namespace fs = std::filesystem;

// The first of the places where a part of the installation may lie; empty: none has it.
fs::path first_existing(const std::vector<fs::path>& places) {
    std::error_code error;
    for (const auto& place : places) {
        if (!place.empty() && fs::exists(place, error)) return place.lexically_normal();
    }
    return {};
}

fs::path from_variable(const Environment& environment, std::string_view name) {
    return environment.get_non_empty(name).value_or("");
}

// BUILD/bin/opgauge lies two folders (build/PRESET) or more below the source tree.
fs::path source_tree_above(const fs::path& binary_folder) {
    std::error_code error;
    for (fs::path folder = binary_folder; folder != folder.root_path();
         folder = folder.parent_path()) {
        if (fs::exists(folder / "python" / "opgauge_bridge", error)) return folder;
    }
    return {};
}

}  // namespace

Installation find_installation(const Environment& environment) {
    std::error_code error;
    const fs::path binary = fs::read_symlink("/proc/self/exe", error);
    const fs::path folder = binary.parent_path();
    const fs::path share = folder.parent_path() / "share" / "opgauge";
    const fs::path source = source_tree_above(folder);
    const auto in_source = [&](const char* part) {
        return source.empty() ? fs::path() : source / part;
    };
    Installation installation;
    installation.bridge = first_existing(
        {from_variable(environment, "OPGAUGE_BRIDGE"), share / "python", in_source("python")});
    installation.native_operators = first_existing(
        {from_variable(environment, "OPGAUGE_OPERATORS"), folder / "opgauge-operators"});
    return installation;
}

Result<std::unique_ptr<Provider>> open_corpus(const std::string& corpus, const std::string& python,
                                              const Installation& installation) {
    if (corpus.empty() || corpus == "native") return open_native(installation.native_operators);
    return open_flaggems(corpus, python, installation.bridge);
}

}  // namespace opgauge
