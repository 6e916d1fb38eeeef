// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/stack_dump.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"
#include "opgauge/base/tool.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace opgauge {
namespace {

constexpr std::chrono::seconds kDeadline{5};
constexpr std::size_t kLongestFrame = 200;

// `File "/a/test_mm.py", line 33 in get_latency`
std::optional<std::string> faulthandler_frame(std::string_view line) {
    constexpr std::string_view kFile = "File \"";
    constexpr std::string_view kLine = "\", line ";
    constexpr std::string_view kIn = " in ";
    const auto name_end = line.find(kLine);
    if (!line.starts_with(kFile) || name_end == std::string_view::npos) return std::nullopt;
    const std::string name(line.substr(kFile.size(), name_end - kFile.size()));
    const auto rest = line.substr(name_end + kLine.size());
    const auto in = rest.find(kIn);
    if (in == std::string_view::npos) return std::nullopt;
    return fmt::format("{}:{} in {}", std::filesystem::path(name).filename().string(),
                       rest.substr(0, in), rest.substr(in + kIn.size()));
}

// `get_latency (test_mm.py:33)`
std::optional<std::string> py_spy_frame(std::string_view line) {
    const auto open = line.rfind(" (");
    if (open == std::string_view::npos || !line.ends_with(')')) return std::nullopt;
    const auto place = line.substr(open + 2, line.size() - open - 3);
    if (place.find(':') == std::string_view::npos) return std::nullopt;
    const auto colon = place.rfind(':');
    const std::filesystem::path file{std::string(place.substr(0, colon))};
    return fmt::format("{}:{} in {}", file.filename().string(), place.substr(colon + 1),
                       line.substr(0, open));
}

}  // namespace

std::function<bool(long long pid)> py_spy(const Environment& environment,
                                          const std::filesystem::path& log) {
    const auto program = find_program("py-spy", environment);
    if (!program) return {};
    return [=](long long pid) {
        const auto said =
            run_tool({*program, "dump", "--pid", std::to_string(pid)}, environment, kDeadline);
        if (!said || said->exit_code != 0) return false;
        auto file = LineAppender::open(log);
        return file && file->append(trim(said->out)).has_value();
    };
}

// faulthandler tells the main thread last, py-spy by its name.
std::optional<std::string> innermost_frame(std::string_view log) {
    std::optional<std::string> found;
    bool faulthandler = false;
    bool main_of_py_spy = false;
    for (const auto& line : lines_of(log)) {
        const auto text = trim(line);
        const bool head = text.find("hread ") != std::string_view::npos;
        if (head && text.ends_with("(most recent call first):")) {
            faulthandler = true;
        } else if (head && text.ends_with("\"MainThread\"")) {
            main_of_py_spy = true;
        } else {
            auto frame = std::exchange(faulthandler, false)     ? faulthandler_frame(text)
                         : std::exchange(main_of_py_spy, false) ? py_spy_frame(text)
                                                                : std::nullopt;
            if (frame) found = printable(*frame, kLongestFrame);
        }
    }
    return found;
}

std::optional<std::string> innermost_frame_of(const std::filesystem::path& log,
                                              std::uintmax_t offset) {
    const auto text = read_file(log);
    if (!text || text->size() <= offset) return std::nullopt;
    return innermost_frame(std::string_view(*text).substr(offset));
}

}  // namespace opgauge
