// SPDX-License-Identifier: Apache-2.0
#include "opgauge/run/parent_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>

namespace opgauge {
namespace {

using ::testing::HasSubstr;

class ParentChannelTest : public ::testing::Test {
  protected:
    ParentChannelTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds_.data()), 0); }
    ~ParentChannelTest() override {
        ::close(fds_[0]);
        close_ours();
    }
    void close_ours() {
        if (fds_[1] >= 0) ::close(fds_[1]);
        fds_[1] = -1;
    }
    void say(std::string_view text) const {
        EXPECT_EQ(::write(fds_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    std::string heard() const {
        std::array<char, 4096> buffer{};
        const ssize_t n = ::recv(fds_[1], buffer.data(), buffer.size(), MSG_DONTWAIT);
        return std::string(buffer.data(), n < 0 ? 0 : static_cast<std::size_t>(n));
    }

    std::array<int, 2> fds_{-1, -1};
};

TEST_F(ParentChannelTest, WhatIsToldIsNumbered) {
    ParentChannel channel(fds_[0]);
    channel.tell("phase", {{"text", "one"}});
    channel.tell("row", Json::object());
    EXPECT_EQ(heard(),
              "{\"type\":\"phase\",\"seq\":1,\"text\":\"one\"}\n"
              "{\"type\":\"row\",\"seq\":2}\n");
}

TEST_F(ParentChannelTest, AQuestionGetsItsOwnAnswer) {
    ParentChannel channel(fds_[0]);
    say("{\"type\":\"run\",\"to\":1}\n{\"type\":\"end\",\"to\":2}\n");
    EXPECT_EQ((**channel.ask("ready", Json::object()))["type"], "run");
    EXPECT_EQ((**channel.ask("ready", Json::object()))["type"], "end");
}

TEST_F(ParentChannelTest, AnAnswerToAnotherQuestionIsAnError) {
    ParentChannel channel(fds_[0]);
    say("{\"type\":\"run\",\"to\":7}\n");
    const auto answer = channel.ask("ready", Json::object());
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("no answer to 'ready' 1"));
}

TEST_F(ParentChannelTest, AnAnswerThatIsNoJsonIsAnError) {
    ParentChannel channel(fds_[0]);
    say("rubbish\n");
    EXPECT_FALSE(channel.ask("ready", Json::object()));
}

TEST_F(ParentChannelTest, AnotherSideThatIsGoneIsNoError) {
    ParentChannel channel(fds_[0]);
    close_ours();
    std::signal(SIGPIPE, SIG_IGN);
    const auto answer = channel.ask("ready", Json::object());
    ASSERT_TRUE(answer);
    EXPECT_FALSE(*answer);
}

}  // namespace
}  // namespace opgauge
