// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/outcome.h"

#include <fmt/format.h>

#include <cstring>

namespace opgauge {
namespace {

std::string signal_text(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name != nullptr ? fmt::format("signal {} (SIG{})", signal, name)
                           : fmt::format("signal {}", signal);
}

struct ToText {
    std::string operator()(const Exited& exited) const {
        return fmt::format("exited with {}", exited.code);
    }
    std::string operator()(const Signaled& signaled) const {
        return fmt::format("was killed by {}{}", signal_text(signaled.signal),
                           signaled.core ? ", core dumped" : "");
    }
    std::string operator()(const TimedOut& late) const {
        return fmt::format("was ended after its limit ({})", late.limit);
    }
    std::string operator()(const Stopped& stopped) const {
        return fmt::format("was stopped: {}", stopped.by);
    }
    std::string operator()(const NotStarted& never) const {
        return fmt::format("could not be started: {}", never.reason);
    }
};

}  // namespace

std::string to_text(const Outcome& outcome) {
    return std::visit(ToText{}, outcome);
}

}  // namespace opgauge
