// SPDX-License-Identifier: Apache-2.0
#include "operators/harness.h"

#include "operators/machine.h"
#include "operators/pinning.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace opgauge::operators {
namespace {

constexpr int kEstimateCalls = 3;

enum class Outputs { compared, left_alone };

struct CaseContext {
    ChannelClient& channel;
    const SampleClock& clock;
    Outputs outputs;
    int index = 0;  // of the next case in its test
};

// Obeys the parent until it has enough.
void measure_side(CaseContext& context, const std::string& side,
                  const std::function<void()>& call) {
    // Both sides have been called before: what follows is warm.
    const double estimate = context.clock(call, kEstimateCalls) / kEstimateCalls;
    Json answer = context.channel.ask(
        "side_begin",
        {{"side", side}, {"timer", "host"}, {"first_call_ns", nullptr}, {"estimate_ns", estimate}});
    while (true) {
        const std::string type = get_string(answer, "type");
        if (type == "enough") break;
        if (type == "cool_down") {
            std::this_thread::sleep_for(
                std::chrono::duration<double>(get_optional<double>(answer, "seconds").value_or(0)));
        } else if (type != "more") {
            ::_exit(kProtocolError);
        }
        const int samples = get_optional<int>(answer, "samples").value_or(1);
        const int calls = std::max(1, get_optional<int>(answer, "calls_per_sample").value_or(1));
        std::vector<double> values;
        for (int i = 0; i < samples; ++i) values.push_back(context.clock(call, calls) / calls);
        answer = context.channel.ask("samples", {{"side", side},
                                                 {"timer", "host"},
                                                 {"calls_per_sample", calls},
                                                 {"values_ns", values},
                                                 {"settings", Json::object()}});
    }
    context.channel.tell("side_end", {{"side", side}});
}

Json check_json(const Check& check) {
    return {{"max_abs_error", check.max_abs_error},
            {"max_rel_error", check.max_rel_error},
            {"worst_over_allowance", check.worst},
            {"ok", check.ok}};
}

// The sides in the order in which the parent wants them; both where it names none.
std::vector<std::string> sides_of(const Json& answer) {
    if (!answer.contains("sides")) return {"base", "candidate"};
    const auto sides = get_optional<std::vector<std::string>>(answer, "sides");
    const auto known = [](const std::string& side) {
        return side == "base" || side == "candidate";
    };
    if (!sides || !std::all_of(sides->begin(), sides->end(), known)) ::_exit(kProtocolError);
    return *sides;
}

const std::function<void()>& call_of(const Work& work, const std::string& side) {
    return side == "base" ? work.base : work.candidate;
}

// nullopt where the job asks for no comparison; the sides that will be measured are called in any
// case, so that they are warm.
std::optional<Check> try_sides(const CaseContext& context, const Work& work, Dtype dtype,
                               const std::vector<std::string>& sides) {
    if (context.outputs == Outputs::left_alone) {
        for (const auto& side : sides) call_of(work, side)();
        return std::nullopt;
    }
    work.poison();
    work.base();
    work.candidate();
    return compare(work.base_output(), work.candidate_output(), dtype, work.reduction, work.term);
}

Json failure_of(const Check& check) {
    return {{"kind", "mismatch"},
            {"message", fmt::format("the sides' outputs differ by {}, {} times what is allowed",
                                    check.max_abs_error, check.worst)}};
}

// Where outputs are compared, nothing is timed before both sides were seen to compute the same.
void run_case(CaseContext& context, const Work& work, Dtype dtype,
              const std::vector<std::string>& sides) {
    const auto check = try_sides(context, work, dtype, sides);
    const Json shown =
        check ? check_json(*check) : Json{{"skipped", "the job asks for no comparison"}};
    if (check && !check->ok) {
        context.channel.tell(
            "case_end", {{"status", "failed"}, {"check", shown}, {"error", failure_of(*check)}});
        return;
    }
    for (const auto& side : sides) measure_side(context, side, call_of(work, side));
    context.channel.tell("case_end", {{"status", "ok"},
                                      {"check", shown},
                                      {"flags", Json::array()},
                                      {"work", {{"bytes", work.bytes}, {"flops", work.flops}}}});
}

Json case_json(const Operator& op, Dtype dtype, const Sizes& sizes, const std::string& node) {
    return {{"operator", op.name}, {"dtype", name_of(dtype)},      {"shapes", op.shapes(sizes)},
            {"layout", nullptr},   {"attributes", Json::object()}, {"node", node}};
}

// Asks first: inputs of a case that the parent skips are never made.
void offer_case(CaseContext& context, const Operator& op, Dtype dtype, const Sizes& sizes,
                std::size_t planned) {
    const Json named = case_json(op, dtype, sizes, "native::" + op.name);
    const Json answer = context.channel.ask(
        "case_begin", {{"case", named}, {"index", context.index++}, {"planned", planned}});
    const std::string type = get_string(answer, "type");
    if (type == "skip") return;
    if (type != "measure") ::_exit(kProtocolError);
    const auto sides = sides_of(answer);
    if (const auto work = op.make(sizes, dtype)) {
        run_case(context, *work, dtype, sides);
        return;
    }
    const std::string reason =
        fmt::format("oneDNN has no {} of {} on this CPU", op.name, name_of(dtype));
    context.channel.tell(
        "case_end", {{"status", "skipped"}, {"error", {{"kind", "error"}, {"message", reason}}}});
}

Json own_dtypes() {
    return {name_of(Dtype::float32), name_of(Dtype::bfloat16)};
}

void end_test(CaseContext& context, const std::string& node, const char* outcome, double seconds) {
    context.channel.tell("test_end", {{"node", node},
                                      {"outcome", outcome},
                                      {"reason", ""},
                                      {"dtypes", own_dtypes()},
                                      {"seconds", seconds}});
}

void run_operator(CaseContext& context, const Operator& op, const Selection& selection) {
    const std::string node = "native::" + op.name;
    const auto begin = std::chrono::steady_clock::now();
    context.channel.tell("test_begin", {{"node", node}});
    context.index = 0;
    if (selection.dtypes.empty()) {
        context.channel.tell("event", {{"name", "dtype_not_supported"}, {"dtypes", own_dtypes()}});
        end_test(context, node, "skipped", 0);
        return;
    }
    const auto sizes = op.sizes(selection.level);
    const auto planned = sizes.size() * selection.dtypes.size();
    for (const Dtype dtype : selection.dtypes) {
        for (const auto& size : sizes) offer_case(context, op, dtype, size, planned);
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    end_test(context, node, "passed", spent.count());
}

}  // namespace

double host_sample(const std::function<void()>& call, int calls) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
        .count();
}

int converse(ChannelClient& channel, const Selection& selection, const SampleClock& clock,
             const std::string& version) {
    const Json job = channel.ask("hello", {{"protocol", 1},
                                           {"pid", ::getpid()},
                                           {"child", "native"},
                                           {"version", version},
                                           {"visible", Json::object()}});
    const Pinned pinned = pin_to_node(get_string(job.value("device", Json::object()), "token"));
    const Json go = channel.ask("device", machine_report(pinned));
    if (get_string(go, "type") != "go") return kStopped;
    Json nodes = Json::array();
    for (const auto& name : selection.operators) nodes.push_back("native::" + name);
    channel.tell("collected", {{"nodes", nodes}, {"errors", Json::array()}, {"deselected", 0}});
    const bool check = get_optional<bool>(job, "check").value_or(true);
    CaseContext context{channel, clock, check ? Outputs::compared : Outputs::left_alone};
    for (const auto& name : selection.operators) {
        for (const auto& op : all_operators()) {
            if (op.name == name) run_operator(context, op, selection);
        }
    }
    channel.tell("bye", {{"exit", 0}});
    return 0;
}

}  // namespace opgauge::operators
