// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <string>
#include <string_view>

namespace opgauge::operators {

// Exit codes of a child (docs/child_protocol.md).
constexpr int kParentGone = 86;
constexpr int kStopped = 87;
constexpr int kProtocolError = 88;

// The child's end of the channel. Its owner is the one conversation of the process; a parent that
// is gone ends the process at once.
class ChannelClient {
  public:
    explicit ChannelClient(int fd);
    ~ChannelClient();
    ChannelClient(const ChannelClient&) = delete;
    ChannelClient& operator=(const ChannelClient&) = delete;

    // Sends a message; `type` and `seq` are added.
    void tell(std::string_view type, Json members = Json::object());
    // Sends a question and returns the parent's answer.
    Json ask(std::string_view type, Json members = Json::object());

    // The number in OPGAUGE_CHANNEL_FD, or -1.
    static int fd_from_environment();

  private:
    Json read_answer();

    int fd_;
    unsigned long long seq_ = 0;
    std::string buffer_;
};

}  // namespace opgauge::operators
