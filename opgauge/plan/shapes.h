// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <string>

namespace opgauge {

// Checks a shape file of the corpus's form: a mapping of names to mappings with `shapes` (a list,
// not empty) and optionally `shape_desc`. A shape is a list of whole numbers from 0 on, with
// switches and null between them, or a list of arguments of which some are such lists. Kind usage
// with line and column: text, a negative size, an empty list.
Result<void> check_shape_file(const std::filesystem::path& file);

// The compact form of a corpus's own shape file, as YAML text: of each entry with more than three
// shapes the smallest, the middle and the second largest by the product of their sizes, in the
// file's order, and of none a shape with an input of more than 1 GiB (the smallest stays). Entries
// keep their names and rank, so that no operator meets a shape it cannot take. docs/shapes.md says
// why it is derived and not a fixed list.
Result<std::string> compact_shapes(const std::filesystem::path& file);

}  // namespace opgauge
