// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

// What the programs here share: just enough of docs/child_protocol.md to be heard before they
// misbehave. Not the project's own channel code, whose mistakes they should not repeat.
namespace child {

inline int channel() {
    const char* text = std::getenv("OPGAUGE_CHANNEL_FD");
    return text == nullptr ? -1 : std::atoi(text);
}

inline void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) ::_exit(86);
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
}

inline void send_raw(std::string_view bytes) {
    write_all(channel(), bytes);
}

inline int& last_seq() {
    static int seq = 0;
    return seq;
}

// `members` is JSON text that begins with a comma, or nothing.
inline void send(std::string_view type, std::string_view members = "") {
    std::string line = "{\"type\":\"";
    line += type;
    line += "\",\"seq\":" + std::to_string(++last_seq());
    line += members;
    line += "}\n";
    send_raw(line);
}

// A row, as far as the tests are concerned.
inline void send_row(int number) {
    send("log", ",\"level\":\"info\",\"text\":\"row " + std::to_string(number) + "\"");
}

// Tells its own or a grandchild's process id.
inline void send_pid(pid_t pid) {
    send("event", ",\"name\":\"pid\",\"pid\":" + std::to_string(pid));
}

// One line without its newline; empty at end of file.
inline std::string read_answer() {
    std::string line;
    char c = 0;
    while (true) {
        const ssize_t n = ::read(channel(), &c, 1);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return {};
        if (c == '\n') return line;
        line.push_back(c);
    }
}

inline std::string ask(std::string_view type, std::string_view members = "") {
    send(type, members);
    return read_answer();
}

[[noreturn]] inline void sleep_for_ever() {
    while (true) ::pause();
}

inline std::string_view argument(int argc, char** argv, int index) {
    return index < argc ? std::string_view(argv[index]) : std::string_view();
}

}  // namespace child
