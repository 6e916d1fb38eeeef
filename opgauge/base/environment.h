// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Environment variables as a value, so that code above main() never reads the process's own.
class Environment {
  public:
    Environment() = default;
    explicit Environment(std::map<std::string, std::string, std::less<>> values);
    static Environment of_this_process();

    // nullopt: unset; an empty value is a value.
    std::optional<std::string> get(std::string_view name) const;
    // As get, but an empty value counts as unset.
    std::optional<std::string> get_non_empty(std::string_view name) const;
    void set(std::string_view name, std::string value);
    void unset(std::string_view name);
    // Sets it, or unsets it for nullopt.
    void change(std::string_view name, const std::optional<std::string>& value);
    // A list of folders with `folder` before those that are in it now.
    std::string with_before(std::string_view name, const std::string& folder) const;
    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

    // "NAME=value" each, as execve takes them.
    std::vector<std::string> to_strings() const;

  private:
    std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace opgauge
