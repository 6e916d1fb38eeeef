// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// The fallback where NVML cannot be opened: `nvidia-smi --query-gpu`, then its lists of processes
// and, where a GPU is in MIG mode, of instances; each with a deadline. Adds devices and driver, or
// reasons, to `found`.
void ask_nvidia_smi(const Environment& environment, Discovery& found);

// Partition of a row that is a GPU in MIG mode: its instances are the devices, it is none.
constexpr std::string_view kMigParent = "MIG mode";

// CSV of `nvidia-smi --query-gpu`, matched by column name. Without a header line the names come
// from `columns`. Placeholders such as [N/A] mean unknown; rows keep the index that they print, or
// their rank where there is no such column. Kind environment: the tool's own error text.
Result<std::vector<Device>> parse_nvidia_smi_csv(std::string_view text,
                                                 const std::vector<std::string>& columns = {});

// The first known value of a column, from a CSV with a header line.
std::optional<std::string> nvidia_smi_csv_value(std::string_view text, std::string_view column);

// `--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory` without a header: adds each
// process to its device. It tells nothing about the instances of a GPU.
void add_nvidia_smi_processes(std::string_view text, std::vector<Device>& devices);

// `nvidia-smi -L`: GPUs, and MIG instances in their place where there are any.
Result<std::vector<Device>> parse_nvidia_smi_list(std::string_view text);

// The table of plain `nvidia-smi`. Names are cut by the tool; process rows are left out.
Result<std::vector<Device>> parse_nvidia_smi_table(std::string_view text);

// The error that nvidia-smi prints on standard output in place of an answer, or nullopt.
std::optional<std::string> nvidia_smi_error(std::string_view text);

}  // namespace opgauge
