// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace opgauge::operators {

// How many NUMA nodes this process may compute on, and why it could not be pinned to the planned
// one.
struct Pinned {
    int nodes = 0;  // 1 once pinned; 0: unknown
    std::optional<std::string> problem;
};

// Keeps all threads of the process, those of the libraries too, on the cores of the NUMA node that
// `token` names (a device of backend cpu, docs/adding_a_backend.md). The caller's own affinity mask
// is narrowed, never widened. A machine with one node is left as it is.
Pinned pin_to_node(const std::string& token);

}  // namespace opgauge::operators
