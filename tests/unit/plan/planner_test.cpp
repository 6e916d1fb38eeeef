// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/planner.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/plan/capabilities.h"
#include "opgauge/plan/decisions.h"
#include "opgauge/plan/shapes.h"
#include "opgauge/tuning/tuning_store.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace opgauge {
namespace {

const std::string kCorpus = OPGAUGE_SOURCE_DIR "/tests/data/corpus_scan";

Environment environment(std::map<std::string, std::string, std::less<>> more = {}) {
    Environment result(std::move(more));
    result.set("OPGAUGE_SYSFS", "/nowhere");
    result.set("PATH", "/nowhere");
    result.set("OPGAUGE_LIBRARY_PATH", OPGAUGE_BINARY_DIR "/tests/fake_vendor/now");
    result.set("OPGAUGE_CACHE", "/cache");
    return result;
}

PlanOptions options(const std::string& backend, const std::string& name = "mm") {
    ::setenv("OPGAUGE_FAKE_VENDOR", "devices=2", 1);
    PlanOptions result;
    result.corpus = kCorpus;
    result.backend = backend;
    result.request.operator_ = name;
    return result;
}

Installation installation() {
    return {"/bridge", "/bin/opgauge-operators"};
}

std::vector<std::string> values(const std::vector<Decision>& decisions) {
    std::vector<std::string> result;
    for (const auto& decision : decisions) result.push_back(decision.value);
    return result;
}

using Names = std::vector<std::string>;

// One variable selects the vendor; all else follows from its capabilities.
TEST(Planner, ItsPlansAreThoseOfMakePlan) {
    PlanOptions asked = options("cuda");
    asked.devices = "1";
    asked.dtypes = {"float16"};
    auto planner = Planner::open(asked, environment(), installation());
    ASSERT_TRUE(planner) << planner.error().message;
    for (const char* name : {"mm", "softmax", "mm"}) {
        asked.request.operator_ = name;
        const auto expected = make_plan(asked, environment(), installation());
        const auto plan = planner->plan(asked.request);
        ASSERT_EQ(plan.has_value(), expected.has_value()) << name;
        if (!plan) {
            EXPECT_EQ(plan.error().message, expected.error().message);
            continue;
        }
        EXPECT_EQ(to_json(*plan), to_json(*expected)) << name;
        EXPECT_EQ(plan->shapes_content, expected->shapes_content);
    }
}

TEST(Planner, DevicesAreAskedAgainOnlyAfterItForgotThem) {
    auto planner = Planner::open(options("cuda"), environment(), installation());
    ASSERT_TRUE(planner);
    const NodeRequest mm{"", "mm", ""};
    ASSERT_EQ(planner->plan(mm)->discovery.devices.size(), 2U);
    ::setenv("OPGAUGE_FAKE_VENDOR", "devices=3", 1);
    EXPECT_EQ(planner->plan(mm)->discovery.devices.size(), 2U);
    planner->forget_devices();
    EXPECT_EQ(planner->plan(mm)->discovery.devices.size(), 3U);
}

TEST(Planner, AnUnknownOperatorLeavesItUsable) {
    auto planner = Planner::open(options("cuda"), environment(), installation());
    ASSERT_TRUE(planner);
    EXPECT_FALSE(planner->plan({"", "no_such", ""}));
    EXPECT_TRUE(planner->plan({"", "mm", ""}));
}

TEST(Planner, OneVariableChoosesBackendDeviceAndPlugins) {
    struct Expected {
        const char* backend;
        const char* token;
        const char* variable;
        const char* timer;
        Names plugins;
    };
    const Names graph_and_clusters = {"opgauge_bridge.plugin", "opgauge_bridge.guard",
                                      "opgauge_bridge.graph", "opgauge_bridge.clusters"};
    const Names without = {"opgauge_bridge.plugin", "opgauge_bridge.guard"};
    const std::vector<Expected> all = {
        {"cuda", "GPU-00000000", "CUDA_VISIBLE_DEVICES", "graph", graph_and_clusters},
        {"musa", "0", "MUSA_VISIBLE_DEVICES", "direct", without},
        {"rocm", "0", "HIP_VISIBLE_DEVICES", "direct", without},
        {"ascend", "0", "ASCEND_RT_VISIBLE_DEVICES", "direct", without}};
    for (const auto& expected : all) {
        const auto plan =
            make_plan(options(""), environment({{"ZL_BACKEND", expected.backend}}), installation());
        ASSERT_TRUE(plan) << plan.error().message;
        EXPECT_EQ(plan->backend.value, expected.backend);
        EXPECT_EQ(plan->backend.why, std::string("ZL_BACKEND=") + expected.backend);
        EXPECT_EQ(plan->device.token, expected.token);
        EXPECT_EQ(values(plan->plugins), expected.plugins);
        EXPECT_EQ(plan->timer.value, expected.timer);
        ASSERT_EQ(plan->environment.size(), 3U);
        EXPECT_EQ(plan->environment[0].name, expected.variable);
        EXPECT_EQ(plan->environment[0].value, expected.token);
    }
}

TEST(Planner, PluginsThatAreLeftOutSayWhichCapabilityIsMissing) {
    const auto plan = make_plan(options("musa"), environment(), installation());
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_EQ(plan->no_plugins.size(), 2U);
    EXPECT_EQ(plan->no_plugins[0].value, "opgauge_bridge.graph");
    EXPECT_EQ(plan->no_plugins[0].why, "backend musa has no capability graph_capture");
    EXPECT_EQ(plan->no_plugins[1].why, "backend musa has no capability thread_block_clusters");
    EXPECT_EQ(plan->capabilities.at("graph_capture"), "backend musa has none");
    EXPECT_EQ(plan->capabilities.at("event_timing"), "yes");
}

TEST(Planner, OptionsWinOverVariables) {
    const auto env = environment({{"ZL_BACKEND", "musa"},
                                  {"OP", "einsum"},
                                  {"OP_FILE", "test_einsum"},
                                  {"TEST_NODE", "test_mm.py::test_mm"},
                                  {"OPGAUGE_CORPUS", "/nowhere"}});
    const auto plan = make_plan(options("cuda", "plain"), env, installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->backend.value, "cuda");
    EXPECT_EQ(plan->nodes.at(0).id, "test_tricky.py::test_plain");
    const auto by_node = make_plan(options("cuda", ""), env, installation());
    EXPECT_EQ(by_node->nodes.at(0).id, "test_mm.py::test_mm");
    EXPECT_EQ(by_node->nodes_why, "TEST_NODE");
    auto env2 = env;
    env2.unset("TEST_NODE");
    const auto by_op = make_plan(options("cuda", ""), env2, installation());
    EXPECT_EQ(by_op->nodes.at(0).id, "test_einsum.py::test_einsum");
    EXPECT_EQ(by_op->nodes_why, "OP and OP_FILE");
}

TEST(Planner, AGraphTimerWithoutTheCapabilityIsRefusedBeforeAnyCapture) {
    auto asked = options("musa");
    asked.timer = "graph";
    const auto plan = make_plan(asked, environment(), installation());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, ErrorKind::refused);
    EXPECT_EQ(plan.error().message,
              "--timer graph: backend musa has no capability graph_capture; use direct");
}

