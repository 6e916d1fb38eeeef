// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/slurm_states.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace opgauge {
namespace {

constexpr std::size_t kMostTasks = 4'000'001;  // Slurm's own limit of MaxArraySize

std::string_view first_word(std::string_view text) {
    text = trim(text);
    return text.substr(0, text.find_first_of(" +"));
}

std::optional<int> small_number(std::string_view text) {
    const auto number = parse_unsigned(trim(text));
    if (!number || *number >= kMostTasks) return std::nullopt;
    return static_cast<int>(*number);
}

std::string plain_reason(std::string_view text) {
    text = trim(text);
    return text == "None" ? "" : printable(text);
}

// "2-9:3" appended to `tasks`.
void add_range(std::string_view text, std::vector<int>& tasks) {
    const auto colon = text.find(':');
    const int step =
        colon == std::string_view::npos ? 1 : small_number(text.substr(colon + 1)).value_or(0);
    const std::string_view range = text.substr(0, colon);
    const auto dash = range.find('-');
    const auto first = small_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : small_number(range.substr(dash + 1));
    if (!first || !last || step < 1) return;
    for (int task = *first; task <= *last; task += step) tasks.push_back(task);
}

// The rest of `text` after `key`, up to the next blank; empty where there is none.
std::string_view value_after(std::string_view text, std::string_view key) {
    const auto found = text.find(key);
    if (found == std::string_view::npos) return {};
    const auto begin = found + key.size();
    return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

// Commas inside of parentheses or brackets belong to a list: "gpu:a:2(IDX:0,2),nic:1(IDX:1)".
std::vector<std::string_view> split_outside(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c != ',' || depth > 0) continue;
        if (i > begin) parts.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    return parts;
}

// "gpu:a100:2(IDX:0-1)", "gpu:2(IDX:0,3)", "nic(CNT:2)".
std::optional<GresShare> read_share(std::string_view text) {
    const auto open = text.find('(');
    const auto names = split(text.substr(0, open), ':');
    GresShare share;
    share.name = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) {
        const auto number = small_number(names[i]);
        if (number && i + 1 == names.size()) {
            share.count = *number;
        } else {
            share.type = names[i];
        }
    }
    if (open != std::string_view::npos) {
        const std::string_view inner = text.substr(open + 1, text.find(')') - open - 1);
        if (inner.starts_with("IDX:")) share.indices = read_array(inner.substr(4));
        if (inner.starts_with("CNT:")) share.count = small_number(inner.substr(4)).value_or(0);
        if (share.count == 0) share.count = static_cast<int>(share.indices.size());
    }
    if (share.name.empty() || share.count == 0) return std::nullopt;
    return share;
}

}  // namespace

TaskState task_state(std::string_view word) {
    using enum TaskState;
    static constexpr std::array<std::pair<std::string_view, TaskState>, 16> kStates = {{
        {"PENDING", waiting},
        {"CONFIGURING", waiting},
        {"REQUEUED", waiting},
        {"REQUEUE_HOLD", waiting},
        {"REQUEUE_FED", waiting},
        {"SPECIAL_EXIT", waiting},
        {"COMPLETED", completed},
        {"FAILED", failed},
        {"TIMEOUT", timed_out},
        {"DEADLINE", timed_out},
        {"CANCELLED", cancelled},
        {"REVOKED", cancelled},
        {"OUT_OF_MEMORY", out_of_memory},
        {"NODE_FAIL", lost_node},
        {"BOOT_FAIL", lost_node},
        {"PREEMPTED", lost_node},
    }};
    const std::string_view first = first_word(word);
    for (const auto& [name, state] : kStates) {
        if (name == first) return state;
    }
    return active;
}

ExitStatus read_exit(std::string_view text) {
    text = trim(text);
    const auto colon = text.find(':');
    if (colon != std::string_view::npos) {
        const auto exit = small_number(text.substr(0, colon));
        const auto signal = small_number(text.substr(colon + 1));
        if (!exit || !signal) return {};
        if (*signal != 0) return {std::nullopt, signal};
        return {exit, std::nullopt};
    }
    const auto raw = small_number(text);
    if (!raw) return {};
    const int signal = *raw & 0x7f;
    if (signal != 0) return {std::nullopt, signal};
    return {*raw >> 8, std::nullopt};
}

