// SPDX-License-Identifier: Apache-2.0
#include "opgauge/compare/facts.h"

#include "opgauge/base/text.h"
#include "opgauge/record/caliber.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace opgauge {
namespace {

Json member_of(const Json& object, const std::string& name) {
    const auto found = object.find(name);
    return found == object.end() ? Json(nullptr) : *found;
}

void add_difference(std::vector<FactDifference>& differences, const std::string& fact,
                    const Json& left, const Json& right) {
    if (left == right) return;
    if (!left.is_object() || !right.is_object()) {
        differences.push_back({fact, "A", left, "B", right});
        return;
    }
    std::set<std::string> names;
    for (const auto* object : {&left, &right}) {
        for (const auto& item : object->items()) names.insert(item.key());
    }
    for (const auto& name : names) {
        const std::string member = fmt::format("{}.{}", fact, name);
        add_difference(differences, member, member_of(left, name), member_of(right, name));
    }
}

void add_inner_differences(std::vector<FactDifference>& differences, const Arm& arm) {
    const auto name = [&](std::size_t i) {
        const auto& directory = arm.runs[arm.setup_runs[i]].directory;
        return fmt::format("{} in {}", arm.name, printable(directory.filename().string()));
    };
    for (std::size_t i = 1; i < arm.setups.size(); ++i) {
        for (auto& difference : setup_fact_differences(arm.setups[0], arm.setups[i])) {
            difference.left_name = name(0);
            difference.right_name = name(i);
            differences.push_back(std::move(difference));
        }
    }
}

std::vector<std::string> factor_names() {
    std::vector<std::string> names;
    for (const auto& field : setup_fields()) names.emplace_back(field.name);
    for (const auto fact : {kTimerFact, kTimerSettingsFact, kWinnersFact}) {
        names.emplace_back(fact);
    }
    return names;
}

}  // namespace

std::vector<FactDifference> setup_fact_differences(const Json& left, const Json& right) {
    std::vector<FactDifference> differences;
    for (const auto& field : setup_fields()) {
        const std::string fact(field.name);
        const auto value_of = [&](const Json& facts) {
            const bool usual = !field.usual.empty() && !facts.contains(fact);
            return usual ? Json(field.usual) : member_of(facts, fact);
        };
        add_difference(differences, fact, value_of(left), value_of(right));
    }
    return differences;
}

std::vector<FactDifference> arm_differences(const Arm& a, const Arm& b) {
    std::vector<FactDifference> differences;
    if (!a.setups.empty() && !b.setups.empty()) {
        differences = setup_fact_differences(a.setups[0], b.setups[0]);
    }
    add_inner_differences(differences, a);
    add_inner_differences(differences, b);
    return differences;
}

bool is_allowed(std::string_view fact, std::span<const std::string> factors) {
    return std::any_of(factors.begin(), factors.end(), [&](const std::string& factor) {
        return fact == factor || fact.starts_with(factor + ".") ||
               (fact == kTimerSettingsFact && factor == kTimerFact);
    });
}

Result<void> check_factors(std::span<const std::string> factors) {
    const std::vector<std::string> known = factor_names();
    for (const auto& factor : factors) {
        const bool is_member = factor.starts_with("environment.");
        if (is_member || std::find(known.begin(), known.end(), factor) != known.end()) continue;
        return fail(ErrorKind::usage,
                    fmt::format("--factor {} is no fact of a caliber{}; known: {}",
                                printable(factor), suggestion(factor, known), join(known, ", ")));
    }
    return {};
}

std::string value_text(const Json& value) {
    if (value.is_null()) return "unknown";
    return printable(value.is_string() ? value.get<std::string>() : to_line(value));
}

std::string to_text(const FactDifference& difference) {
    return fmt::format("{} ({}: {}, {}: {})", printable(difference.fact), difference.left_name,
                       value_text(difference.left), difference.right_name,
                       value_text(difference.right));
}

}  // namespace opgauge
