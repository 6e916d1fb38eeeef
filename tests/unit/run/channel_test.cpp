// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>

namespace opgauge {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

const std::string kTalk = R"({"type":"hello","seq":1,"pid":7})"
                          "\n"
                          R"({"type":"log","seq":2,"text":"Größe µs"})"
                          "\n"
                          R"({"seq":3,"type":"bye"})"
                          "\n";

// The error that a whole stream ends with, or "" where it has none.
std::string error_of(std::string_view bytes) {
    LineDecoder decoder;
    const auto messages = decoder.feed(bytes);
    return messages ? std::string() : messages.error().message;
}

std::string log_line(std::size_t bytes) {
    const std::string begin = R"({"type":"log","seq":1,"text":")";
    return begin + std::string(bytes - begin.size() - 2, 'x') + "\"}";
}

TEST(LineDecoder, PiecesOfAnySizeGiveTheSameMessages) {
    for (std::size_t size = 1; size <= kTalk.size(); ++size) {
        LineDecoder decoder;
        std::vector<std::string> types;
        for (std::size_t at = 0; at < kTalk.size(); at += size) {
            const auto messages = decoder.feed(std::string_view(kTalk).substr(at, size));
            ASSERT_TRUE(messages) << messages.error().message;
            for (const auto& message : *messages) types.push_back(message["type"]);
        }
        ASSERT_EQ(types, (std::vector<std::string>{"hello", "log", "bye"})) << size;
        ASSERT_EQ(decoder.rest(), "");
    }
}

TEST(LineDecoder, AnUnfinishedLineIsTheRest) {
    LineDecoder decoder;
    ASSERT_EQ(decoder.feed(kTalk + "{\"type\"")->size(), 3U);
    EXPECT_EQ(decoder.rest(), "{\"type\"");
    ASSERT_EQ(decoder.feed(":\"log\",\"seq\":4}\n")->size(), 1U);
    EXPECT_EQ(decoder.rest(), "");
}

TEST(LineDecoder, MessagesBeforeABadLineAreKeptAndNothingAfterItIsDecoded) {
    LineDecoder decoder;
    EXPECT_FALSE(decoder.feed(kTalk + "rubbish\n{\"type\":\"log\",\"seq\":4}\n"));
    EXPECT_EQ(decoder.messages_before_error().size(), 3U);
    const auto later = decoder.feed("{\"type\":\"log\",\"seq\":4}\n");
    ASSERT_TRUE(later);
    EXPECT_TRUE(later->empty());
    EXPECT_EQ(decoder.rest(), "");
}

TEST(LineDecoder, ALineOfOneMebibyteIsTakenAndOneByteMoreIsNot) {
    LineDecoder decoder;
    const auto longest = decoder.feed(log_line(LineDecoder::kLongestLine) + "\n");
    ASSERT_TRUE(longest) << longest.error().message;
    EXPECT_EQ(longest->size(), 1U);
    EXPECT_THAT(error_of(log_line(LineDecoder::kLongestLine + 1) + "\n"),
                StartsWith("a channel line is longer than 1 MiB: {\"type\":\"log\""));
}

TEST(LineDecoder, ALineThatIsTooLongIsRefusedBeforeItsEndHasCome) {
    LineDecoder decoder;
    EXPECT_TRUE(decoder.feed(std::string(LineDecoder::kLongestLine, '{')));
    EXPECT_FALSE(decoder.feed("{"));
}

TEST(LineDecoder, ALongLineInCrumbsIsCheap) {
    LineDecoder decoder;
    const std::string line = log_line(LineDecoder::kLongestLine) + "\n";
    std::size_t messages = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        messages += decoder.feed(std::string_view(line).substr(at, 1))->size();
    }
    EXPECT_EQ(messages, 1U);  // searched anew for each byte this would take minutes
}

TEST(LineDecoder, EachKindOfBadLineIsNamed) {
    EXPECT_EQ(error_of("\n"), "a channel line is not JSON: ");
    EXPECT_EQ(error_of("{\"type\":\"log\"\n"), "a channel line is not JSON: {\"type\":\"log\"");
    EXPECT_EQ(error_of("[1]\n"), "a channel line is not a JSON object: [1]");
    EXPECT_EQ(error_of("{\"seq\":1}\n"), "a channel line has no type: {\"seq\":1}");
    EXPECT_EQ(error_of("{\"type\":5,\"seq\":1}\n"),
              "a channel line has no type: {\"type\":5,\"seq\":1}");
    EXPECT_EQ(error_of("{\"type\":\"log\"}\n"),
              "a channel line should have seq 1: {\"type\":\"log\"}");
    EXPECT_THAT(error_of(R"({"type":"samples","seq":1,"values_ns":[NaN]})"
                         "\n"),
                StartsWith("a channel line is not JSON: "));
    EXPECT_THAT(error_of(R"({"type":"samples","seq":1,"values_ns":[1e999]})"
                         "\n"),
                StartsWith("a channel line is not JSON: "));
}

