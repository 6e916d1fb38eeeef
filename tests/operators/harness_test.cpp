// SPDX-License-Identifier: Apache-2.0
#include "operators/harness.h"

#include "opgauge/base/text.h"

#include "operators/pinning.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace opgauge::operators {
namespace {

// A parent that answers each question by its type and keeps what the child said.
class Parent {
  public:
    Parent() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
        ours_ = ends[0];
        theirs_ = ends[1];
    }
    ~Parent() { ::close(ours_); }
    Parent(const Parent&) = delete;
    Parent& operator=(const Parent&) = delete;

    // Plays the whole conversation of one operator with a clock that reads 1000 ns a call.
    int converse(const std::string& name, std::vector<Dtype> dtypes) {
        std::thread answering([this] { answer_all(); });
        int code = -1;
        {
            ChannelClient channel(theirs_);
            const SampleClock clock = [](const std::function<void()>&, int calls) {
                return 1000.0 * calls;
            };
            code = operators::converse(channel, {{name}, std::move(dtypes), Level::core}, clock,
                                       "test");
        }
        answering.join();
        return code;
    }

    std::vector<Json> of(const std::string& type) const {
        std::vector<Json> found;
        for (const auto& message : said) {
            if (get_string(message, "type") == type) found.push_back(message);
        }
        return found;
    }

    std::map<std::string, Json> answers = {
        {"hello", {{"type", "job"}, {"device", {{"token", "0"}}}}},
        {"device", {{"type", "go"}}},
        {"case_begin", {{"type", "measure"}, {"sides", {"base", "candidate"}}}},
        {"side_begin", {{"type", "more"}, {"samples", 2}, {"calls_per_sample", 3}}},
        {"samples", {{"type", "enough"}}}};
    std::vector<Json> said;

  private:
    void answer_all() {
        std::string buffer;
        std::array<char, 4096> bytes{};
        ssize_t n = 0;
        while ((n = ::recv(ours_, bytes.data(), bytes.size(), 0)) > 0) {
            buffer.append(bytes.data(), static_cast<std::size_t>(n));
            for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
                answer(Json::parse(buffer.substr(0, end)));
                buffer.erase(0, end + 1);
            }
        }
    }

    void answer(const Json& message) {
        said.push_back(message);
        const auto found = answers.find(get_string(message, "type"));
        if (found == answers.end()) return;
        Json reply = found->second;
        reply["to"] = message.at("seq");
        const std::string line = to_line(reply) + "\n";
        EXPECT_EQ(::send(ours_, line.data(), line.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(line.size()));
    }

    int ours_ = -1;
    int theirs_ = -1;
};

std::vector<std::string> sides_begun(const Parent& parent) {
    std::vector<std::string> sides;
    for (const auto& message : parent.of("side_begin")) sides.push_back(message.at("side"));
    return sides;
}

TEST(Harness, MeasuresBothSidesOfACheckedCaseAsTold) {
    Parent parent;
    EXPECT_EQ(parent.converse("relu", {Dtype::float32}), 0);
    EXPECT_EQ(parent.of("case_begin").size(), 3U);
    EXPECT_EQ(sides_begun(parent), (std::vector<std::string>{"base", "candidate", "base",
                                                             "candidate", "base", "candidate"}));
    const Json samples = parent.of("samples").front();
    EXPECT_EQ(samples.at("values_ns"), Json({1000.0, 1000.0}));
    EXPECT_EQ(samples.at("calls_per_sample"), 3);
    const Json end = parent.of("case_end").front();
    EXPECT_EQ(end.at("status"), "ok");
    EXPECT_EQ(end.at("check").at("ok"), true);
}

TEST(Harness, ObeysTheOrderOfTheSidesAndTheAbsenceOfOne) {
    Parent turned;
    turned.answers["case_begin"]["sides"] = {"candidate", "base"};
    EXPECT_EQ(turned.converse("relu", {Dtype::float32}), 0);
    EXPECT_EQ(sides_begun(turned), (std::vector<std::string>{"candidate", "base", "candidate",
                                                             "base", "candidate", "base"}));
    Parent single;
    single.answers["case_begin"]["sides"] = Json::array({"candidate"});
    EXPECT_EQ(single.converse("relu", {Dtype::float32}), 0);
    EXPECT_EQ(sides_begun(single),
              (std::vector<std::string>{"candidate", "candidate", "candidate"}));
    EXPECT_EQ(single.of("case_end").front().at("check").at("ok"), true);
}

