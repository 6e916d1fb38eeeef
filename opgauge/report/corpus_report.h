// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/corpus/provider.h"

#include <string>
#include <vector>

namespace opgauge {

std::string corpus_text(const std::vector<CorpusNode>& nodes);
Json corpus_json(const std::vector<CorpusNode>& nodes);

}  // namespace opgauge
