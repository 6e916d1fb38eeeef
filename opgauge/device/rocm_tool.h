// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <string_view>
#include <vector>

namespace opgauge {

// The fallback where neither library can be opened: `amd-smi static --json`, then `rocm-smi
// --json`.
void ask_amd_tools(const Environment& environment, Discovery& found);

// `amd-smi list|static --json`: a bare list (before 26) or {"gpu_data": [...]}; noise may stand in
// front of it, several documents may follow each other. Kind environment: no JSON in it.
Result<std::vector<Device>> parse_amd_smi_json(std::string_view text);

// `rocm-smi ... --json`: an object by card; keys are spelled by version, other objects are no
// cards.
Result<std::vector<Device>> parse_rocm_smi_json(std::string_view text);

// `rocm-smi ... --csv`, matched by column name.
Result<std::vector<Device>> parse_rocm_smi_csv(std::string_view text);

// Any of the two tools' plain texts: "GPU: 0" blocks, "ID: 0 | BDF: ..." lines, "GPU[0] : key:
// value" lines and the tables of several versions. Partitions of one board are devices of their
// own.
Result<std::vector<Device>> parse_amd_text(std::string_view text);

}  // namespace opgauge
