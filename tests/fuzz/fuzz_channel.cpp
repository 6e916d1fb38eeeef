// SPDX-License-Identifier: Apache-2.0
// Any bytes in pieces of any size: the decoder ends with the same messages and the same error as
// for the whole, and each message can be printed and read again.
#include "opgauge/run/channel.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

struct Decoded {
    std::vector<std::string> lines;
    std::string error;
    std::string rest;
    bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view bytes, std::size_t piece) {
    opgauge::LineDecoder decoder;
    Decoded decoded;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const auto messages = decoder.feed(bytes.substr(at, piece));
        for (const auto& message : messages ? *messages : decoder.messages_before_error()) {
            decoded.lines.push_back(opgauge::to_line(message));
        }
        if (!messages) decoded.error = messages.error().message;
        if (!messages) break;
    }
    decoded.rest = decoder.rest();
    return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece = std::size_t{data[0]} + 1;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Decoded whole = decode(bytes, bytes.size() + 1);
    if (!(whole == decode(bytes, piece))) std::abort();
    for (const auto& line : whole.lines) {
        const auto again = opgauge::parse_json(line, "a line of ours");
        if (!again || opgauge::to_line(*again) != line) std::abort();
    }
    return 0;
}