Names shard_tokens(const Result<Plan>& plan) {
    Names tokens;
    for (const auto& shard : plan->warmup.shards) tokens.push_back(shard.token);
    return tokens;
}

TEST(Planner, AWarmUpTakesDevicesOfTheCallersSetAndMeasuresOnTheFirst) {
    const auto plan =
        make_plan(options("musa"), environment({{"PARALLEL_WARMUP_GPUS", "2"}}), installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(shard_tokens(plan), (Names{"0", "1"}));
    EXPECT_EQ(plan->device.token, "0");
    EXPECT_EQ(plan->warmup.why, "PARALLEL_WARMUP_GPUS=2");
    EXPECT_DOUBLE_EQ(plan->warmup.overlap.share, 0.05);
    EXPECT_FALSE(plan->warmup.shared || plan->warmup.confirm);
    EXPECT_TRUE(make_plan(options("musa"), environment(), installation())->warmup.shards.empty());
}

TEST(Planner, EachShardNarrowsExactlyOneLayerOfTheMask) {
    const auto env = environment({{"ROCR_VISIBLE_DEVICES", "1,0"}, {"PARALLEL_WARMUP_GPUS", "2"}});
    const auto plan = make_plan(options("rocm"), env, installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(shard_tokens(plan), (Names{"1", "0"}));
    for (const auto& shard : plan->warmup.shards) {
        int set = 0;
        for (const auto& [name, value] : shard.changes) {
            if (!value) continue;
            ++set;
            EXPECT_EQ(name, "ROCR_VISIBLE_DEVICES");
            EXPECT_EQ(*value, shard.token);
        }
        EXPECT_EQ(set, 1);
    }
}

TEST(Planner, MoreShardsThanDevicesShareThemOnRequestOnly) {
    auto asked = options("ascend");
    asked.warmup.devices = "3";
    const auto refused = make_plan(asked, environment(), installation());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    EXPECT_EQ(refused.error().message,
              "--warmup-devices 3: 3 shards for 2 devices; ask for at most 2, name more with "
              "--devices, or let shards share one with --share-devices");
    asked.warmup.share = true;
    const auto plan = make_plan(asked, environment(), installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(shard_tokens(plan), (Names{"0", "1", "0"}));
    EXPECT_TRUE(plan->warmup.shared && plan->warmup.confirm);
}

TEST(Planner, AWarmUpOfWhatIsNotTunedIsRefusedOrLeftAside) {
    auto asked = options("cuda");
    asked.tuning.mode = "off";
    const auto env = environment({{"PARALLEL_WARMUP_GPUS", "2"}});
    const auto plan = make_plan(asked, env, installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(plan->warmup.shards.empty());
    EXPECT_EQ(plan->warmup.why,
              "PARALLEL_WARMUP_GPUS=2 is left aside: tuning mode is off (--tune off), and only "
              "mode record tunes");
    asked.warmup.devices = "2";
    EXPECT_EQ(make_plan(asked, env, installation()).error().kind, ErrorKind::refused);
}

TEST(Planner, WinnersAreRecordedUnlessASourceIsNamed) {
    const testing::TempDir folder;
    ASSERT_TRUE(TuningStore::open(folder.path(), DatabaseAccess::create));
    const auto env = environment({{"REPLAY_FROM", folder.path().string()}});
    EXPECT_EQ(make_plan(options("cuda"), environment(), installation())->tune.value, "record");
    const auto replay = make_plan(options("cuda"), env, installation());
    ASSERT_TRUE(replay) << replay.error().message;
    EXPECT_EQ(replay->tune.value, "replay");
    EXPECT_EQ(replay->replay.source.why, "REPLAY_FROM");
    EXPECT_EQ(replay->replay.warning, "it is incomplete (no status.json): winners may be missing");
    auto asked = options("cuda");
    asked.tuning.mode = "record";
    const auto record = make_plan(asked, env, installation());
    EXPECT_EQ(record->tune.value, "record");
    EXPECT_EQ(record->replay.source.value, "");
    asked.tuning.from = folder.path().string();
    EXPECT_EQ(make_plan(asked, env, installation()).error().kind, ErrorKind::usage);
    PlanOptions native;
    native.request.operator_ = "mm";
    EXPECT_EQ(make_plan(native, environment(), installation())->tune.value, "off");
}

TEST(Planner, TheHintOfARefusedTimerNamesOneThatIsTaken) {
    PlanOptions asked;
    asked.request.operator_ = "mm";
    asked.timer = "graph";
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().message,
              "--timer graph: backend cpu has no capability graph_capture; use host");
    asked.timer = "host";
    EXPECT_TRUE(make_plan(asked, environment(), installation()));
}

TEST(Planner, BadWordsAreUsageErrorsWithASuggestion) {
    auto asked = options("cuda");
    asked.timer = "grpah";
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().message,
              "unknown timer 'grpah'; did you mean 'graph'?; known: graph, event, direct, host");
    asked = options("cuda");
    asked.dtypes = {"floot16"};
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().message.substr(0, 48),
              "unknown dtype 'floot16'; did you mean 'float16'?");
    asked = options("cuda", "");
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().kind, ErrorKind::usage);
}

