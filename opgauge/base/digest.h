// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace opgauge {

// SHA-256 as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);
// That of a file's content, which may be larger than memory. Kind environment: it cannot be read.
Result<std::string> sha256_of_file(const std::filesystem::path& path);
// MD5 as 32 lower-case hex digits, only for names that other programs made with it.
std::string md5_hex(std::string_view bytes);
// The first 16 hex digits: enough for ids that a person reads and types.
std::string short_digest(std::string_view bytes);

}  // namespace opgauge
