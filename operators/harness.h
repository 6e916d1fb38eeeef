// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/channel_client.h"
#include "operators/operator.h"

#include <functional>
#include <string>
#include <vector>

namespace opgauge::operators {

struct Selection {
    std::vector<std::string> operators;  // in this order
    std::vector<Dtype> dtypes;
    Level level = Level::core;
};

// One sample: nanoseconds for `calls` calls of the side, all together.
using SampleClock = std::function<double(const std::function<void()>& call, int calls)>;

// Steady clock around the calls.
double host_sample(const std::function<void()>& call, int calls);

// Speaks the whole conversation: hello, device, every case of the selection, bye. Returns the exit
// code of the child.
int converse(ChannelClient& channel, const Selection& selection, const SampleClock& clock,
             const std::string& version);

}  // namespace opgauge::operators
