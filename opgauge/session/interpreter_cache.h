// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgauge {

// Which modules an interpreter has, kept in the cache folder: starting it takes longer than all the
// rest of a plan. Right as long as the interpreter and every folder that it imports from have the
// modification times they had.
struct InterpreterModules {
    std::string executable;
    std::vector<std::string> folders;  // sys.path
    std::set<std::string> modules;
};

// nullopt: not known, or something has changed since.
std::optional<InterpreterModules> remembered_modules(const std::string& python,
                                                     const Environment& environment);
// A cache that cannot be written costs time in the next call, nothing else.
void remember_modules(const std::string& python, const Environment& environment,
                      const InterpreterModules& found);

}  // namespace opgauge
