// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace opgauge {

// SIGINT, SIGTERM and SIGHUP are blocked for the life of this object and let in only inside
// ppoll(), so no interrupt is lost and none comes at a bad moment. A signal that the caller had set
// to be ignored (nohup) stays ignored. One object, made by main().
class SignalGuard {
  public:
    SignalGuard();
    ~SignalGuard();
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

    // The mask to give ppoll.
    static const sigset_t& wait_mask();
    // The first signal that came, or 0; and how many.
    static int received();
    static int count();
    // For tests.
    static void reset();
};

}  // namespace opgauge
