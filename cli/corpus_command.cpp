// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/providers.h"
#include "opgauge/plan/cache.h"
#include "opgauge/report/corpus_report.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge::cli {

namespace {

// pytest counts a node's path from its own root folder, which may lie above the benchmarks.
bool is_node(const std::string& told, const std::string& listed) {
    return told == listed || told.ends_with("/" + listed);
}

std::vector<KnownTest> known_of(const std::vector<CorpusNode>& nodes, const std::string& root,
                                const Environment& environment) {
    auto known = read_known_tests(known_tests_file(cache_folder(environment), root));
    std::erase_if(known, [&](const KnownTest& test) {
        return std::none_of(nodes.begin(), nodes.end(), [&](const CorpusNode& node) {
            return is_node(test.node, node.id.substr(0, node.id.find('[')));
        });
    });
    return known;
}

}  // namespace

Result<int> corpus_command(const CorpusOptions& options, const Environment& environment) {
    const std::string corpus = options.plan.corpus.empty()
                                   ? environment.get("OPGAUGE_CORPUS").value_or("")
                                   : options.plan.corpus;
    OPGAUGE_TRY_ASSIGN(const auto provider,
                       open_corpus(corpus, "python3", find_installation(environment)));
    std::vector<CorpusNode> nodes;
    if (options.action == "list") {
        OPGAUGE_TRY_ASSIGN(nodes, provider->list());
        fmt::print("{}", options.json ? to_text(corpus_json(nodes)) : corpus_text(nodes));
        return ok;
    }
    if (options.plan.request.operator_.empty()) {
        return fail(ErrorKind::usage,
                    "corpus show needs an operator; `opgauge corpus list` names them");
    }
    OPGAUGE_TRY_ASSIGN(nodes, provider->resolve(options.plan.request));
    const auto known = known_of(nodes, provider->root().string(), environment);
    if (options.json) {
        Json shown = corpus_json(nodes);
        for (const auto& test : known) shown["measured"].push_back(to_json(test));
        fmt::print("{}", to_text(shown));
    } else {
        fmt::print("{}\n{}", corpus_text(nodes), known_text(known));
    }
    return ok;
}

}  // namespace opgauge::cli
