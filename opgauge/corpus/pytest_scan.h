// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/corpus/provider.h"

#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// The test functions of one pytest file with their marks, found without importing it: a line
// scanner that knows strings, comments, brackets and decorators, and nothing else of Python.
// Methods of `class Test...` get ids "file::Class::function". Built-in marks are left out.
std::vector<CorpusNode> scan_pytest_file(std::string_view text, const std::string& file);

// Names of options that a conftest declares with addoption("--name", ...).
std::vector<std::string> scan_options(std::string_view text);

}  // namespace opgauge
