// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <string>

namespace opgauge {

// Checks a shape file of the corpus's form: a mapping of names to mappings with `shapes` (a list of
// lists of whole numbers) and optionally `shape_desc`. Kind usage with line and column.
Result<void> check_shape_file(const std::filesystem::path& file);

// The compact form of a corpus's own shape file, as YAML text: of each entry with more than three
// shapes the smallest, the middle and the second largest by the product of their sizes, in the
// file's order. Entries keep their names and rank, so that no operator meets a shape it cannot
// take. docs/shapes.md says why it is derived and not a fixed list.
Result<std::string> compact_shapes(const std::filesystem::path& file);

}  // namespace opgauge
