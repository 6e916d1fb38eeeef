// SPDX-License-Identifier: Apache-2.0
#include "cli/parse_errors.h"

#include "opgauge/base/text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <vector>

namespace opgauge::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    const auto shown = [](const CLI::App* command) { return !command->get_group().empty(); };
    for (const auto* command : app.get_subcommands(shown)) {
        names.push_back(command->get_name());
    }
    return names;
}

std::vector<std::string> flag_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::string help_of(const std::string& name) {
    return fmt::format("; `{} --help` explains", name);
}

// `command` is the one that the words were given to; `name` is how to call it.
std::string unexpected_word(const CLI::App& command, const std::string& name,
                            const std::string& word) {
    if (!word.starts_with('-')) {
        return fmt::format("{} does not take '{}'{} what it takes", name, printable(word),
                           help_of(name));
    }
    const std::string flag = word.substr(0, word.find('='));
    return fmt::format("{} has no option {}{}{} all", name, printable(flag),
                       suggestion(flag, flag_names(command)), help_of(name));
}

std::string without_command(const CLI::App& app, const std::vector<std::string>& words) {
    const std::string known = join(command_names(app), ", ");
    if (words.empty()) {
        return fmt::format("no command given; known: {}{} them", known, help_of("opgauge"));
    }
    if (words.front().starts_with('-')) return unexpected_word(app, "opgauge", words.front());
    return fmt::format("unknown command '{}'{}; known: {}", printable(words.front()),
                       suggestion(words.front(), command_names(app)), known);
}

}  // namespace

std::string parse_error_line(const CLI::App& app, const CLI::ParseError& error) {
    const auto commands = app.get_subcommands();
    const auto words = app.remaining(true);
    if (commands.empty()) return without_command(app, words);
    const CLI::App& command = *commands.front();
    const std::string name = "opgauge " + command.get_name();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !words.empty()) {
        return unexpected_word(command, name, words.front());
    }
    return fmt::format("{}: {}{} what it takes", name, printable(error.what()), help_of(name));
}

}  // namespace opgauge::cli
