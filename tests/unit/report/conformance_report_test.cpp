// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/conformance_report.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(ConformanceReport, EachCheckHasItsValueInUnitsItsBoundsAndAVerdict) {
    Conformance conformance;
    conformance.floor_ns = 1600;
    conformance.empty_kernel_ns = 3072;
    conformance.checks = {
        {"null_pair_ns", "event", 1600, 0, 20e3, true, ""},
        {"resolution_ns", "event", std::nullopt, 0, 1e3, true, ""},
        {"short_fill_ns", "event", -3, 1, std::nullopt, false, ""},
        {"twice_the_work_ratio", "event", std::nullopt, 1.8, 2.2, false, ""},
        {"graph_event_ratio", "graph", std::nullopt, 0.85, 1.15, false, "capture_refused: no"},
    };
    EXPECT_EQ(conformance_text(conformance),
              "check                               value  bound               verdict\n"
              "two events, nothing between       1.60 us  0.0 ns to 20.00 us  ok\n"
              "smallest step of a sample               -  0.0 ns to 1.00 us   ok: no two samples "
              "differ\n"
              "a fill of 4 KiB, above nothing    -3.0 ns  at least 1.0 ns     FAILED\n"
              "a fill of 2n bytes over one of n        -  1.800 to 2.200      FAILED: no time to "
              "divide by\n"
              "a fill by graph over by event           -  0.850 to 1.150      FAILED: "
              "capture_refused: no\n"
              "floor: 1.60 us a sample; a kernel that does nothing takes 3.07 us\n");
    conformance.floor_ns = 0;
    conformance.empty_kernel_ns = std::nullopt;
    const std::string text = conformance_text(conformance);
    EXPECT_NE(text.find("floor: not known; only zero and less are invalid\n"), std::string::npos);
}

}  // namespace
}  // namespace opgauge
