// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Its value is the number of the channel's socket in a child.
constexpr const char* kChannelVariable = "OPGAUGE_CHANNEL_FD";

// Cuts a byte stream into the protocol's lines and checks each (docs/child_protocol.md). Bytes come
// in pieces of any size. After an error nothing more is decoded.
class LineDecoder {
  public:
    static constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

    // Messages completed by these bytes, in order. Kind failed with the protocol error's text; what
    // was complete before the bad line is in `messages_before_error`.
    Result<std::vector<Json>> feed(std::string_view bytes);
    const std::vector<Json>& messages_before_error() const { return before_error_; }

    // What is left when the stream ends: an unfinished line, or empty.
    const std::string& rest() const { return buffer_; }

  private:
    Result<Json> decode(std::string_view line);

    std::string buffer_;
    std::size_t searched_ = 0;  // bytes of buffer_ known to hold no newline
    std::vector<Json> before_error_;
    unsigned long long next_seq_ = 1;
    bool failed_ = false;
};

// The parent's end of the socketpair: non-blocking, with a bounded buffer for answers that the
// child has not read yet.
class Channel {
  public:
    Channel() = default;
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    // Makes the pair. The child's end is inherited through spawn and then closed here.
    Result<void> open();
    int parent_fd() const { return parent_fd_; }
    int child_fd() const { return child_fd_; }
    void close_child_end();
    void close_parent_end();

    enum class ReadState { open, closed };
    // Appends what is there to `bytes`.
    ReadState read_available(std::string& bytes);

    // Kind failed where the child has not read for so long that the buffer is full.
    Result<void> send(const Json& message);
    // Writes what the socket takes now.
    void flush();
    bool wants_to_write() const { return !outgoing_.empty(); }

  private:
    int parent_fd_ = -1;
    int child_fd_ = -1;
    std::string outgoing_;
};

}  // namespace opgauge
