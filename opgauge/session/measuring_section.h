// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opgauge {

// The part of a case in which its side is timed, as the other processes of this host see it. Called
// in the supervisor's thread.
class MeasuringSection {
  public:
    virtual ~MeasuringSection() = default;
    // Never blocks. True: this process measures from now on (also where it did already).
    virtual bool try_enter() = 0;
    virtual void leave() = 0;
    // How many others measure at this moment, this process left out.
    virtual int neighbours() = 0;
};

}  // namespace opgauge