TEST(LineDecoder, ASequenceNumberMustBeTheNextWholeNumber) {
    for (const std::string seq :
         {"0", "2", "-1", "true", "1.5", "\"1\"", "null", "18446744073709551617"}) {
        EXPECT_THAT(error_of("{\"type\":\"log\",\"seq\":" + seq + "}\n"),
                    StartsWith("a channel line should have seq 1: "))
            << seq;
    }
}

TEST(LineDecoder, AnErrorShowsTwoHundredBytesAndNoControlCharacters) {
    const std::string error = error_of("\x1b[2J\t" + std::string(300, 'y') + "\n");
    EXPECT_THAT(error, StartsWith("a channel line is not JSON: \\x1b[2J\\x09yyy"));
    EXPECT_THAT(error, EndsWith(std::string(195, 'y') + "..."));
}

TEST(LineDecoder, DeepNestingIsRefusedBeforeItCanUseUpTheStack) {
    const std::string shallow =
        R"({"type":"log","seq":1,"x":)" + std::string(150, '[') + std::string(150, ']') + "}\n";
    EXPECT_EQ(error_of(shallow), "");
    EXPECT_THAT(error_of(R"({"type":"log","seq":1,"x":)" + std::string(500'000, '[') +
                         std::string(500'000, ']') + "}\n"),
                StartsWith("a channel line nests too deep: "));
    EXPECT_EQ(error_of(R"({"type":"log","seq":1,"text":")" + std::string(1000, '[') + "\\\"[\"}\n"),
              "");
}

class ChannelTest : public ::testing::Test {
  protected:
    ChannelTest() { EXPECT_TRUE(channel_.open()); }

    std::string read_as_child() const {
        std::array<char, 65536> buffer{};
        const ssize_t n = ::read(channel_.child_fd(), buffer.data(), buffer.size());
        return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
    }
    void write_as_child(std::string_view bytes) const {
        ASSERT_EQ(::write(channel_.child_fd(), bytes.data(), bytes.size()),
                  static_cast<ssize_t>(bytes.size()));
    }

    Channel channel_;
};

TEST_F(ChannelTest, WhatTheChildWroteBeforeItClosedIsReadFirst) {
    write_as_child("abc");
    std::string bytes;
    EXPECT_EQ(channel_.read_available(bytes), Channel::ReadState::open);
    write_as_child("def");
    channel_.close_child_end();
    EXPECT_EQ(channel_.read_available(bytes), Channel::ReadState::closed);
    EXPECT_EQ(bytes, "abcdef");
}

TEST_F(ChannelTest, AnAnswerIsOneLine) {
    ASSERT_TRUE(channel_.send({{"type", "more"}, {"to", 3}, {"text", "a\nb"}}));
    EXPECT_EQ(read_as_child(), "{\"type\":\"more\",\"to\":3,\"text\":\"a\\nb\"}\n");
    EXPECT_FALSE(channel_.wants_to_write());
}

TEST_F(ChannelTest, AnswersWaitForASlowReaderAndArriveWholeAndInOrder) {
    std::string expected;
    for (int i = 0; i < 200; ++i) {
        const Json answer = {{"type", "more"}, {"to", i}, {"text", std::string(4000, 'x')}};
        expected += to_line(answer) + "\n";
        ASSERT_TRUE(channel_.send(answer)) << i;
    }
    EXPECT_TRUE(channel_.wants_to_write());
    std::string got;
    while (got.size() < expected.size()) {
        got += read_as_child();
        channel_.flush();
    }
    EXPECT_EQ(got, expected);
    EXPECT_FALSE(channel_.wants_to_write());
}

TEST_F(ChannelTest, TheBufferForAnswersHasAnEnd) {
    const Json answer = {{"type", "more"}, {"text", std::string(4000, 'x')}};
    int sent = 0;
    auto result = channel_.send(answer);
    while (result && sent < 10'000) {
        ++sent;
        result = channel_.send(answer);
    }
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the child does not read its answers");
    EXPECT_GT(sent, 250);  // about 1 MiB, and what the socket takes
    EXPECT_LT(sent, 10'000);
}

TEST_F(ChannelTest, AnAnswerToNobodyIsNoErrorAndNoSignal) {
    channel_.close_child_end();
    EXPECT_TRUE(channel_.send({{"type", "go"}}));
    EXPECT_FALSE(channel_.wants_to_write());
}

}  // namespace
}  // namespace opgauge
