// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"

#include <optional>
#include <string>

namespace opgauge {

// The end of a channel in an opgauge that another one has started: it tells its steps and may ask.
// Every message has `type` and `seq`. The other side is the process that this one dies with, so
// that a write that fails needs no care.
class ParentChannel {
  public:
    explicit ParentChannel(int fd) : fd_(fd) {}

    void tell(const char* type, const Json& members);
    // Waits for the answer as long as it takes. nullopt: the other side is gone, or a signal came
    // (SignalGuard::received). Kind failed: what came is no answer to this question.
    Result<std::optional<Json>> ask(const char* type, const Json& members);

  private:
    Result<std::optional<std::string>> read_line();

    int fd_;
    unsigned long long seq_ = 0;
    std::string incoming_;
};

}  // namespace opgauge
