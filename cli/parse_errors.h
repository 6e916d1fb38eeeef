// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace opgauge::cli {

// One line for a command line that `app` could not parse: the word that is wrong, the nearest name
// that is right, and where all names stand. Without the program's name before it.
std::string parse_error_line(const CLI::App& app, const CLI::ParseError& error);

}  // namespace opgauge::cli
