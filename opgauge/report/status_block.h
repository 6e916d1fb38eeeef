// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Several lines of a terminal that are redrawn in place, and whole lines above them. Where the
// stream is no terminal, status texts are left out and only whole lines appear.
class StatusBlock {
  public:
    explicit StatusBlock(std::FILE* stream);
    ~StatusBlock();
    StatusBlock(const StatusBlock&) = delete;
    StatusBlock& operator=(const StatusBlock&) = delete;

    bool redraws() const { return smart_; }
    // Replaces the status; each line is cut to the terminal's width.
    void update(std::vector<std::string> lines);
    // Prints a whole line and keeps the status below it.
    void print(std::string_view line);
    // Removes the status.
    void clear();

  private:
    std::string erased() const;
    std::string drawn() const;
    void write(std::string_view bytes);

    std::FILE* stream_;
    bool smart_;
    std::vector<std::string> shown_;
};

}  // namespace opgauge
