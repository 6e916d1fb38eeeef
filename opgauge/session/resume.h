// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/session/kept_run.h"

#include <filesystem>

namespace opgauge {

// Takes up the run in `directory`, however it ended: what it finished is returned, torn last lines
// and cases that were interrupted are cut off. `identity` is that of the run now; it gets the
// earlier one's name and start. A folder in which no child was started yet is emptied. Kinds:
// refused (finished, of another caliber, or no run's folder; it stays untouched), environment.
Result<KeptRun> resume_run(const std::filesystem::path& directory, Json& identity);

}  // namespace opgauge
