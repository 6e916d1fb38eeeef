// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/tuning/merge.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {

struct ImportOptions {
    Scope scope;  // the file says little about where it was made; what the caller knows
    Conditions conditions = Conditions::unknown;
};

// FlagGems' own database (TunedConfig_*.db): a table for each kernel's winners, one for each set of
// timings. Both its ways of keeping a key are read. Names are data; what is no such table (views,
// triggers, virtual tables, other columns) is refused by name and nothing is imported. The rows are
// merged into `target`, which is made where it is missing.
Result<MergeReport> import_flaggems(const std::filesystem::path& file,
                                    const std::filesystem::path& target,
                                    const ImportOptions& options);

struct ExportReport {
    std::size_t tables = 0;
    std::size_t winners = 0;
    std::size_t timings = 0;
    std::size_t left_out = 0;  // rows without a space: FlagGems has no table for them
};

// Writes the database that FlagGems reads. Only rows whose scope has all of `facts` (name, value)
// are taken. Refused: a file that is there, several scopes for one key, sets of fields that one
// table cannot hold.
Result<ExportReport> export_flaggems(TuningStore& store, const std::filesystem::path& file,
                                     const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace opgauge
