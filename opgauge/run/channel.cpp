// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/channel.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace opgauge {
namespace {

constexpr std::size_t kShownBytes = 200;
constexpr std::size_t kMostOutgoing = std::size_t{1} << 20U;

tl::unexpected<Error> protocol_error(std::string_view what, std::string_view line) {
    return fail(ErrorKind::failed, fmt::format("{}: {}", what, printable(line, kShownBytes)));
}

}  // namespace

Result<std::vector<Json>> LineDecoder::feed(std::string_view bytes) {
    std::vector<Json> messages;
    if (failed_) return messages;
    buffer_.append(bytes);
    std::size_t start = 0;
    while (true) {
        // Only new bytes are searched: a long line that comes in crumbs stays linear.
        const auto end = buffer_.find('\n', std::max(start, searched_));
        const std::size_t length = (end == std::string::npos ? buffer_.size() : end) - start;
        Result<Json> message = Json(nullptr);
        if (length > kLongestLine) {
            message = protocol_error("a channel line is longer than 1 MiB",
                                     std::string_view(buffer_).substr(start, kShownBytes));
        } else if (end == std::string::npos) {
            buffer_.erase(0, start);
            searched_ = buffer_.size();
            return messages;
        } else {
            message = decode(std::string_view(buffer_).substr(start, length));
        }
        if (!message) {
            failed_ = true;
            buffer_.clear();
            before_error_ = std::move(messages);
            return tl::unexpected<Error>(message.error());
        }
        messages.push_back(std::move(*message));
        start = end + 1;
        searched_ = 0;
    }
}

Result<Json> LineDecoder::decode(std::string_view line) {
    if (nests_too_deep(line)) return protocol_error("a channel line nests too deep", line);
    Json message;
    try {
        message = Json::parse(line);
    } catch (const nlohmann::json::exception&) {
        return protocol_error("a channel line is not JSON", line);
    }
    if (!message.is_object()) return protocol_error("a channel line is not a JSON object", line);
    if (!get_optional<std::string>(message, "type")) {
        return protocol_error("a channel line has no type", line);
    }
    const auto seq = get_optional<unsigned long long>(message, "seq");
    if (seq != next_seq_) {
        return protocol_error(fmt::format("a channel line should have seq {}", next_seq_), line);
    }
    ++next_seq_;
    return message;
}

Channel::~Channel() {
    close_parent_end();
    close_child_end();
}

Result<void> Channel::open() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        return fail(ErrorKind::environment,
                    fmt::format("cannot make the channel: {}", std::strerror(errno)));
    }
    parent_fd_ = fds[0];
    child_fd_ = fds[1];
    return {};
}

void Channel::close_child_end() {
    if (child_fd_ >= 0) ::close(child_fd_);
    child_fd_ = -1;
}

void Channel::close_parent_end() {
    if (parent_fd_ >= 0) ::close(parent_fd_);
    parent_fd_ = -1;
}

Channel::ReadState Channel::read_available(std::string& bytes) {
    std::array<char, 65536> buffer{};
    // Bounded, so that a flooding child cannot keep the loop from its other duties.
    for (int round = 0; round < 16 && parent_fd_ >= 0; ++round) {
        const ssize_t n = ::recv(parent_fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (n > 0) {
            bytes.append(buffer.data(), static_cast<std::size_t>(n));
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return ReadState::open;
        } else {
            return ReadState::closed;
        }
    }
    return ReadState::open;
}

Result<void> Channel::send(const Json& message) {
    const std::string line = to_line(message) + "\n";
    if (outgoing_.size() + line.size() > kMostOutgoing) {
        return fail(ErrorKind::failed, "the child does not read its answers");
    }
    outgoing_ += line;
    flush();
    return {};
}

void Channel::flush() {
    while (!outgoing_.empty() && parent_fd_ >= 0) {
        const ssize_t n =
            ::send(parent_fd_, outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            // A child that has gone is noticed by its pidfd; its answers are for nobody.
            if (errno != EAGAIN && errno != EWOULDBLOCK) outgoing_.clear();
            return;
        }
        outgoing_.erase(0, static_cast<std::size_t>(n));
    }
}

}  // namespace opgauge