TEST(Planner, FirstAndAllChooseDtypesAndStandAlone) {
    auto asked = options("cuda");
    asked.dtypes = {"first"};
    const auto first = make_plan(asked, environment(), installation());
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->settings.first_dtype());
    asked.dtypes = {"all"};
    const auto all = make_plan(asked, environment(), installation());
    ASSERT_TRUE(all);
    EXPECT_TRUE(all->settings.dtypes.empty());
    const auto& argv = first->command.argv;
    EXPECT_EQ(std::find(argv.begin(), argv.end(), "--dtypes"), argv.end());
    EXPECT_EQ(argv, all->command.argv);
    for (const char* word : {"first", "all"}) {
        asked.dtypes = {"float16", word};
        const auto refused = make_plan(asked, environment(), installation());
        EXPECT_EQ(refused.error().message,
                  std::string("--dtypes float16,") + word + ": '" + word + "' stands alone");
        EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    }
}

TEST(Planner, AnOptionThatTheCorpusLacksIsRefusedNotDropped) {
    auto asked = options("cuda");
    asked.warmup_ms = 10;
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().message,
              "--warmup: the corpus flaggems has no option --warmup; leave it out");
    PlanOptions native;
    native.request.operator_ = "mm";
    native.shapes = kCorpus + "/benchmark/core_shapes.yaml";
    EXPECT_EQ(make_plan(native, environment(), installation()).error().message,
              "--shapes: the corpus native has no option --shape_file; leave it out");
}

