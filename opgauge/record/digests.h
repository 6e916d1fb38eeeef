// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {

// digests.json of a finished run: the SHA-256 of every file in its folder, so that one who gets the
// folder can tell whether it is what the run left.
Result<void> write_digests(const std::filesystem::path& run_dir);

struct DigestCheck {
    std::size_t files = 0;             // that the list names
    std::vector<std::string> changed;  // names in the folder
    std::vector<std::string> missing;
    std::vector<std::string> added;  // not in the list: no fault, people keep notes

    bool holds() const { return changed.empty() && missing.empty(); }
};

// Kinds: usage (no digests.json: the run was cut off, or an older version made it; a broken one).
Result<DigestCheck> check_digests(const std::filesystem::path& run_dir);

}  // namespace opgauge
