// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/corpus/provider.h"
#include "opgauge/record/known_tests.h"

#include <string>
#include <vector>

namespace opgauge {

std::string corpus_text(const std::vector<CorpusNode>& nodes);
// What earlier runs told of the tests that are shown.
std::string known_text(const std::vector<KnownTest>& known);
Json corpus_json(const std::vector<CorpusNode>& nodes);

}  // namespace opgauge
