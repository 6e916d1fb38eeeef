// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/plan/plan.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opgauge {

// What an interpreter is and which packages it has, from package metadata: nothing is imported, so
// no device is touched and it costs about an interpreter's start. Vendors ship modules in packages
// of other names: whether a module is there at all is asked by its own name.
struct PythonFacts {
    std::string executable;
    std::string version;                                         // "3.12.3"
    std::map<std::string, std::optional<std::string>> packages;  // nullopt: not installed
    std::vector<std::string> folders;                            // that it imports from
    std::set<std::string> modules;  // of torch and triton, those that could be imported
};

// Kind environment: no such interpreter, or it does not start. One line with the cure.
Result<PythonFacts> probe_python(const std::string& python, const Environment& environment);

// For a process that makes several runs: asks each interpreter once.
class PythonProbe {
  public:
    Result<PythonFacts> ask(const std::string& python, const Environment& environment);

  private:
    std::map<std::string, PythonFacts> known_;
};

// Takes from the plan's capabilities those whose module the corpus's interpreter lacks.
void narrow_capabilities(Plan& plan, const Environment& environment);

// Kind environment where a package that every run needs (pytest) is absent.
Result<void> require_packages(const PythonFacts& facts);

}  // namespace opgauge
