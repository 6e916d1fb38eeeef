// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/corpus/provider.h"

#include <string>
#include <vector>

namespace opgauge {

// The nodes of the operator `name`. As FlagGems itself selects: by mark. Names of functions and
// files are what people also try; a mark of single parameter sets comes last, since such
// collections repeat operators that have own files.
std::vector<CorpusNode> nodes_of(const std::string& name, const std::vector<CorpusNode>& nodes);

// Every operator of a corpus, sorted: the marks of its nodes and of their parameter sets, and the
// names of functions without any.
std::vector<std::string> operator_names(const std::vector<CorpusNode>& nodes);

}  // namespace opgauge
