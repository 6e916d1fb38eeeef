// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/compare/reproduction.h"
#include "opgauge/record/digests.h"

#include <optional>
#include <string>

namespace opgauge {

// What is said of a verified run. Either part may be absent: digests where the run left none, the
// numbers where nothing was run.
struct Verification {
    std::string run_dir;
    std::optional<DigestCheck> digests;
    std::string no_digests;  // why there are none
    std::string new_run_dir;
    std::optional<Reproduction> numbers;

    bool holds() const;  // no file changed, no number that did not come again
};

std::string verify_text(const Verification& verification);
Json verify_json(const Verification& verification);

}  // namespace opgauge
