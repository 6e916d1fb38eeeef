// SPDX-License-Identifier: Apache-2.0
#include "opgauge/plan/shapes.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

namespace opgauge {
namespace {

constexpr std::size_t kKept = 3;
constexpr int kDeepestShape = 8;

// The largest input that the compact form keeps, at four bytes an element: inputs, outputs and the
// reference's copies of it then fit a device of 16 GiB.
constexpr double kMostInputBytes = 1024.0 * 1024 * 1024;
constexpr double kElementBytes = 4;

struct Entry {
    std::string name;
    YAML::Node value;
};

std::string place(const std::filesystem::path& file, const YAML::Mark& mark) {
    return fmt::format("{}:{}:{}", file.string(), mark.line + 1, mark.column + 1);
}

Result<YAML::Node> load(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
        return fail(ErrorKind::usage, fmt::format("shape file {}: no such file", file.string()));
    }
    try {
        return YAML::LoadFile(file.string());
    } catch (const YAML::BadFile&) {
        return fail(ErrorKind::usage, fmt::format("shape file {} cannot be read", file.string()));
    } catch (const YAML::Exception& caught) {
        return fail(ErrorKind::usage, fmt::format("shape file {}: {}", place(file, caught.mark),
                                                  printable(caught.msg)));
    }
}

// Real files merge once or twice; a merge of itself would go on for ever.
constexpr int kDeepestMerge = 16;

// A member of an entry, also through the merge key `<<`, which yaml-cpp leaves to its caller.
YAML::Node member(const YAML::Node& entry, const char* name, int depth = 0) {
    if (entry[name]) return entry[name];
    const YAML::Node merged = entry["<<"];
    if (!merged || depth >= kDeepestMerge) return YAML::Node(YAML::NodeType::Undefined);
    if (merged.IsMap()) return member(merged, name, depth + 1);
    for (const auto& part : merged) {
        if (!part.IsMap()) continue;
        const YAML::Node found = member(part, name, depth + 1);
        if (found.IsDefined()) return found;
    }
    return YAML::Node(YAML::NodeType::Undefined);
}

std::optional<long long> whole_number(const YAML::Node& node) {
    long long value = 0;
    if (!node.IsScalar() || !YAML::convert<long long>::decode(node, value)) return std::nullopt;
    return value;
}

bool has_lists(const YAML::Node& shape) {
    return std::any_of(shape.begin(), shape.end(),
                       [](const YAML::Node& item) { return item.IsSequence(); });
}

// What is wrong with an item of a shape, or nullptr. Switches and null stand beside sizes where an
// operator takes them; beside a list, which then has the sizes, any number may stand (a dim of -1).
const char* fault_of(const YAML::Node& item, bool beside_list) {
    if (item.IsNull()) return nullptr;
    if (item.IsMap()) return "has a mapping in it";
    bool truth = false;
    double number = 0;
    const bool quoted = item.Tag() == "!";
    if (quoted) return "has text in it";
    if (YAML::convert<double>::decode(item, number)) {
        if (beside_list) return nullptr;
        const auto whole = whole_number(item);
        if (!whole) return "has a size that is no whole number";
        return *whole < 0 ? "has a negative size" : nullptr;
    }
    return YAML::convert<bool>::decode(item, truth) ? nullptr : "has text in it";
}

// A list of sizes, or of arguments of which some are such lists.
Result<void> check_shape(const YAML::Node& shape, const std::string& name,
                         const std::filesystem::path& file, int depth = 0) {
    const auto refuse = [&](const YAML::Node& at, std::string_view fault) {
        return fail(ErrorKind::usage, fmt::format("shape file {}: a shape of '{}' {}",
                                                  place(file, at.Mark()), printable(name), fault));
    };
    if (!shape.IsSequence()) return refuse(shape, "is not a list of sizes");
    if (shape.size() == 0) return refuse(shape, "is an empty list");
    if (depth > kDeepestShape) return refuse(shape, "is nested too deep");
    const bool beside_list = has_lists(shape);
    for (const auto& item : shape) {
        if (item.IsSequence()) {
            OPGAUGE_TRY(check_shape(item, name, file, depth + 1));
        } else if (const char* fault = fault_of(item, beside_list)) {
            return refuse(item, fault);
        }
    }
    return {};
}

Result<std::vector<Entry>> entries(const YAML::Node& root, const std::filesystem::path& file) {
    if (!root.IsMap()) {
        return fail(ErrorKind::usage,
                    fmt::format("shape file {}: it is not a mapping of operators to shapes",
                                place(file, root.Mark())));
    }
    std::vector<Entry> result;
    for (const auto& pair : root) {
        const auto name = pair.first.as<std::string>("");
        if (!pair.second.IsMap()) {
            return fail(ErrorKind::usage,
                        fmt::format("shape file {}: '{}' has no `shapes` below it",
                                    place(file, pair.second.Mark()), printable(name)));
        }
        result.push_back({name, pair.second});
    }
    return result;
}

// The product of the first `count` sizes; what is no size counts as one.
double product_of(const YAML::Node& shape, std::size_t count) {
    double product = 1;
    for (std::size_t i = 0; i < count; ++i) {
        if (const auto value = whole_number(shape[i]))
            product *= std::max(1.0, static_cast<double>(*value));
    }
    return product;
}

double size_of(const YAML::Node& shape) {
    return product_of(shape, shape.size());
}

// A name of `shape_desc` that stands for an argument or the output's channels, not for an input's
// size: K_h, C_out, Co, stride.
bool names_no_input_size(const std::string& name) {
    return name.starts_with("K_") || name == "C_out" || name == "Co" ||
           (name.size() > 1 && name == lower(name));
}

// Elements of the largest input that a shape stands for, as far as its description tells.
double input_elements(const YAML::Node& shape, const std::vector<std::string>& names) {
    if (has_lists(shape)) {
        double largest = 0;
        for (const auto& item : shape) {
            if (item.IsSequence()) largest = std::max(largest, input_elements(item, {}));
        }
        return largest;
    }
    if (names.size() != shape.size()) return size_of(shape);
    // A product of matrices: each has two of the three sizes.
    double smallest = size_of(shape);
    int found = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] != "M" && names[i] != "N" && names[i] != "K") continue;
        ++found;
        smallest = std::min(smallest, std::max(1.0, shape[i].as<double>(1)));
    }
    if (found == 3) return size_of(shape) / smallest;
    const auto end = std::find_if(names.begin(), names.end(), names_no_input_size);
    return product_of(shape, static_cast<std::size_t>(end - names.begin()));
}

