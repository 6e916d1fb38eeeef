// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace opgauge {

// Checkouts of single revisions of a repository, removed when this object goes: signals are blocked
// outside of waits, so an interrupt too leaves none behind.
class Worktrees {
  public:
    Worktrees(std::filesystem::path corpus, Environment environment)
        : corpus_(std::move(corpus)), environment_(std::move(environment)) {}
    ~Worktrees();
    Worktrees(const Worktrees&) = delete;
    Worktrees& operator=(const Worktrees&) = delete;

    // The commit that a revision is. Kind usage: none of that name; environment: no git.
    Result<std::string> commit_of(const std::string& revision) const;
    // The corpus at `commit`, checked out at `folder`, which must not exist and lies in
    // a folder of worktrees alone: the corpus's own folder there.
    Result<std::filesystem::path> add(const std::string& commit,
                                      const std::filesystem::path& folder);

  private:
    Result<std::string> git(const std::vector<std::string>& words) const;

    std::filesystem::path corpus_;
    Environment environment_;
    std::vector<std::filesystem::path> made_;
};

}  // namespace opgauge
