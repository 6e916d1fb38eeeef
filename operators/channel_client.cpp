// SPDX-License-Identifier: Apache-2.0
#include "operators/channel_client.h"

#include "opgauge/base/text.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace opgauge::operators {

ChannelClient::ChannelClient(int fd) : fd_(fd) {}

ChannelClient::~ChannelClient() {
    ::close(fd_);
}

int ChannelClient::fd_from_environment() {
    const char* text = std::getenv("OPGAUGE_CHANNEL_FD");
    const auto number = parse_unsigned(text == nullptr ? "" : text);
    return number ? static_cast<int>(*number) : -1;
}

void ChannelClient::tell(std::string_view type, Json members) {
    Json message = {{"type", type}, {"seq", ++seq_}};
    message.update(members);
    const std::string line = to_line(message) + "\n";
    std::string_view left = line;
    while (!left.empty()) {
        const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) ::_exit(kParentGone);
        left.remove_prefix(static_cast<std::size_t>(n));
    }
}

Json ChannelClient::ask(std::string_view type, Json members) {
    tell(type, std::move(members));
    Json answer = read_answer();
    if (get_optional<unsigned long long>(answer, "to") != seq_) ::_exit(kProtocolError);
    return answer;
}

Json ChannelClient::read_answer() {
    std::array<char, 65536> bytes{};
    auto end = buffer_.find('\n');
    while (end == std::string::npos) {
        const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) ::_exit(kParentGone);
        buffer_.append(bytes.data(), static_cast<std::size_t>(n));
        end = buffer_.find('\n');
    }
    auto answer = parse_json(std::string_view(buffer_).substr(0, end), "the parent's answer");
    buffer_.erase(0, end + 1);
    if (!answer || !answer->is_object()) ::_exit(kProtocolError);
    return std::move(*answer);
}

}  // namespace opgauge::operators
