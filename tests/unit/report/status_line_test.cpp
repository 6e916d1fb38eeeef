// SPDX-License-Identifier: Apache-2.0
#include "opgauge/report/status_line.h"

#include "opgauge/base/file.h"
#include "opgauge/base/terminal.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace opgauge {
namespace {

// A terminal of a chosen width whose other end the test reads.
class Terminal {
  public:
    explicit Terminal(unsigned short columns) {
        const winsize size{24, columns, 0, 0};
        int slave = -1;
        EXPECT_EQ(::openpty(&master_, &slave, nullptr, nullptr, &size), 0);
        stream_ = ::fdopen(slave, "w");
        ::fcntl(master_, F_SETFL, O_NONBLOCK);
        ::setenv("TERM", "xterm", 1);
    }
    ~Terminal() {
        std::fclose(stream_);
        hang_up();
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    std::FILE* stream() const { return stream_; }
    void hang_up() {
        if (master_ >= 0) ::close(master_);
        master_ = -1;
    }
    // What has been written since the last call. A terminal hands bytes on a moment later.
    std::string screen() const {
        constexpr int kQuietMs = 50;
        std::string text;
        std::array<char, 4096> buffer{};
        pollfd readable = {master_, POLLIN, 0};
        while (::poll(&readable, 1, kQuietMs) > 0) {
            const ssize_t n = ::read(master_, buffer.data(), buffer.size());
            if (n <= 0) break;
            text.append(buffer.data(), static_cast<std::size_t>(n));
        }
        return text;
    }

  private:
    int master_ = -1;
    std::FILE* stream_ = nullptr;
};

TEST(Elided, ATextIsCutByCharactersWithDots) {
    EXPECT_EQ(elided("abcdef", 6), "abcdef");
    EXPECT_EQ(elided("abcdefg", 6), "abc...");
    EXPECT_EQ(elided("µµµµµµ", 6), "µµµµµµ");
    EXPECT_EQ(elided("µµµµµµµ", 6), "µµµ...");
    EXPECT_EQ(elided("abcdef", 1), "...");
    EXPECT_EQ(elided("", 10), "");
}

TEST(StatusLine, OnATerminalTheLineIsRedrawnInPlace) {
    const Terminal terminal(40);
    StatusLine status(terminal.stream());
    EXPECT_TRUE(status.redraws());
    status.update("case 1");
    EXPECT_EQ(terminal.screen(), "\rcase 1\x1b[K");
    status.update("case 1");
    EXPECT_EQ(terminal.screen(), "");
    status.update("case 2");
    EXPECT_EQ(terminal.screen(), "\rcase 2\x1b[K");
    status.clear();
    EXPECT_EQ(terminal.screen(), "\r\x1b[K");
    status.clear();
    EXPECT_EQ(terminal.screen(), "");
}

TEST(StatusLine, AWholeLineIsPrintedAboveTheStatus) {
    const Terminal terminal(40);
    StatusLine status(terminal.stream());
    status.update("case 1");
    terminal.screen();
    status.print("a warning");
    EXPECT_EQ(terminal.screen(), "\r\x1b[Ka warning\r\n\rcase 1\x1b[K");
}

TEST(StatusLine, ALongStatusLeavesTheLastColumnFree) {
    const Terminal terminal(10);
    StatusLine status(terminal.stream());
    status.update("123456789");
    EXPECT_EQ(terminal.screen(), "\r123456789\x1b[K");
    status.update("1234567890");
    EXPECT_EQ(terminal.screen(), "\r123456...\x1b[K");
}

TEST(StatusLine, ItsEndRemovesTheStatus) {
    const Terminal terminal(40);
    {
        StatusLine status(terminal.stream());
        status.update("case 1");
        terminal.screen();
    }
    EXPECT_EQ(terminal.screen(), "\r\x1b[K");
}

TEST(StatusLine, ElsewhereOnlyWholeLinesAppear) {
    const testing::TempDir folder;
    const auto path = folder.path() / "out";
    std::FILE* file = std::fopen(path.c_str(), "w");
    {
        StatusLine status(file);
        EXPECT_FALSE(status.redraws());
        status.update("case 1");
        status.print("a line");
        status.update("case 2");
        EXPECT_EQ(*read_file(path), "a line\n");
    }
    std::fclose(file);
    EXPECT_EQ(*read_file(path), "a line\n");
}

TEST(StatusLine, ADumbTerminalIsNotRedrawn) {
    const Terminal terminal(40);
    ::setenv("TERM", "dumb", 1);
    EXPECT_FALSE(StatusLine(terminal.stream()).redraws());
    ::unsetenv("TERM");
    EXPECT_FALSE(StatusLine(terminal.stream()).redraws());
}

TEST(StatusLine, ATerminalThatGoesAwayEndsNothing) {
    Terminal terminal(40);
    std::setvbuf(terminal.stream(), nullptr, _IONBF, 0);
    StatusLine status(terminal.stream());
    status.update("case 1");
    terminal.hang_up();
    status.update("case 2");
    status.print("a line");
    status.clear();
}

TEST(StatusLine, AFullDeviceEndsNothing) {
    std::FILE* full = std::fopen("/dev/full", "w");
    ASSERT_NE(full, nullptr);
    std::setvbuf(full, nullptr, _IONBF, 0);
    {
        StatusLine status(full);
        status.print("a line");
        EXPECT_TRUE(std::ferror(full) != 0);
    }
    std::fclose(full);
}

TEST(TerminalWidth, IsTheTerminalsOrEighty) {
    const Terminal wide(132);
    EXPECT_EQ(terminal_width(wide.stream()), 132);
    const Terminal unset(0);
    EXPECT_EQ(terminal_width(unset.stream()), 80);
    std::FILE* null = std::fopen("/dev/null", "w");
    EXPECT_EQ(terminal_width(null), 80);
    std::fclose(null);
}

}  // namespace
}  // namespace opgauge
