// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/corpus/provider.h"

#include <filesystem>

namespace opgauge {

// The git revision of a corpus folder and a digest of its uncommitted change. A folder that lies in
// another project's checkout, which does not track it, has no revision: that one's commit says
// nothing of it. Without a revision the reason says why.
CorpusVersion git_version(const std::filesystem::path& folder, const Environment& environment);

}  // namespace opgauge
