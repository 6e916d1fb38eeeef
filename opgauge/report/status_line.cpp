// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/status_line.h"

#include "opgauge/base/terminal.h"

#include <fmt/format.h>

namespace opgauge {

std::string elided(std::string_view text, int width) {
    const auto limit = static_cast<std::size_t>(width > 3 ? width : 3);
    std::size_t characters = 0;
    std::size_t cut = text.size();  // byte offset of character number limit - 3
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
        if (characters == limit - 3) cut = i;
        ++characters;
    }
    if (characters <= limit) return std::string(text);
    return std::string(text.substr(0, cut)) + "...";
}

StatusLine::StatusLine(std::FILE* stream) : stream_(stream), smart_(is_smart_terminal(stream)) {}

StatusLine::~StatusLine() {
    clear();
}

void StatusLine::update(std::string_view text) {
    if (!smart_ || text == shown_) return;
    // Erase to the end of the line after writing, so that the line does not flicker.
    // The last column stays free: a cursor waiting there would have the erasing take its character.
    write(fmt::format("\r{}\x1b[K", elided(text, terminal_width(stream_) - 1)));
    shown_ = text;
}

void StatusLine::print(std::string_view line) {
    const std::string status = shown_;
    clear();
    write(fmt::format("{}\n", line));
    if (!status.empty()) update(status);
}

void StatusLine::clear() {
    if (shown_.empty()) return;
    write("\r\x1b[K");
    shown_.clear();
}

// A terminal that went away must not end a measurement, so errors are nobody's concern here.
void StatusLine::write(std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stream_);
    std::fflush(stream_);
}

}  // namespace opgauge