TEST(Harness, ComparesNothingWhereTheJobSaysSo) {
    Parent parent;
    parent.answers["hello"]["check"] = false;
    EXPECT_EQ(parent.converse("relu", {Dtype::float32}), 0);
    for (const auto& end : parent.of("case_end")) {
        EXPECT_EQ(end.at("check"), Json({{"skipped", "the job asks for no comparison"}}));
        EXPECT_EQ(end.at("status"), "ok");
    }
    EXPECT_EQ(parent.of("side_end").size(), 6U);
}

// The case id is made of shapes: a case that is skipped must be the one that is measured elsewhere.
TEST(Harness, NamesTheSameShapesInEveryDtypeWhetherMeasuredOrSkipped) {
    for (const char* name : {"mm", "add"}) {
        Parent parent;
        parent.answers["case_begin"] = {{"type", "skip"}, {"reason", "another time"}};
        EXPECT_EQ(parent.converse(name, {Dtype::float32, Dtype::bfloat16}), 0);
        const auto begun = parent.of("case_begin");
        ASSERT_EQ(begun.size(), 6U);
        for (std::size_t i = 0; i < 3; ++i) {
            const Json& shapes = begun[i].at("case").at("shapes");
            EXPECT_EQ(shapes, begun[i + 3].at("case").at("shapes"));
            EXPECT_EQ(shapes.size(), 2U);
            EXPECT_EQ(shapes[0].size(), 2U);
        }
        EXPECT_TRUE(parent.of("case_end").empty());
        EXPECT_EQ(parent.of("bye").size(), 1U);
    }
}

// Runs `body` in a process of its own, whose environment and affinity may change; its exit code.
int in_a_process(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Two NUMA nodes of one core each, by hwloc's own double; bound for real.
void pretend_two_nodes() {
    ::setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
    ::setenv("HWLOC_THISSYSTEM", "1", 1);
}

TEST(Pinning, KeepsTheProcessOnTheCoresOfThePlannedNode) {
    cpu_set_t usable;
    ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
    if (!CPU_ISSET(0, &usable) || !CPU_ISSET(1, &usable)) GTEST_SKIP() << "needs cores 0 and 1";
    EXPECT_EQ(in_a_process([] {
                  pretend_two_nodes();
                  const Pinned pinned = pin_to_node("1");
                  cpu_set_t set;
                  ::sched_getaffinity(0, sizeof set, &set);
                  if (pinned.problem || pinned.nodes != 1) return 1;
                  return CPU_COUNT(&set) == 1 && CPU_ISSET(1, &set) ? 0 : 2;
              }),
              0);
}

TEST(Pinning, NeverWidensTheCallersOwnMaskAndSaysWhyItCannot) {
    EXPECT_EQ(in_a_process([] {
                  pretend_two_nodes();
                  cpu_set_t set;
                  CPU_ZERO(&set);
                  CPU_SET(0, &set);
                  if (::sched_setaffinity(0, sizeof set, &set) != 0) return 77;
                  const Pinned pinned = pin_to_node("1");
                  const bool told = pinned.problem ==
                                    "NUMA node 1: this process may use none of its cores; "
                                    "widen its affinity mask";
                  return told && pinned.nodes == 2 ? 0 : 1;
              }),
              0);
}

TEST(Pinning, ANodeThatIsNotThereIsNamedAndOneNodeIsLeftAlone) {
    EXPECT_EQ(in_a_process([] {
                  pretend_two_nodes();
                  const Pinned pinned = pin_to_node("7");
                  return pinned.problem == "there is no NUMA node '7', there are 2" ? 0 : 1;
              }),
              0);
    EXPECT_EQ(in_a_process([] {
                  ::setenv("HWLOC_SYNTHETIC", "numa:1 core:2 pu:1", 1);
                  const Pinned pinned = pin_to_node("0");
                  return !pinned.problem && pinned.nodes == 1 ? 0 : 1;
              }),
              0);
}

}  // namespace
}  // namespace opgauge::operators
