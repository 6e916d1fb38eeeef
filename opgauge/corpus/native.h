// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/corpus/provider.h"

#include <memory>

namespace opgauge {

// The corpus that opgauge ships: a handful of operators in C++ (base: OpenBLAS or plain loops,
// candidate: oneDNN), run by the opgauge-operators program.
std::unique_ptr<Provider> open_native(const std::filesystem::path& program);

}  // namespace opgauge