TEST(Planner, TheNativeCorpusRunsOnTheHostOnly) {
    PlanOptions asked;
    asked.request.operator_ = "mm";
    const auto plan = make_plan(asked, environment(), installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->backend.value, "cpu");
    EXPECT_EQ(plan->timer.value, "host");
    asked.backend = "cuda";
    EXPECT_EQ(
        make_plan(asked, environment(), installation()).error().message,
        "the native corpus runs on backend cpu, not on cuda; name a corpus for it with --corpus "
        "or OPGAUGE_CORPUS");
}

TEST(Planner, AMaskedDeviceIsPlannedWithTheCallersToken) {
    const auto plan =
        make_plan(options("cuda"), environment({{"CUDA_VISIBLE_DEVICES", "1"}}), installation());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->device.token, "1");
    EXPECT_EQ(plan->device.device.uuid, "GPU-00000001");
    EXPECT_EQ(plan->device.device.power_limit_watts, 700.0) << "asked of the device taken only";
    EXPECT_EQ(plan->device_why, "the first that CUDA_VISIBLE_DEVICES shows");
}

TEST(Planner, TheCachePolicyIsRefusedWhereATimerHasItsOwn) {
    auto asked = options("cuda");
    asked.l2 = "cold";
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().message,
              "--l2 cold: a graph's calls follow each other, its cache is hot; use --timer event");
    asked.timer = "event";
    EXPECT_EQ(make_plan(asked, environment(), installation())->timer_settings["l2"], "cold");
    asked.l2 = "hot";
    EXPECT_EQ(make_plan(asked, environment(), installation())->timer_settings["l2"], "hot");
    asked.timer = "direct";
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().message,
              "--l2 hot: timer direct leaves the cache as it is; use --timer event");
    asked.l2 = "warm";
    EXPECT_EQ(make_plan(asked, environment(), installation()).error().kind, ErrorKind::usage);
}

TEST(Planner, JsonAndTextShowEachDecisionWithItsReason) {
    const auto plan = make_plan(options("cuda"), environment(), installation());
    const Json json = to_json(*plan);
    EXPECT_EQ(json["backend"]["why"], "--backend cuda");
    EXPECT_EQ(json["timer"]["value"], "graph");
    EXPECT_EQ(json["timer"]["fallback"], "event");
    EXPECT_EQ(json["timer"]["settings"]["l2"], "cold");
    EXPECT_EQ(json["nodes"]["value"].size(), 2U);
    EXPECT_EQ(json["environment"][0]["why"], "pins the child to device GPU-00000000");
    EXPECT_EQ(json["environment"][1]["value"], "/bridge");
    EXPECT_EQ(json["environment"][1]["why"], "opgauge's bridge, before what you have there");
    EXPECT_EQ(json["environment"][2]["name"], "PYTHONUNBUFFERED");
    const std::string text = to_text(*plan);
    EXPECT_NE(text.find("opgauge_bridge.clusters"), std::string::npos);
    EXPECT_NE(text.find("command: python3 -m pytest -q -s"), std::string::npos);
}

TEST(Planner, TheBridgeGoesBeforeTheCallersOwnPythonpath) {
    const auto plan =
        make_plan(options("cuda"), environment({{"PYTHONPATH", "/mine"}}), installation());
    EXPECT_EQ(plan->environment[1].name, "PYTHONPATH");
    EXPECT_EQ(plan->environment[1].value, "/bridge:/mine");
    EXPECT_TRUE(plan->command.environment.empty());
}

TEST(Planner, AFileWithoutItsOperatorNarrowsTheOneOfTheCommandLine) {
    const NodeRequest asked{"", "einsum", ""};
    const auto alone = decide_request(asked, environment({{"OP_FILE", "test_einsum"}}));
    EXPECT_EQ(alone->request.file, "test_einsum");
    EXPECT_EQ(alone->why, "operator and OP_FILE");
    const auto of_another =
        decide_request(asked, environment({{"OP", "mm"}, {"OP_FILE", "test_mm"}}));
    EXPECT_EQ(of_another->request.file, "");
    EXPECT_EQ(of_another->why, "operator");
    const auto by_option =
        decide_request({"", "einsum", "test_x"}, environment({{"OP_FILE", "test_einsum"}}));
    EXPECT_EQ(by_option->request.file, "test_x");
    EXPECT_EQ(by_option->why, "operator and --file");
}

