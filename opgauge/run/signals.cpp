// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/signals.h"

#include <array>
#include <atomic>

namespace opgauge {
namespace {

// Written by the handler only; a handler has no other place to put anything.
std::atomic<int> g_first_signal{0};
std::atomic<int> g_count{0};
sigset_t g_wait_mask;

constexpr std::array<int, 3> kCaught = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kCaught.size()> g_former;

void remember(int number) {
    int none = 0;
    g_first_signal.compare_exchange_strong(none, number);
    g_count.fetch_add(1);
}

}  // namespace

SignalGuard::SignalGuard() {
    sigset_t caught;
    ::sigemptyset(&caught);
    for (const int number : kCaught) ::sigaddset(&caught, number);
    ::pthread_sigmask(SIG_BLOCK, &caught, &g_wait_mask);
    // A caller that had them blocked still gets them inside ppoll.
    for (const int number : kCaught) ::sigdelset(&g_wait_mask, number);
    struct sigaction action {};
    action.sa_handler = remember;
    for (std::size_t i = 0; i < kCaught.size(); ++i) {
        ::sigaction(kCaught[i], nullptr, &g_former[i]);
        // nohup, or a shell's background job: the caller wants this signal to do nothing.
        if (g_former[i].sa_handler != SIG_IGN) ::sigaction(kCaught[i], &action, nullptr);
    }
    // A closed terminal or pipe is an error of write(), not the end of the program.
    ::signal(SIGPIPE, SIG_IGN);
}

SignalGuard::~SignalGuard() {
    // First let in what is still waiting, while our handler is there: a signal that came after the
    // last look must not end the process by its default action now.
    ::pthread_sigmask(SIG_SETMASK, &g_wait_mask, nullptr);
    for (std::size_t i = 0; i < kCaught.size(); ++i) {
        ::sigaction(kCaught[i], &g_former[i], nullptr);
    }
    ::signal(SIGPIPE, SIG_DFL);
}

const sigset_t& SignalGuard::wait_mask() {
    return g_wait_mask;
}

int SignalGuard::received() {
    return g_first_signal.load();
}

int SignalGuard::count() {
    return g_count.load();
}

void SignalGuard::reset() {
    g_first_signal.store(0);
    g_count.store(0);
}

}  // namespace opgauge
