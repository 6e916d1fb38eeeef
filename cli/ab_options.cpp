// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/ab.h"

#include "cli/option_groups.h"

#include <CLI/CLI.hpp>

namespace opgauge::cli {

void add_ab(CLI::App& app, AbCommandOptions& options) {
    CLI::App& command = add_command(app, "ab", "A against B, measured in turn");
    command.add_option("operators", options.operators, "operators to measure")->required();
    // One value each, so that operators may follow.
    command.add_option("--a", options.a, "KEY=VALUE of arm A's environment")
        ->allow_extra_args(false);
    command.add_option("--b", options.b, "KEY=VALUE of arm B's environment")
        ->allow_extra_args(false);
    command.add_option("--corpus-a", options.corpus_a, "arm A's corpus");
    command.add_option("--corpus-b", options.corpus_b, "arm B's corpus");
    command.add_option("--rev-a", options.revision_a, "the corpus's git revision in arm A");
    command.add_option("--rev-b", options.revision_b, "the corpus's git revision in arm B");
    command.add_option("--replicates", options.replicates, "fresh processes of each arm")
        ->check(CLI::Range(kFewestReplicates, 999));
    command.add_option("--seed", options.seed, "which arm goes first; default: random");
    command.add_flag("--no-early-stop", options.no_early_stop, "make all replicates");
    command.add_flag("--no-fork-server", options.no_fork_server, "start each child from nothing");
    command.add_option("--root", options.run.root, "folder for the new folder");
    command.add_option("--dir", options.run.run_dir, "exactly this folder; absent or empty");
    add_measuring(command, options.run);
    add_verdicts(command, options.compare);
    add_json(command, options.run.json);
}

}  // namespace opgauge::cli
