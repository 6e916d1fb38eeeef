// SPDX-License-Identifier: Apache-2.0
#include "opgauge/ab/worktrees.h"

#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kDeadline{120'000};

}  // namespace

Worktrees::~Worktrees() {
    for (const auto& folder : made_) {
        // What fails here is left for `git worktree prune`; there is nobody to tell.
        (void)git({"worktree", "remove", "--force", folder.string()});
    }
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove(made_.front().parent_path(), ignored);
}

Result<std::string> Worktrees::git(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"git", "-C", corpus_.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    OPGAUGE_TRY_ASSIGN(const ToolOutput output, run_tool(argv, environment_, kDeadline));
    if (output.exit_code == 0) return std::string(trim(output.out));
    const auto said = lines_of(trim(output.err));
    return fail(ErrorKind::usage,
                fmt::format("git {} in {} failed: {}", words.front(), printable(corpus_.string()),
                            said.empty() ? "no word" : printable(said.back())));
}

Result<std::string> Worktrees::commit_of(const std::string& revision) const {
    auto commit =
        git({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
    if (commit || commit.error().kind == ErrorKind::environment) return commit;
    return fail(
        ErrorKind::usage,
        fmt::format("{} is no revision of the corpus {}; `git -C {} log` lists them",
                    printable(revision), printable(corpus_.string()), printable(corpus_.string())));
}

Result<std::filesystem::path> Worktrees::add(const std::string& commit,
                                             const std::filesystem::path& folder) {
    // A corpus may be a folder within its repository.
    OPGAUGE_TRY_ASSIGN(const std::string prefix, git({"rev-parse", "--show-prefix"}));
    made_.push_back(folder);  // also where it fails half-way
    OPGAUGE_TRY(git({"worktree", "add", "--detach", folder.string(), commit}));
    return folder / prefix;
}

}  // namespace opgauge
