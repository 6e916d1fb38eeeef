// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/session/run_session.h"

#include <filesystem>

namespace opgauge {

// What a run needs before its first child starts.

Environment child_environment(const Plan& plan, const Environment& caller,
                              const RunOptions& options);

// Its folder: the one that is resumed, exactly the one that was named, or a new one.
Result<std::filesystem::path> claim_folder(const Plan& plan, const RunOptions& options,
                                           const Clock& clock);

// The derived shape file is named by its content: writing it again changes nothing.
Result<void> write_shapes(const Plan& plan);

// What the child chooses itself (docs/child_protocol.md, `select`).
Json job_selection(const Plan& plan);

JobSettings job_settings(const Plan& plan, const RunOptions& options);

}  // namespace opgauge
