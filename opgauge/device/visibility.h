// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/result.h"
#include "opgauge/device/backend.h"

#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// How one runtime reads its visibility variable.
struct MaskRules {
    enum class Numbers {
        lenient,  // blanks around, leading zeros and 0x are read (measured with CUDA's driver 580)
        exact,    // must equal its own decimal; anything else ends the list (HIP, ROCr, CANN)
    };
    Numbers numbers = Numbers::exact;
    // Text that a token naming a device by its id begins with ("GPU-", "MIG-"); none: indices only.
    std::vector<std::string_view> id_prefixes;
    // The runtime shows no device where the indices do not ascend.
    enum class Order { any, ascending };
    Order order = Order::any;
};

// Reads a set variable's value. A value that hides everything (empty, -1, a bad first token) gives
// hides_all. Kind usage: a repeated token, or an order that the runtime does not take.
Result<CallerMask> read_mask(std::string_view variable, std::string_view value,
                             const MaskRules& rules);

// The index that a token means, or nullopt for an id.
std::optional<int> token_index(std::string_view token);

}  // namespace opgauge
