// SPDX-License-Identifier: Apache-2.0
// The native corpus's child: opgauge starts it and talks with it over OPGAUGE_CHANNEL_FD.
#include "operators/harness.h"
#include "operators/machine.h"
#include "operators/script.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace {

using namespace opgauge::operators;

struct Arguments {
    std::vector<std::string> operators;
    std::vector<std::string> dtypes = {"float32", "bfloat16"};
    std::string level = "core";
    std::string script;
    bool list = false;
};

int run(const Arguments& arguments) {
    if (arguments.list) {
        for (const auto& op : all_operators()) fmt::print("{}\n", op.name);
        return 0;
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
    CLI11_PARSE(app, argc, argv);
    try {
        return run(arguments);
    } catch (const std::exception& error) {
        fmt::print(stderr, "opgauge-operators: {}\n", error.what());
        return 1;
    }
}
