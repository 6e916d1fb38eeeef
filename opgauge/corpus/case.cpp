// SPDX-License-Identifier: Apache-2.0
#include "opgauge/corpus/case.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/text.h"

#include <fmt/format.h>

namespace opgauge {
namespace {

bool is_size_list(const Json& value) {
    if (!value.is_array()) return false;
    for (const auto& item : value) {
        if (!item.is_number_integer()) return false;
    }
    return true;
}

// [384, 384] -> "384x384"; [] -> "scalar"; others as JSON.
std::string shape_text(const Json& shape) {
    if (!is_size_list(shape)) {
        return shape.is_string() ? shape.get<std::string>() : to_line(shape);
    }
    if (shape.empty()) return "scalar";
    std::vector<std::string> sizes;
    for (const auto& size : shape) sizes.push_back(std::to_string(size.get<long long>()));
    return join(sizes, "x");
}

}  // namespace

Result<Case> case_from_json(const Json& value) {
    if (!value.is_object()) return fail(ErrorKind::failed, "a case is not a JSON object");
    Case work;
    work.operator_name = get_string(value, "operator");
    if (work.operator_name.empty()) return fail(ErrorKind::failed, "a case has no operator");
    work.dtype = get_string(value, "dtype");
    work.shapes = value.value("shapes", Json::array());
    if (!work.shapes.is_array()) {
        return fail(ErrorKind::failed, fmt::format("the shapes of a case of {} are not a list",
                                                   printable(work.operator_name)));
    }
    work.layout = value.value("layout", Json(nullptr));
    work.attributes = value.value("attributes", Json::object());
    work.node = get_string(value, "node");
    return work;
}

Json to_json(const Case& value) {
    return {{"operator", value.operator_name}, {"dtype", value.dtype},
            {"shapes", value.shapes},          {"layout", value.layout},
            {"attributes", value.attributes},  {"node", value.node}};
}

std::string case_id(const Case& value) {
    // nlohmann::json (unlike our ordered Json) sorts object keys: the canonical form.
    nlohmann::json facts = {{"operator", value.operator_name},
                            {"dtype", value.dtype},
                            {"shapes", nlohmann::json::parse(to_line(value.shapes))},
                            {"layout", nlohmann::json::parse(to_line(value.layout))},
                            {"attributes", nlohmann::json::parse(to_line(value.attributes))}};
    return short_digest(facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string shapes_text(const Case& value) {
    std::vector<std::string> parts;
    for (const auto& shape : value.shapes) parts.push_back(shape_text(shape));
    return join(parts, ", ");
}

}  // namespace opgauge
