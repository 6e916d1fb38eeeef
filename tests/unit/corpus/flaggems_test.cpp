// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/flaggems.h"

#include "opgauge/corpus/git_version.h"
#include "opgauge/corpus/native.h"
#include "opgauge/corpus/providers.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

namespace opgauge {
namespace {

const std::string kCorpus = OPGAUGE_SOURCE_DIR "/tests/data/corpus_scan";

std::unique_ptr<Provider> corpus() {
    return std::move(*open_flaggems(kCorpus, "python3", "/bridge"));
}

std::vector<std::string> ids(const Result<std::vector<CorpusNode>>& nodes) {
    std::vector<std::string> result;
    if (!nodes) return {"error: " + nodes.error().message};
    for (const auto& node : *nodes) result.push_back(node.id);
    return result;
}

NodeRequest by_operator(const std::string& name, const std::string& file = "") {
    NodeRequest request;
    request.operator_ = name;
    request.file = file;
    return request;
}

using Ids = std::vector<std::string>;

TEST(FlagGems, AnOperatorIsAllFunctionsWithItsMark) {
    EXPECT_EQ(ids(corpus()->resolve(by_operator("mm"))),
              (Ids{"test_mm.py::test_mm", "test_mm.py::test_mm_again"}));
}

TEST(FlagGems, FunctionAndFileNamesFindWhatNoMarkNames) {
    EXPECT_EQ(ids(corpus()->resolve(by_operator("plain"))), (Ids{"test_tricky.py::test_plain"}));
    EXPECT_EQ(ids(corpus()->resolve(by_operator("test_plain"))),
              (Ids{"test_tricky.py::test_plain"}));
    EXPECT_EQ(ids(corpus()->resolve(by_operator("einsum_models"))),
              (Ids{"test_einsum_models.py::test_einsum_models"}));
}

TEST(FlagGems, AMarkOfOneParameterSetRunsOnlyThatOne) {
    const auto nodes = corpus()->resolve(by_operator("one_case"));
    EXPECT_EQ(ids(nodes), (Ids{"test_tricky.py::test_collection"}));
    const auto argv = corpus()->command(*nodes, {}, CorpusSettings{}).argv;
    EXPECT_EQ(Ids(argv.end() - 3, argv.end()),
              (Ids{"-m", "one_case", "test_tricky.py::test_collection"}));
}

TEST(FlagGems, AnOperatorInSeveralFilesNeedsOne) {
    const auto both = corpus()->resolve(by_operator("einsum"));
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error().kind, ErrorKind::usage);
    EXPECT_EQ(
        both.error().message,
        "operator 'einsum' is in several files: test_einsum.py, test_einsum_models.py; choose "
        "one with --file");
    for (const char* file :
         {"test_einsum", "test_einsum.py", "benchmark/test_einsum.py", "einsum"}) {
        EXPECT_EQ(ids(corpus()->resolve(by_operator("einsum", file))),
                  (Ids{"test_einsum.py::test_einsum"}))
            << file;
    }
    EXPECT_EQ(corpus()->resolve(by_operator("mm", "test_einsum")).error().message,
              "operator 'mm' is not in test_einsum; it is in test_mm.py");
}

TEST(FlagGems, AnUnknownOperatorGetsTheNearestName) {
    const auto none = corpus()->resolve(by_operator("einsun"));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message,
              "unknown operator 'einsun' in " + kCorpus +
                  "; did you mean 'einsum'?; `opgauge corpus list` names all 7");
}

TEST(FlagGems, ANodeIsTakenVerbatimWhereItsFileExists) {
    NodeRequest request;
    request.node = "test_mm.py::test_mm[1-2]";
    EXPECT_EQ(ids(corpus()->resolve(request)), (Ids{"test_mm.py::test_mm[1-2]"}));
    EXPECT_EQ(corpus()->resolve(request)->at(0).marks, (Ids{"mm"}));
    request.node = "benchmark/test_mm.py::test_mm";
    EXPECT_EQ(ids(corpus()->resolve(request)), (Ids{"test_mm.py::test_mm"}));
    request.node = "test_absent.py::test_mm";
    EXPECT_EQ(
        corpus()->resolve(request).error().message,
        "node test_absent.py::test_mm: there is no file " + kCorpus + "/benchmark/test_absent.py");
}

TEST(FlagGems, StagesComeFromTheOperatorsFile) {
    const std::map<std::string, std::string> stages = {{"test_mm.py", "stable"},
                                                       {"test_einsum.py", "beta"},
                                                       {"test_einsum_models.py", "beta"},
                                                       {"test_tricky.py", ""}};
    const auto nodes = corpus()->list();
    ASSERT_EQ(nodes->size(), 9U);
    for (const auto& node : *nodes) EXPECT_EQ(node.stage, stages.at(node.file));
}

