// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <string_view>
#include <vector>

namespace opgauge {

// The fallback where MTML cannot be opened: `mthreads-gmi -q --json`, with a deadline.
void ask_mthreads_gmi(const Environment& environment, Discovery& found);

// `mthreads-gmi -q --json`: numbers are strings with units glued on, a key may carry a trailing
// blank, indices may have gaps. Kind environment: not JSON, or empty.
Result<std::vector<Device>> parse_mthreads_json(std::string_view text);

// `mthreads-gmi -L`: "GPU 0 : MTT S5000 (UUID : ...)".
Result<std::vector<Device>> parse_mthreads_list(std::string_view text);

// The table of plain `mthreads-gmi`; its process rows look like device rows and are left out.
Result<std::vector<Device>> parse_mthreads_table(std::string_view text);

// `mthreads-gmi -q -d MEMORY -i N`: one device, of which only the memory is known.
Result<std::vector<Device>> parse_mthreads_memory(std::string_view text);

}  // namespace opgauge
