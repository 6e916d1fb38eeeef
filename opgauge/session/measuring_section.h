// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opgauge {

// What one process of this host has at a time. Called in the supervisor's thread.
class HostTurn {
  public:
    virtual ~HostTurn() = default;
    // Never blocks. True: it is this process's from now on (also where it was already).
    virtual bool try_enter() = 0;
    virtual void leave() = 0;
};

// The part of a case in which its side is timed, as the other processes of this host see it.
class MeasuringSection : public HostTurn {
  public:
    // How many others measure at this moment, this process left out.
    virtual int neighbours() = 0;
};

}  // namespace opgauge
