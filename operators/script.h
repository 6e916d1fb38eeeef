// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/channel_client.h"

#include <string>

namespace opgauge::operators {

// Plays a JSON script in place of measuring (docs/fake_backend.md): the times, failures and bad
// habits of its cases, so that the whole tool can be tested without a clock or a device. Returns
// the exit code of the child.
int play_script(ChannelClient& channel, const std::string& file);

}  // namespace opgauge::operators
