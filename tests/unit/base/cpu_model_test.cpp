// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/cpu_model.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

TEST(CpuModel, IsReadFromWhatEachKindOfProcessorPrints) {
    EXPECT_EQ(cpu_model_in("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9654 \n"),
              "AMD EPYC 9654");
    EXPECT_EQ(cpu_model_in("processor\t: 0\nModel\t\t: Some Board Rev 1.4\n"),
              "Some Board Rev 1.4");
}

TEST(CpuModel, IsUnknownWhereTheKernelDoesNotSay) {
    EXPECT_EQ(cpu_model_in("processor\t: 0\nCPU part\t: 0xd0c\n"), std::nullopt);
    EXPECT_EQ(cpu_model_in("model name\t:\n"), std::nullopt);
    EXPECT_EQ(cpu_model_in(""), std::nullopt);
}

}  // namespace
}  // namespace opgauge
