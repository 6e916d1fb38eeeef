// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

namespace opgauge {

// How a child ended. Never one integer: a signal is not an exit code.
struct Exited {
    int code = 0;
};
struct Signaled {
    int signal = 0;
    bool core = false;
};
// A limit passed and opgauge ended it. `limit` names it: "timeout 600 s", "stall 120 s".
struct TimedOut {
    enum class Limit { total, stall };
    std::string limit;
    Limit kind = Limit::total;
    bool gone = true;  // false: no signal ended the process, it may still use the device
};
// opgauge ended it: an interrupt, a protocol error, an answer that it did not obey.
struct Stopped {
    std::string by;
    int signal = 0;  // the caller's signal where `by` is an interrupt, else 0
};
struct NotStarted {
    std::string reason;
};

using Outcome = std::variant<Exited, Signaled, TimedOut, Stopped, NotStarted>;

// "exited with 3", "killed by signal 11 (SIGSEGV), core dumped", ...
std::string to_text(const Outcome& outcome);

}  // namespace opgauge