TEST(FlagGems, OnlyOptionsThatTheCorpusDeclaresArePassed) {
    CorpusSettings settings;
    settings.dtypes = {"float16", "float32"};
    settings.warmup_ms = 10;  // this corpus has no --warmup
    settings.shape_file = "/s.yaml";
    const auto command = corpus()->command(*corpus()->resolve(by_operator("mm")),
                                           {"a.plugin", "b.plugin"}, settings);
    EXPECT_EQ(command.argv, (Ids{"python3",
                                 "-m",
                                 "pytest",
                                 "-q",
                                 "-s",
                                 "-p",
                                 "no:cacheprovider",
                                 "-p",
                                 "a.plugin",
                                 "-p",
                                 "b.plugin",
                                 "--level",
                                 "core",
                                 "--dtypes",
                                 "float16",
                                 "--dtypes",
                                 "float32",
                                 "--mode",
                                 "kernel",
                                 "--shape_file",
                                 "/s.yaml",
                                 "test_mm.py::test_mm",
                                 "test_mm.py::test_mm_again"}));
    EXPECT_EQ(command.working_directory, kCorpus + "/benchmark");
}

TEST(FlagGems, AFolderThatIsNoCorpusIsNamed) {
    const testing::TempDir temp;
    EXPECT_EQ(open_flaggems(temp.path() / "absent", "python3", "").error().message,
              "corpus " + (temp.path() / "absent").string() + ": no such folder");
    const auto empty = open_flaggems(temp.path(), "python3", "");
    EXPECT_EQ(empty.error().kind, ErrorKind::environment);
    EXPECT_EQ(empty.error().message, "corpus " + temp.path().string() +
                                         ": it has neither benchmark/test_*.py nor test_*.py");
}

TEST(FlagGems, ADanglingLinkDoesNotHideTheCorpus) {
    const testing::TempDir temp;
    std::ofstream(temp.path() / "test_x.py") << "def test_x(): pass\n";
    std::filesystem::create_symlink("/nowhere", temp.path() / "test_gone.py");
    std::filesystem::create_directory(temp.path() / "test_folder.py");
    const auto provider = std::move(*open_flaggems(temp.path(), "py", "/b"));
    EXPECT_EQ(ids(provider->list()), (Ids{"test_x.py::test_x"}));
    NodeRequest request;
    request.node = ".";
    EXPECT_EQ(provider->resolve(request).error().kind, ErrorKind::usage);
}

TEST(FlagGems, AFolderOfPytestFilesIsACorpusWithoutOptions) {
    const testing::TempDir temp;
    std::ofstream(temp.path() / "test_x.py") << "def test_x(): pass\n";
    const auto provider = std::move(*open_flaggems(temp.path(), "py", "/b"));
    EXPECT_EQ(provider->name(), "pytest");
    const auto command = provider->command(*provider->list(), {}, CorpusSettings{});
    EXPECT_EQ(command.argv, (Ids{"py", "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider",
                                 "test_x.py::test_x"}));
    EXPECT_EQ(provider->version(Environment::of_this_process()).reason, "not a git checkout");
}

// Nested without being a part of it: the outer commit says nothing of the corpus.
TEST(GitVersion, AFolderThatTheCheckoutAroundItDoesNotTrackHasNoCommit) {
    const testing::TempDir temp;
    const auto run = [&](const std::string& command) {
        return std::system(
            ("cd '" + temp.path().string() + "' && " + command + " >/dev/null 2>&1").c_str());
    };
    ASSERT_EQ(run("git init -q . && mkdir own other && touch own/test_x.py other/test_x.py && "
                  "git add own && git -c user.name=t -c user.email=t@t commit -qm one"),
              0);
    const auto environment = Environment::of_this_process();
    const auto own = git_version(temp.path() / "own", environment);
    ASSERT_TRUE(own.commit);
    EXPECT_EQ(own.commit->size(), 40U);
    EXPECT_FALSE(own.dirty_digest);
    const auto other = git_version(temp.path() / "other", environment);
    EXPECT_FALSE(other.commit);
    EXPECT_EQ(other.reason, "it lies in a git checkout that does not track it");
    std::ofstream(temp.path() / "own" / "test_x.py") << "changed";
    EXPECT_TRUE(git_version(temp.path() / "own", environment).dirty_digest);
}

TEST(Native, KnowsItsOperatorsAndSuggestsThem) {
    const auto provider = open_native("/bin/opgauge-operators");
    EXPECT_EQ(ids(provider->resolve(by_operator("mm"))), (Ids{"native::mm"}));
    EXPECT_EQ(
        provider->resolve(by_operator("softmaxx")).error().message,
        "unknown operator 'softmaxx' in the native corpus; did you mean 'softmax'?; it has mm, "
        "add, relu, softmax, layer_norm, sum");
}

}  // namespace
}  // namespace opgauge
