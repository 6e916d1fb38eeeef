// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/status_block.h"

#include "opgauge/base/terminal.h"
#include "opgauge/report/status_line.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge {

StatusBlock::StatusBlock(std::FILE* stream) : stream_(stream), smart_(is_smart_terminal(stream)) {}

StatusBlock::~StatusBlock() {
    clear();
}

void StatusBlock::update(std::vector<std::string> lines) {
    if (!smart_ || lines == shown_) return;
    std::string bytes = erased();
    shown_ = std::move(lines);
    write(bytes + drawn());
}

void StatusBlock::print(std::string_view line) {
    write(fmt::format("{}{}\n{}", erased(), line, drawn()));
}

void StatusBlock::clear() {
    if (shown_.empty()) return;
    write(erased());
    shown_.clear();
}

// The cursor stands at the end of the last line.
std::string StatusBlock::erased() const {
    if (shown_.empty()) return {};
    const std::string up = shown_.size() > 1 ? fmt::format("\x1b[{}A", shown_.size() - 1) : "";
    return "\r" + up + "\x1b[J";
}

std::string StatusBlock::drawn() const {
    const int width = smart_ && !shown_.empty() ? terminal_width(stream_) - 1 : 0;
    std::string bytes;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        if (i > 0) bytes += "\n";
        bytes += elided(shown_[i], width);
    }
    return bytes;
}

// A terminal that went away must not end a measurement, so errors are nobody's concern here.
void StatusBlock::write(std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stream_);
    std::fflush(stream_);
}

}  // namespace opgauge
