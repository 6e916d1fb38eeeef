// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/git_version.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace opgauge {
namespace {

constexpr std::chrono::milliseconds kGitDeadline{10'000};

}  // namespace

CorpusVersion git_version(const std::filesystem::path& folder, const Environment& environment) {
    CorpusVersion version;
    const auto git = [&](std::vector<std::string> words) {
        std::vector<std::string> argv = {"git", "-C", folder.string()};
        argv.insert(argv.end(), words.begin(), words.end());
        return run_tool(argv, environment, kGitDeadline);
    };
    const auto head = git({"rev-parse", "HEAD"});
    if (!head || head->exit_code != 0) {
        version.reason = head ? "not a git checkout" : head.error().message;
        return version;
    }
    const auto tracked = git({"ls-tree", "HEAD"});
    if (!tracked || trim(tracked->out).empty()) {
        version.reason = "it lies in a git checkout that does not track it";
        return version;
    }
    version.commit = std::string(trim(head->out));
    const auto status = git({"status", "--porcelain", "--", "."});
    const auto change = git({"diff", "HEAD", "--", "."});
    if (!status || !change) {
        version.dirty_digest = "unknown";
    } else if (!trim(status->out).empty()) {
        version.dirty_digest = short_digest(status->out + change->out);
    }
    return version;
}

}  // namespace opgauge
