// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/providers.h"
#include "opgauge/report/corpus_report.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

namespace opgauge::cli {

Result<int> corpus_command(const CorpusOptions& options, const Environment& environment) {
    const std::string corpus = options.plan.corpus.empty()
                                   ? environment.get("OPGAUGE_CORPUS").value_or("")
                                   : options.plan.corpus;
    OPGAUGE_TRY_ASSIGN(const auto provider,
                       open_corpus(corpus, "python3", find_installation(environment)));
    std::vector<CorpusNode> nodes;
    if (options.action == "list") {
        OPGAUGE_TRY_ASSIGN(nodes, provider->list());
    } else if (options.plan.request.operator_.empty()) {
        return fail(ErrorKind::usage,
                    "corpus show needs an operator; `opgauge corpus list` names them");
    } else {
        OPGAUGE_TRY_ASSIGN(nodes, provider->resolve(options.plan.request));
    }
    fmt::print("{}", options.json ? to_text(corpus_json(nodes)) : corpus_text(nodes));
    return ok;
}

}  // namespace opgauge::cli
