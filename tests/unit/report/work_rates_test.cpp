// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/work_rates.h"

#include <gtest/gtest.h>

namespace opgauge {
namespace {

Row row_with(double median_ns, Json work) {
    Row row;
    row.status = RowStatus::ok;
    row.work.dtype = "float16";
    row.work_amount = std::move(work);
    SideSamples side;
    side.values_ns = {median_ns};
    row.candidate = make_side_result(side, "complete");
    return row;
}

TEST(WorkRates, RatesAreWorkOverTheMedian) {
    const Row row = row_with(1000, {{"bytes", 4000}, {"flops", 8000}});
    const Achieved rates = achieved(row, row.candidate, {});
    EXPECT_DOUBLE_EQ(*rates.bytes_per_s, 4e9);
    EXPECT_DOUBLE_EQ(*rates.flops_per_s, 8e9);
    EXPECT_FALSE(rates.limit_share);
    EXPECT_EQ(rates.bound, "");
}

TEST(WorkRates, TheCeilingThatTakesLongerIsTheLimit) {
    const Ceilings ceilings{1e10, {{"float16", 1e10}}};
    Row row = row_with(1000, {{"bytes", 4000}, {"flops", 8000}});
    EXPECT_DOUBLE_EQ(*achieved(row, row.candidate, ceilings).limit_share, 0.8);
    EXPECT_EQ(achieved(row, row.candidate, ceilings).bound, "compute");
    row.work.dtype = "float32";  // no ceiling for it
    EXPECT_DOUBLE_EQ(*achieved(row, row.candidate, ceilings).limit_share, 0.4);
    EXPECT_EQ(achieved(row, row.candidate, ceilings).bound, "bandwidth");
}

TEST(WorkRates, NothingIsMadeUp) {
    const Ceilings ceilings{1e10, {{"float16", 1e10}}};
    for (const Json& work : {Json(nullptr), Json::object(), Json{{"bytes", 0}, {"flops", -1}},
                             Json{{"bytes", "many"}, {"flops", nullptr}}}) {
        const Row row = row_with(1000, work);
        const Achieved rates = achieved(row, row.candidate, ceilings);
        EXPECT_FALSE(rates.bytes_per_s || rates.flops_per_s || rates.limit_share) << work;
    }
    Row failed = row_with(1000, {{"bytes", 4000}});
    failed.status = RowStatus::failed;
    EXPECT_FALSE(achieved(failed, failed.candidate, ceilings).bytes_per_s);
    const Row one_sided = row_with(1000, {{"bytes", 4000}});
    EXPECT_FALSE(achieved(one_sided, one_sided.base, ceilings).bytes_per_s);
}

TEST(WorkRates, CeilingsComeFromTheIdentityAndMayBeAbsent) {
    const Json identity = {{"ceilings",
                            {{"copy_bytes_per_s", 4e12},
                             {"matmul_flops_per_s", {{"float16", 9e14}, {"float32", "fast"}}}}}};
    const Ceilings ceilings = ceilings_of(identity);
    EXPECT_EQ(ceilings.copy_bytes_per_s, 4e12);
    EXPECT_EQ(ceilings.matmul_flops_per_s.size(), 1U);
    for (const Json& other : {Json(3), Json::object(), Json{{"ceilings", nullptr}},
                              Json{{"ceilings", {{"copy_bytes_per_s", 0}}}}}) {
        EXPECT_FALSE(ceilings_of(other).known()) << other;
    }
}

TEST(WorkRates, ElementsAreThoseOfAllArgumentsWithASize) {
    Case work;
    work.shapes = Json::parse(R"([[4, 5], [3], "relu", 7, []])");
    EXPECT_EQ(element_count(work), 4 * 5 + 3 + 1);
    work.shapes = Json::parse(R"(["x", [1, "n"]])");
    EXPECT_EQ(element_count(work), std::nullopt);
}

}  // namespace
}  // namespace opgauge
