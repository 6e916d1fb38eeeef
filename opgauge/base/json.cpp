// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/json.h"

#include "opgauge/base/file.h"

#include <fmt/format.h>

namespace opgauge {

Result<Json> parse_json(std::string_view text, std::string_view what) {
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::exception& error) {
        return fail(ErrorKind::failed, fmt::format("{} is not JSON: {}", what, error.what()));
    }
}

std::string to_line(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const Json& value) {
    return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Json> read_json_file(const std::filesystem::path& path) {
    OPGAUGE_TRY_ASSIGN(const std::string text, read_file(path));
    return parse_json(text, path.string());
}

}  // namespace opgauge
