// SPDX-License-Identifier: Apache-2.0
// The native corpus's child: opgauge starts it and talks with it over OPGAUGE_CHANNEL_FD.
#include "opgauge/base/text.h"

#include "operators/harness.h"
#include "operators/machine.h"
#include "operators/script.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace opgauge::operators;

struct Arguments {
    std::vector<std::string> operators;
    std::vector<std::string> dtypes = {"float32", "bfloat16"};
    std::string level = "core";
    std::string script;
    bool list = false;
};

// What to say about the first name that is no operator here. A dtype that no operator has is told
// in the conversation: it is a skip, not a slip.
std::optional<std::string> unknown_name(const Arguments& arguments) {
    std::vector<std::string> known;
    for (const auto& op : all_operators()) known.push_back(op.name);
    for (const auto& name : arguments.operators) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        return fmt::format("unknown operator '{}'{}; known: {}", opgauge::printable(name),
                           opgauge::suggestion(name, known), opgauge::join(known, ", "));
    }
    return std::nullopt;
}

int run(const Arguments& arguments) {
    if (arguments.list) {
        for (const auto& op : all_operators()) fmt::print("{}\n", op.name);
        return 0;
    }
    if (const auto unknown = unknown_name(arguments)) {
        fmt::print(stderr, "opgauge-operators: {}\n", *unknown);
        return 2;
    }
    const int fd = ChannelClient::fd_from_environment();
    if (fd < 0) {
        fmt::print(stderr,
                   "opgauge-operators is started by opgauge run; by hand only --list works\n");
        return 2;
    }
    ChannelClient channel(fd);
    if (!arguments.script.empty()) return play_script(channel, arguments.script);
    Selection selection;
    selection.operators = arguments.operators;
    selection.level = arguments.level == "core" ? Level::core : Level::comprehensive;
    for (const auto& name : arguments.dtypes) {
        // None of its operators has float16; all have this one first.
        if (name == "first") selection.dtypes = {Dtype::float32};
        if (const auto dtype = dtype_named(name)) selection.dtypes.push_back(*dtype);
    }
    settle_threads();
    return converse(channel, selection, host_sample, OPGAUGE_VERSION);
}

}  // namespace

int main(int argc, char** argv) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Arguments arguments;
    CLI::App app("opgauge's native corpus; started by opgauge run");
    app.add_option("--operators", arguments.operators)->delimiter(',');
    app.add_option("--dtypes", arguments.dtypes)->delimiter(',');
    app.add_option("--level", arguments.level)->check(CLI::IsMember({"core", "comprehensive"}));
    app.add_option("--script", arguments.script, "play a JSON script (docs/fake_backend.md)");
    app.add_flag("--list", arguments.list, "print the operators");
    try {
        app.parse(argc, argv);
        return run(arguments);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "opgauge-operators: {}\n", error.what());
        return 1;
    }
}
