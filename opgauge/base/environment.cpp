// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/environment.h"

#include <unistd.h>

#include <utility>

extern char** environ;

namespace opgauge {

Environment::Environment(std::map<std::string, std::string, std::less<>> values)
    : values_(std::move(values)) {}

Environment Environment::of_this_process() {
    Environment result;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto split = text.find('=');
        if (split == std::string_view::npos) continue;
        result.set(text.substr(0, split), std::string(text.substr(split + 1)));
    }
    return result;
}

std::optional<std::string> Environment::get(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return found->second;
}

std::optional<std::string> Environment::get_non_empty(std::string_view name) const {
    auto value = get(name);
    if (value && value->empty()) return std::nullopt;
    return value;
}

void Environment::set(std::string_view name, std::string value) {
    values_.insert_or_assign(std::string(name), std::move(value));
}

void Environment::unset(std::string_view name) {
    const auto found = values_.find(name);
    if (found != values_.end()) values_.erase(found);
}

void Environment::change(std::string_view name, const std::optional<std::string>& value) {
    if (value) {
        set(name, *value);
    } else {
        unset(name);
    }
}

std::string Environment::with_before(std::string_view name, const std::string& folder) const {
    const auto now = get_non_empty(name);
    return now ? folder + ":" + *now : folder;
}

std::vector<std::string> Environment::to_strings() const {
    std::vector<std::string> result;
    result.reserve(values_.size());
    for (const auto& [name, value] : values_) result.push_back(name + "=" + value);
    return result;
}

}  // namespace opgauge
