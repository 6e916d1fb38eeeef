// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/own_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace opgauge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<long long> pids(const std::vector<DeviceProcess>& processes) {
    std::vector<long long> numbers;
    for (const auto& process : processes) numbers.push_back(process.pid);
    return numbers;
}

DeviceProcess process(long long pid, const char* name = "") {
    DeviceProcess one;
    one.pid = pid;
    one.name = name;
    return one;
}

TEST(OwnProcessesTest, DescendantsAreNoStrangers) {
    const auto own = process(::getpid(), "test");
    EXPECT_THAT(pids(strangers({process(1, "init"), own}, {::getpid(), 2, {}})), ElementsAre(1));
    // Where one of ours is seen, an unknown one is no other of ours.
    EXPECT_THAT(pids(strangers({own, process(99'999'999)}, {::getpid(), 2, {}})),
                ElementsAre(99'999'999));
}

TEST(OwnProcessesTest, WhereNoneIsSeenSoManyUnknownOnesAreTakenForOurs) {
    const std::vector<DeviceProcess> seen = {process(99'999'991), process(99'999'992),
                                             process(1, "init"), process(99'999'993)};
    EXPECT_THAT(pids(strangers(seen, {::getpid(), 2, {}})), ElementsAre(1, 99'999'993));
    EXPECT_THAT(pids(strangers(seen, {::getpid(), 3, {}})), ElementsAre(1));
    EXPECT_THAT(pids(strangers(seen, {::getpid(), 3, {99'999'992}})), ElementsAre(99'999'992, 1));
    EXPECT_THAT(strangers({}, {::getpid(), 3, {}}), IsEmpty());
}

}  // namespace
}  // namespace opgauge
