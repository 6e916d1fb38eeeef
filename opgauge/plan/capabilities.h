// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/plan/plan.h"

#include <set>
#include <string>

namespace opgauge {

// What the backend offers in principle, narrowed by what the corpus's interpreter (`python`) can
// import: a capability that lives in a module which is not there is off, with that reason.
void narrow_to_modules(Plan& plan, const std::set<std::string>& modules, const std::string& python);

// The interpreter could not be asked: what needs a module is neither on nor off.
void leave_capabilities_open(Plan& plan, const std::string& why);

}  // namespace opgauge
