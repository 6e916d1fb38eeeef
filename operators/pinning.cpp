// SPDX-License-Identifier: Apache-2.0
#include "operators/pinning.h"

#include "opgauge/base/text.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace opgauge::operators {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)>;

// Null where hwloc cannot read the machine.
using Topology = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)>;

Topology read_topology() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return {nullptr, hwloc_topology_destroy};
    Topology owned(topology, hwloc_topology_destroy);
    if (hwloc_topology_load(topology) != 0) owned.reset();
    return owned;
}

std::optional<std::string> bind(hwloc_topology_t topology, const hwloc_obj_t node) {
    const Bitmap cores(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    // Cores that the caller keeps for others (taskset, a batch system) stay theirs.
    if (hwloc_get_cpubind(topology, cores.get(), HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_bitmap_and(cores.get(), cores.get(), node->cpuset);
    } else {
        hwloc_bitmap_copy(cores.get(), node->cpuset);
    }
    if (hwloc_bitmap_iszero(cores.get()) != 0) {
        return "this process may use none of its cores; widen its affinity mask";
    }
    if (hwloc_set_cpubind(topology, cores.get(), HWLOC_CPUBIND_PROCESS) != 0) {
        return fmt::format("binding to its cores: {}", std::strerror(errno));
    }
    return std::nullopt;
}

}  // namespace

Pinned pin_to_node(const std::string& token) {
    const Topology topology = read_topology();
    if (!topology) return {0, "hwloc cannot read this machine's topology"};
    const int nodes = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE);
    if (nodes <= 1) return {nodes, std::nullopt};
    const auto index = parse_unsigned(token);
    const hwloc_obj_t node = index ? hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE,
                                                           static_cast<unsigned>(*index))
                                   : nullptr;
    if (node == nullptr) {
        return {nodes,
                fmt::format("there is no NUMA node '{}', there are {}", printable(token), nodes)};
    }
    if (auto problem = bind(topology.get(), node)) {
        return {nodes, fmt::format("NUMA node {}: {}", *index, *problem)};
    }
    return {1, std::nullopt};
}

}  // namespace opgauge::operators