TEST(Planner, CapabilitiesAreNarrowedByWhatTheInterpreterHas) {
    auto plan = *make_plan(options("cuda"), environment(), installation());
    ASSERT_EQ(plan.capabilities.at("thread_block_clusters"), "yes");
    narrow_to_modules(plan, {"torch"}, "/usr/bin/python3");
    EXPECT_EQ(plan.capabilities.at("thread_block_clusters"), "/usr/bin/python3 has no triton");
    EXPECT_EQ(plan.capabilities.at("event_timing"), "yes");
    leave_capabilities_open(plan, "no Python");
    EXPECT_EQ(plan.capabilities.at("event_timing"), "unknown: no Python");
    EXPECT_EQ(plan.capabilities.at("thread_block_clusters"), "/usr/bin/python3 has no triton");
    EXPECT_NE(to_text(plan).find("no capability"), std::string::npos);
}

TEST(Shapes, CompactKeepsSmallestMiddleAndSecondLargest) {
    const auto text = compact_shapes(kCorpus + "/benchmark/core_shapes.yaml");
    ASSERT_TRUE(text) << text.error().message;
    const std::string expected =
        "base_shapes:\n  shapes:\n    - [64, 64]\n    - [1024, 1024]\n    - [16, 16]\n"
        "  shape_desc: \"M, N\"\n"
        "merged:\n  shapes:\n    - [64, 64]\n    - [1024, 1024]\n    - [16, 16]\n"
        "  shape_desc: \"M, N\"\n"
        "few:\n  shapes:\n    - [2, 3]\n"
        "mixed:\n  shapes:\n    - [[1, 2], 3, ~]\n";
    EXPECT_EQ(*text, expected);
}

TEST(Shapes, AMergeListIsFollowedThroughItsOwnMerges) {
    const testing::TempDir temp;
    std::ofstream(temp.path() / "s.yaml")
        << "p: &p {shapes: [[1, 2]]}\nq: &q {<<: *p}\nr: {<<: [*q]}\n";
    const auto text = compact_shapes(temp.path() / "s.yaml");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_NE(text->find("r:\n  shapes:\n    - [1, 2]\n"), std::string::npos) << *text;
}

// Forms of a real file: ties for the largest, matrices, convolutions, arguments beside a list.
TEST(Shapes, CompactKeepsNoInputOfMoreThanOneGibibyte) {
    const testing::TempDir temp;
    std::ofstream(temp.path() / "s.yaml")
        << "tied:\n  shapes: [[64], [4096], [1073741824], [1073741824]]\n"
        << "edge:\n  shapes: [[1], [2], [268435456], [268435457], [536870912]]\n"
        << "mm:\n  shapes: [[384, 384, 384], [1024, 1024, 1024], [4096, 4096, 4096], "
           "[8192, 8192, 8192]]\n  shape_desc: M, N, K\n"
        << "conv:\n  shapes: [[1, 1, 8, 8, 1, 3, 3, 1], [1, 2, 8, 8, 1, 3, 3, 1], "
           "[64, 32, 210, 210, 64, 5, 5, 2], [64, 64, 210, 210, 64, 5, 5, 2]]\n"
           "  shape_desc: \"N, C_in, H, W, C_out, K_h, K_w, stride\"\n"
        << "put:\n  shapes: [[[1073741824], [[65536]], false], [[32, 32], [[8]], false]]\n"
        << "huge:\n  shapes: [[2147483648], [1073741824]]\n";
    const auto text = compact_shapes(temp.path() / "s.yaml");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text,
              "tied:\n  shapes:\n    - [64]\n    - [4096]\n"
              "edge:\n  shapes:\n    - [1]\n    - [2]\n    - [268435456]\n"
              "mm:\n  shapes:\n    - [384, 384, 384]\n    - [1024, 1024, 1024]\n"
              "    - [4096, 4096, 4096]\n  shape_desc: \"M, N, K\"\n"
              "conv:\n  shapes:\n    - [1, 1, 8, 8, 1, 3, 3, 1]\n"
              "    - [1, 2, 8, 8, 1, 3, 3, 1]\n    - [64, 32, 210, 210, 64, 5, 5, 2]\n"
              "  shape_desc: \"N, C_in, H, W, C_out, K_h, K_w, stride\"\n"
              "put:\n  shapes:\n    - [[32, 32], [[8]], false]\n"
              "huge:\n  shapes:\n    - [1073741824]\n");
}

