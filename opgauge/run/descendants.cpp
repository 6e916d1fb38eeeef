// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/descendants.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace opgauge {
namespace {

constexpr int kRounds = 100;
constexpr std::chrono::milliseconds kPause{10};

std::vector<pid_t> own_children(std::span<const pid_t> spared) {
    std::vector<pid_t> children;
    // The main thread adopts; other threads' children (tools being run) are not to be touched.
    const auto self = std::to_string(::getpid());
    const auto text = read_file("/proc/" + self + "/task/" + self + "/children");
    if (!text) return children;
    for (const auto& word : split(trim(*text), ' ')) {
        const auto number = parse_unsigned(word);
        if (!number) continue;
        const auto pid = static_cast<pid_t>(*number);
        if (std::find(spared.begin(), spared.end(), pid) == spared.end()) children.push_back(pid);
    }
    return children;
}

}  // namespace

void become_subreaper() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void end_descendants(std::span<const pid_t> spared) {
    for (int round = 0; round < kRounds; ++round) {
        const auto children = own_children(spared);
        if (children.empty()) return;
        for (const pid_t pid : children) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, WNOHANG);
        }
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace opgauge
