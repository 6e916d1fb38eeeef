// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace opgauge {

// One line of a terminal that is redrawn in place, and whole lines above it. Where the stream is
// no terminal, status texts are left out and only whole lines appear.
class StatusLine {
  public:
    explicit StatusLine(std::FILE* stream);
    ~StatusLine();
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    bool redraws() const { return smart_; }
    // Replaces the status; cut to the terminal's width.
    void update(std::string_view text);
    // Prints a whole line and keeps the status below it.
    void print(std::string_view line);
    // Removes the status.
    void clear();

  private:
    void write(std::string_view bytes);

    std::FILE* stream_;
    bool smart_;
    std::string shown_;
};

// `text` cut to `width` characters, with "..." at its end where it was longer.
std::string elided(std::string_view text, int width);

}  // namespace opgauge