TEST(Shapes, UpstreamLeavesTheCorpussOwnAlone) {
    const auto plan =
        make_plan(options("cuda"), environment({{"SHAPE_MODE", "upstream"}}), installation());
    EXPECT_EQ(plan->shapes.value, "upstream");
    EXPECT_EQ(plan->shapes.why, "SHAPE_MODE=upstream");
    EXPECT_EQ(plan->shapes_file, "");
    for (const auto& word : plan->command.argv) EXPECT_NE(word, "--shape_file");
    EXPECT_EQ(
        make_plan(options("cuda"), environment({{"SHAPE_MODE", "x"}}), installation()).error().kind,
        ErrorKind::usage);
}

TEST(Shapes, CompactFilesAreNamedByTheirContent) {
    const auto plan = make_plan(options("cuda"), environment(), installation());
    EXPECT_EQ(plan->shapes.value, "compact");
    EXPECT_EQ(plan->shapes_file, "/cache/shapes/" + *plan->shapes_digest + ".yaml");
    EXPECT_FALSE(plan->shapes_content.empty());
}

TEST(Shapes, ABadFileIsRefusedWithLineAndColumn) {
    const testing::TempDir temp;
    const auto refused = [&](const std::string& text) {
        const auto file = temp.path() / "s.yaml";
        std::ofstream(file) << text;
        const auto checked = check_shape_file(file);
        if (checked) return std::string("accepted");
        EXPECT_EQ(checked.error().kind, ErrorKind::usage);
        return checked.error().message.substr(
            std::string("shape file " + temp.path().string()).size());
    };
    EXPECT_EQ(refused("mm:\n  shapes:\n    - [1, 2\n").substr(0, 8), "/s.yaml:");
    EXPECT_EQ(refused("- 1\n"), "/s.yaml:1:1: it is not a mapping of operators to shapes");
    EXPECT_EQ(refused("mm: 3\n"), "/s.yaml:1:5: 'mm' has no `shapes` below it");
    EXPECT_EQ(refused("mm:\n  shapes: 3\n"), "/s.yaml:2:11: the shapes of 'mm' are no list");
    EXPECT_EQ(refused("mm:\n  shapes:\n    - 3\n"),
              "/s.yaml:3:7: a shape of 'mm' is not a list of sizes");
    EXPECT_EQ(refused("mm:\n  shapes: []\n"), "/s.yaml:2:11: the shapes of 'mm' are an empty list");
    EXPECT_EQ(refused("mm:\n  shapes: [[1], []]\n"),
              "/s.yaml:2:17: a shape of 'mm' is an empty list");
    EXPECT_EQ(refused("mm:\n  shapes: [[1, -2]]\n"),
              "/s.yaml:2:16: a shape of 'mm' has a negative size");
    EXPECT_EQ(refused("mm:\n  shapes: [[1, 2.5]]\n"),
              "/s.yaml:2:16: a shape of 'mm' has a size that is no whole number");
    EXPECT_EQ(refused("mm:\n  shapes: [[1, two]]\n"),
              "/s.yaml:2:16: a shape of 'mm' has text in it");
    EXPECT_EQ(refused("mm:\n  shapes: [[1, \"2\"]]\n"),
              "/s.yaml:2:16: a shape of 'mm' has text in it");
    EXPECT_EQ(refused("mm:\n  shapes: [[[4, -1], 0]]\n"),
              "/s.yaml:2:17: a shape of 'mm' has a negative size");
    EXPECT_EQ(refused("mm:\n  shapes:\n    - [1, 2]\n"), "accepted");
    EXPECT_EQ(
        refused("moe: {shapes: [[256, 0, false, ~]]}\nsum: {shapes: [[[8, 4], -1, False]]}\n"),
        "accepted");
    // A merge of itself has no shapes and no end.
    EXPECT_EQ(refused("mm: {<<: &x {<<: *x}}\n"), "accepted");
    EXPECT_EQ(check_shape_file(temp.path() / "absent").error().message,
              "shape file " + (temp.path() / "absent").string() + ": no such file");
}

}  // namespace
}  // namespace opgauge
