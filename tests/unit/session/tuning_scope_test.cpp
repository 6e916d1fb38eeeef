// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_scope.h"

#include "tests/support/temp_dir.h"
#include "tests/support/tuned.h"

#include <gmock/gmock.h>

namespace opgauge {
namespace {

using testing::TempDir;
using testing::tuned;

Replay source_of(const std::vector<Winner>& winners) {
    const TempDir folder;
    {
        auto store = TuningStore::open(folder.path(), DatabaseAccess::create);
        for (const auto& winner : winners) EXPECT_TRUE(store->record(winner, {}));
    }
    return std::move(*Replay::open(folder.path()));
}

std::string text_of(const Replay& source, const Scope& now, const std::set<std::string>& accepted) {
    return differences_text(differences_of_all(source, now, accepted));
}

TEST(TuningScope, HoldsTheDeviceAndTheVariablesThatChangeAChoice) {
    Plan plan;
    plan.device.device.name = "H200";
    plan.discovery.driver = "580";
    Environment environment;
    for (const char* name : {"TRITON_X", "USE_FLAGTUNE", "FLAGGEMS_Y", "TRITON_CACHE_DIR",
                             "FLAGGEMS_DB_URL", "TRITON_PRINT_AUTOTUNING", "HOME", "TORCH_Z"}) {
        environment.set(name, "1");
    }
    const Scope scope = scope_before_child(plan, environment);
    EXPECT_EQ(scope.device_model, "H200");
    EXPECT_EQ(scope.driver, "580");
    EXPECT_EQ(scope.environment,
              (std::map<std::string, std::string>{
                  {"FLAGGEMS_Y", "1"}, {"TRITON_X", "1"}, {"USE_FLAGTUNE", "1"}}));
    EXPECT_EQ(scope.compiler, "");
}

TEST(TuningScope, OneWinnerThatMayHoldIsEnough) {
    Winner other = tuned(384, 64, 1);
    other.scope.device_model = "A100";
    Scope now;
    now.device_model = "H200";
    EXPECT_EQ(text_of(source_of({tuned(1024, 64, 1), other}), now, {}), "scope differs");
    EXPECT_EQ(text_of(source_of({other}), now, {}),
              "scope differs; device_model: recorded A100, now H200");
    EXPECT_EQ(text_of(source_of({other}), now, {"device_model"}), "scope differs");
    EXPECT_EQ(text_of(source_of({}), now, {}), "scope differs");
}

TEST(TuningScope, TheCompilersVersionIsComparedWhereTheChildTellsIt) {
    Winner winner = tuned(384, 64, 1);
    Scope now = winner.scope;
    for (const char* recorded : {"triton 3.6.0", "triton 3.6.0 sm_90", "triton 3.6.0, sm_90"}) {
        winner.scope.compiler = recorded;
        now.compiler = compiler_of({{"triton", "3.6.0"}});
        EXPECT_EQ(text_of(source_of({winner}), now, {}), "scope differs") << recorded;
        now.compiler = compiler_of({{"triton", nullptr}});
        EXPECT_EQ(text_of(source_of({winner}), now, {}), "scope differs") << recorded;
    }
    for (const char* recorded : {"triton 3.6.0+cu12", "triton 3.6.01", "triton 3.5.0", ""}) {
        winner.scope.compiler = recorded;
        now.compiler = compiler_of({{"triton", "3.6.0"}});
        EXPECT_THAT(text_of(source_of({winner}), now, {}),
                    ::testing::HasSubstr("now triton 3.6.0"));
    }
}

}  // namespace
}  // namespace opgauge
