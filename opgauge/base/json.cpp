// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/json.h"

#include "opgauge/base/file.h"

#include <fmt/format.h>

namespace opgauge {

bool nests_too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepestNesting) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
    if (nests_too_deep(text)) {
        return fail(ErrorKind::failed,
                    fmt::format("{} nests deeper than {} levels", what, kDeepestNesting));
    }
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
