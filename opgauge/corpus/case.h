// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"

#include <string>

namespace opgauge {

// One case of an operator, as a child announces it (docs/child_protocol.md).
struct Case {
    std::string operator_name;
    std::string dtype;  // "float16"; empty where the operator has none
    Json shapes = Json::array();
    Json layout = nullptr;
    Json attributes = Json::object();
    std::string node;  // where it came from; not part of the id
};

// Kind failed: a member is missing or of the wrong type.
Result<Case> case_from_json(const Json& value);
Json to_json(const Case& value);

// The work fingerprint: 16 hex digits over operator, dtype, shapes, layout and attributes in a
// canonical form (object keys sorted). Equal work has equal ids in every run, machine and version.
std::string case_id(const Case& value);

// "384x384, 384x384" for tables; other arguments as they are.
std::string shapes_text(const Case& value);

}  // namespace opgauge
