// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opgauge {

// From now on orphaned descendants become children of this process, so that none is out of reach.
void become_subreaper();

// Kills and reaps every child of this process that is left: after a supervised child has ended,
// these are grandchildren that left its group. Bounded: what cannot be killed (state D) stays.
void end_descendants();

}  // namespace opgauge
