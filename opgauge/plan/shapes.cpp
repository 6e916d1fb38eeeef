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

// Some operators take sizes beside which stand lists or null (paddings, kernel sizes): these stay.
Result<void> check_shape(const YAML::Node& shape, const std::string& name,
                         const std::filesystem::path& file) {
    if (shape.IsSequence()) return {};
    return fail(ErrorKind::usage,
                fmt::format("shape file {}: a shape of '{}' is not a list of sizes",
                            place(file, shape.Mark()), printable(name)));
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

double size_of(const YAML::Node& shape) {
    double product = 1;
    for (const auto& item : shape) {
        if (const auto value = whole_number(item))
            product *= std::max(1.0, static_cast<double>(*value));
    }
    return product;
}

// Positions to keep, ascending.
std::vector<std::size_t> kept_positions(const YAML::Node& shapes) {
    std::vector<std::size_t> order(shapes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() <= kKept) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return size_of(shapes[a]) < size_of(shapes[b]);
    });
    const std::size_t last = order.size() - 2;
    std::vector<std::size_t> kept = {order[0], order[last / 2], order[last]};
    if (last / 2 == 0) kept = {order[0], order[1], order[last]};
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
        for (const std::size_t i : kept_positions(shapes)) out << YAML::Flow << shapes[i];
        out << YAML::EndSeq;
        const YAML::Node description = member(entry.value, "shape_desc");
        if (description.IsDefined()) {
            out << YAML::Key << "shape_desc" << YAML::Value << YAML::DoubleQuoted
                << description.as<std::string>("");
        }
        out << YAML::EndMap;
    }
    out << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

}  // namespace opgauge
