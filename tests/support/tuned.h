// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/tuning/tuning_key.h"

namespace opgauge::testing {

// A winner or timing of kernel "mm" as a FlagGems tuner would send it.
inline TunedConfig tuned(int size, int block, double ms,
                         Conditions conditions = Conditions::quiet_serial) {
    TunedConfig one;
    one.key.kernel = "mm";
    one.key.space = "mm_5c4d1a5307873292ae26ebac32ca425c";
    one.key.key = Json::array({size, size, "torch.float16"});
    one.key.raw_key = Json::array({size, size, "torch.float16"});
    one.scope.device_model = "H200";
    one.scope.kernel_source_hash = "source1";
    one.scope.config_list_digest = "list1";
    one.config = {{"BLOCK_M", block}, {"num_warps", 4}};
    one.times = {ms, ms, ms};
    one.conditions = conditions;
    return one;
}

}  // namespace opgauge::testing