std::vector<TaskReport> read_queue(std::string_view text) {
    std::vector<TaskReport> reports;
    for (const auto line : lines_of(text)) {
        const auto fields = split(line, '|');
        if (fields.size() < 5) continue;
        TaskReport report;
        report.word = printable(first_word(fields[1]));
        report.state = task_state(fields[1]);
        report.reason = plain_reason(fields[3]);
        report.node = printable(trim(fields[4]));
        if (is_final(report.state)) {
            const ExitStatus end = read_exit(fields[2]);
            report.exit = end.exit;
            report.signal = end.signal;
        }
        for (const int task : read_array(fields[0])) {
            report.task = task;
            reports.push_back(report);
        }
    }
    return reports;
}

std::vector<TaskReport> read_accounts(std::string_view text, std::string_view job_id) {
    const std::string prefix = std::string(job_id) + "_";
    std::vector<TaskReport> reports;
    for (const auto line : lines_of(text)) {
        const auto fields = split(line, '|');
        if (fields.size() < 4 || !fields[0].starts_with(prefix)) continue;
        std::string_view tasks = std::string_view(fields[0]).substr(prefix.size());
        if (tasks.starts_with('[')) tasks = tasks.substr(1, tasks.find(']') - 1);
        TaskReport report;
        report.word = printable(first_word(fields[1]));
        report.state = task_state(fields[1]);
        const ExitStatus end = read_exit(fields[2]);
        report.exit = end.exit;
        report.signal = end.signal;
        report.node = printable(trim(fields[3]));
        for (const int task : read_array(tasks)) {
            report.task = task;
            reports.push_back(report);
        }
    }
    return reports;
}

std::optional<std::string> read_job_id(std::string_view text) {
    const std::string_view id = trim(text.substr(0, text.find_first_of(";\n")));
    if (!parse_unsigned(id)) return std::nullopt;
    return std::string(id);
}

std::set<std::string> read_job_ids(std::string_view text) {
    std::set<std::string> ids;
    for (const auto line : lines_of(text)) {
        if (const auto id = read_job_id(line)) ids.insert(*id);
    }
    return ids;
}

std::optional<int> read_array_limit(std::string_view text) {
    for (const auto line : lines_of(text)) {
        if (!trim(line).starts_with("MaxArraySize")) continue;
        const auto equals = line.find('=');
        if (equals != std::string_view::npos) return small_number(line.substr(equals + 1));
    }
    return std::nullopt;
}

std::string array_text(const std::vector<int>& tasks) {
    std::string text;
    for (std::size_t i = 0; i < tasks.size();) {
        std::size_t last = i;
        while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text +=
            last == i ? fmt::format("{}", tasks[i]) : fmt::format("{}-{}", tasks[i], tasks[last]);
        i = last + 1;
    }
    return text;
}

std::vector<int> read_array(std::string_view text) {
    std::vector<int> tasks;
    for (const auto& part : split(text.substr(0, text.find('%')), ',')) add_range(part, tasks);
    return tasks;
}

std::vector<GresShare> read_shares(std::string_view text) {
    std::vector<GresShare> shares;
    // Each node's part begins with its name: "  Nodes=n1 CPU_IDs=0-3 Mem=0 GRES=gpu:2(IDX:0-1) ".
    constexpr std::string_view kNode = " Nodes=";
    for (auto begin = text.find(kNode); begin != std::string_view::npos;) {
        const auto next = text.find(kNode, begin + kNode.size());
        const std::string_view part = text.substr(begin, next - begin);
        const std::string node(value_after(part, kNode));
        for (const auto item : split_outside(value_after(part, " GRES="))) {
            auto share = read_share(item);
            if (!share) continue;
            share->node = node;
            shares.push_back(std::move(*share));
        }
        begin = next;
    }
    return shares;
}

bool is_no_answer(std::string_view error) {
    static constexpr std::array<std::string_view, 8> kTexts = {"Unable to contact slurm controller",
                                                               "Socket timed out",
                                                               "authentication error",
                                                               "Transport endpoint",
                                                               "Connection refused",
                                                               "Unable to establish",
                                                               "Zero Bytes were transmitted",
                                                               "did not end within"};
    return std::any_of(kTexts.begin(), kTexts.end(), [&](std::string_view text) {
        return error.find(text) != std::string_view::npos;
    });
}

}  // namespace opgauge
