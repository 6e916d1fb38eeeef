// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/batch/entry.h"
#include "opgauge/corpus/provider.h"

#include <string>
#include <vector>

namespace opgauge {

// What a batch is asked to measure. Names and files say what there is to choose from (none: the
// whole corpus), the others narrow it.
struct SelectionRequest {
    std::vector<std::string> names;       // operators, globs, OPERATOR@FILE, pytest nodes
    std::vector<std::string> from_files;  // one name a line, # begins a comment
    std::vector<std::string> stages;
    std::vector<std::string> marks;
    std::vector<std::string> failed_in;  // batches: entries that failed in any of them
    std::vector<std::string> not_in;     // batches: entries that none of them has finished
};

bool asks_for_nothing(const SelectionRequest& request);
Json to_json(const SelectionRequest& request);

// The entries in the order in which they were named, each once. A name that nothing in the corpus
// has is an entry of its own with the reason and a suggestion; it never widens or empties the
// selection of the others. Kinds: usage (nothing to run, an unreadable file or batch).
Result<std::vector<BatchEntry>> select_entries(const SelectionRequest& request,
                                               const Provider& provider);

}  // namespace opgauge
