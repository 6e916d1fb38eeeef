// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/process.h"
#include "opgauge/base/result.h"

#include <sys/types.h>

#include <vector>

namespace opgauge {

// Where supervised children come from. Used by the supervisor, in its one thread.
class ChildSource {
  public:
    virtual ~ChildSource() = default;
    // A child of this process that is what spawn() would have made.
    virtual Result<SpawnedProcess> start(const SpawnOptions& options) = 0;
    // Children of this process that are the source's own and outlive those that it starts.
    virtual std::vector<pid_t> own_processes() const { return {}; }
};

// Each child is a program that is started for it.
class PlainChildren final : public ChildSource {
  public:
    Result<SpawnedProcess> start(const SpawnOptions& options) override { return spawn(options); }
};

}  // namespace opgauge
