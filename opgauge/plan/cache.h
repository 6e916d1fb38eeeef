// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"

#include <filesystem>

namespace opgauge {

// Where opgauge keeps what it may lose and make again: OPGAUGE_CACHE, else opgauge/ in
// XDG_CACHE_HOME or ~/.cache.
std::filesystem::path cache_folder(const Environment& environment);

}  // namespace opgauge
