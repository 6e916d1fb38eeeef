// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/cache.h"

namespace opgauge {

std::filesystem::path cache_folder(const Environment& environment) {
    if (const auto folder = environment.get_non_empty("OPGAUGE_CACHE")) return *folder;
    if (const auto folder = environment.get_non_empty("XDG_CACHE_HOME")) {
        return std::filesystem::path(*folder) / "opgauge";
    }
    return std::filesystem::path(environment.get_non_empty("HOME").value_or("/var/tmp")) /
           ".cache" / "opgauge";
}

}  // namespace opgauge
