// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/parent_channel.h"

#include "opgauge/base/text.h"
#include "opgauge/run/channel.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace opgauge {
namespace {

// Waits for bytes or a signal; signals come in nowhere else.
bool may_read(int fd) {
    while (SignalGuard::count() == 0) {
        pollfd waited = {fd, POLLIN, 0};
        if (::ppoll(&waited, 1, nullptr, &SignalGuard::wait_mask()) > 0) return true;
        if (errno != EINTR) return false;
    }
    return false;
}

}  // namespace

void ParentChannel::tell(const char* type, const Json& members) {
    Json line = {{"type", type}, {"seq", ++seq_}};
    line.update(members);
    const std::string bytes = to_line(line) + "\n";
    std::string_view left = bytes;
    while (!left.empty()) {
        const ssize_t written = ::write(fd_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        left.remove_prefix(static_cast<std::size_t>(written));
    }
}

Result<std::optional<Json>> ParentChannel::ask(const char* type, const Json& members) {
    tell(type, members);
    OPGAUGE_TRY_ASSIGN(const auto line, read_line());
    if (!line) return std::optional<Json>();
    OPGAUGE_TRY_ASSIGN(Json answer, parse_json(*line, fmt::format("the answer to '{}'", type)));
    if (get_optional<unsigned long long>(answer, "to") != seq_) {
        return fail(ErrorKind::failed, fmt::format("what came is no answer to '{}' {}: {}", type,
                                                   seq_, printable(*line, 200)));
    }
    return std::optional(std::move(answer));
}

Result<std::optional<std::string>> ParentChannel::read_line() {
    std::size_t end = 0;
    while ((end = incoming_.find('\n')) == std::string::npos) {
        if (incoming_.size() > LineDecoder::kLongestLine) {
            return fail(ErrorKind::failed, "an answer is longer than 1 MiB");
        }
        if (!may_read(fd_)) return std::optional<std::string>();
        std::array<char, 4096> buffer{};
        const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return std::optional<std::string>();
        incoming_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    std::string line = incoming_.substr(0, end);
    incoming_.erase(0, end + 1);
    return std::optional(std::move(line));
}

}  // namespace opgauge
