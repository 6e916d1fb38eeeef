// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>

namespace opgauge {

// From now on orphaned descendants become children of this process, so that none is out of reach.
void become_subreaper();

// Kills and reaps every child of this process that is left and not `spared`: after a supervised
// child has ended, these are grandchildren that left its group. Bounded: what cannot be killed
// (state D) stays.
void end_descendants(std::span<const pid_t> spared = {});

}  // namespace opgauge
