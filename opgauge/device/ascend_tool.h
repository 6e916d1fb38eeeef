// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// The fallback where DCMI cannot be opened: `npu-smi info`, with a deadline.
void ask_npu_smi(const Environment& environment, Discovery& found);

// The model as the runtime and its frameworks spell it: "Ascend910B3" of the tools' "910B3".
std::string ascend_model(std::string_view chip);

// The table of `npu-smi info`: two lines a chip; devices are ranked by (NPU id, chip), which is the
// number that the runtime counts. Process rows look like device rows; they go to their device.
// Kind environment: the tool's own error.
Result<std::vector<Device>> parse_npu_smi_info(std::string_view text);

// `npu-smi info -m`: a row a chip, read by its header since a newer series inserts a column; rows
// of controllers (Mcu, "-") are left out.
Result<std::vector<Device>> parse_npu_smi_map(std::string_view text);

// `npu-smi info -l` and `-t ...`: blocks of "key : value". -l counts chips; -t describes each.
Result<std::vector<Device>> parse_npu_smi_blocks(std::string_view text);

}  // namespace opgauge