std::vector<std::string> names_in(const std::string& description) {
    std::vector<std::string> names;
    for (const auto& name : split(description, ',')) names.emplace_back(trim(name));
    return names;
}

// Positions to keep, ascending.
std::vector<std::size_t> kept_positions(const YAML::Node& shapes, const std::string& description) {
    const auto names = names_in(description);
    std::vector<std::size_t> order(shapes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return size_of(shapes[a]) < size_of(shapes[b]);
    });
    const bool shortened = order.size() > kKept;
    const std::size_t smallest = order.front();
    if (shortened) order.pop_back();
    const auto too_large = [&](std::size_t i) {
        return input_elements(shapes[i], names) * kElementBytes > kMostInputBytes;
    };
    order.erase(std::remove_if(order.begin(), order.end(), too_large), order.end());
    if (order.empty()) return {smallest};
    std::vector<std::size_t> kept = order;
    if (shortened) kept = {order.front(), order[(order.size() - 1) / 2], order.back()};
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
}

Result<void> check_entries(const std::vector<Entry>& all, const std::filesystem::path& file) {
    for (const auto& entry : all) {
        const YAML::Node shapes = member(entry.value, "shapes");
        if (!shapes.IsDefined()) continue;  // the operator keeps its own
        if (!shapes.IsSequence()) {
            return fail(ErrorKind::usage,
                        fmt::format("shape file {}: the shapes of '{}' are no list",
                                    place(file, shapes.Mark()), printable(entry.name)));
        }
        if (shapes.size() == 0) {
            return fail(ErrorKind::usage,
                        fmt::format("shape file {}: the shapes of '{}' are an empty list",
                                    place(file, shapes.Mark()), printable(entry.name)));
        }
        for (const auto& shape : shapes) OPGAUGE_TRY(check_shape(shape, entry.name, file));
    }
    return {};
}

}  // namespace

Result<void> check_shape_file(const std::filesystem::path& file) {
    OPGAUGE_TRY_ASSIGN(const YAML::Node root, load(file));
    OPGAUGE_TRY_ASSIGN(const auto all, entries(root, file));
    return check_entries(all, file);
}

Result<std::string> compact_shapes(const std::filesystem::path& file) {
    OPGAUGE_TRY_ASSIGN(const YAML::Node root, load(file));
    OPGAUGE_TRY_ASSIGN(const auto all, entries(root, file));
    OPGAUGE_TRY(check_entries(all, file));
    YAML::Emitter out;
    out << YAML::BeginMap;
    for (const auto& entry : all) {
        const YAML::Node shapes = member(entry.value, "shapes");
        if (!shapes.IsDefined()) continue;
        out << YAML::Key << entry.name << YAML::Value << YAML::Block << YAML::BeginMap;
        out << YAML::Key << "shapes" << YAML::Value << YAML::Block << YAML::BeginSeq;
        const YAML::Node described = member(entry.value, "shape_desc");
        const auto description = described.IsDefined() ? described.as<std::string>("") : "";
        for (const std::size_t i : kept_positions(shapes, description)) {
            out << YAML::Flow << shapes[i];
        }
        out << YAML::EndSeq;
        if (described.IsDefined()) {
            out << YAML::Key << "shape_desc" << YAML::Value << YAML::DoubleQuoted << description;
        }
        out << YAML::EndMap;
    }
    out << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

}  // namespace opgauge
