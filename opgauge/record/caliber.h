// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// One fact that two runs must share before their numbers may be set side by side.
struct CaliberField {
    std::string_view name;     // as named in messages and by --factor: "corpus.commit"
    std::string_view pointer;  // JSON pointer into run_identity.json
    // What all runs had before there was this fact; it is then left out, so that their ids stay.
    std::string_view usual = "";
};

// Boot-stable facts only: no clock, temperature or load reading is among them. docs/caliber.md
// explains each one.
const std::vector<CaliberField>& setup_fields();

// The setup's facts of an identity, as {name: value}; a missing fact is null, a usual one left out.
Json setup_facts(const Json& identity);

// 16 hex digits over setup_facts: known before the child starts.
std::string setup_id(const Json& identity);

// 16 hex digits over the setup, the row's timer with its settings, and the digest of the winners
// that the case used (empty: opgauge did not handle any).
std::string caliber_id(const Json& identity, std::string_view timer, const Json& timer_settings,
                       std::string_view winners_digest);

// Facts in which two identities differ: name, then both values.
struct CaliberDifference {
    std::string name;
    Json left;
    Json right;
};
std::vector<CaliberDifference> setup_differences(const Json& left, const Json& right);

}  // namespace opgauge
