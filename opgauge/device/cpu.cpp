// SPDX-License-Identifier: Apache-2.0
// The host itself: one device per NUMA node that this process may use, found with hwloc.
#include "opgauge/base/cpu_model.h"
#include "opgauge/device/vendors.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <set>

namespace opgauge {
namespace {

Device node_device(hwloc_topology_t topology, int index) {
    const hwloc_obj_t node =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(index));
    Device device;
    device.backend = "cpu";
    device.index = index;
    device.token = std::to_string(index);
    device.name = cpu_model().value_or("CPU");
    device.health = Health::ok;
    // No memory: the host's is no property of the device, and virtual machines grow it as they run.
    const int cores = hwloc_bitmap_weight(node->cpuset);
    if (cores > 0) device.partition = fmt::format("{} cores", cores);
    return device;
}

class CpuBackend final : public Backend {
  public:
    std::string_view name() const override { return "cpu"; }
    std::vector<std::string_view> aliases() const override { return {"host"}; }
    bool accelerator() const override { return false; }
    // Everything that a capability stands for is about a device that works asynchronously.
    std::set<Capability> capabilities() const override { return {}; }
    std::string_view default_timer() const override { return "host"; }
    std::vector<std::string_view> visibility_variables() const override { return {}; }
    std::vector<std::string_view> recorded_variables() const override {
        return {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "ONEDNN_MAX_CPU_ISA"};
    }

    Discovery discover(const Environment& /*environment*/) const override {
        Discovery found;
        found.backend = "cpu";
        hwloc_topology_t topology = nullptr;
        if (hwloc_topology_init(&topology) != 0) {
            found.reasons.emplace_back("hwloc cannot read this machine's topology");
            return found;
        }
        if (hwloc_topology_load(topology) == 0) {
            const int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
            for (int i = 0; i < nodes; ++i) found.devices.push_back(node_device(topology, i));
            found.source = "hwloc";
        } else {
            found.reasons.emplace_back("hwloc cannot read this machine's topology");
        }
        hwloc_topology_destroy(topology);
        return found;
    }

    Result<CallerMask> caller_mask(const Environment& /*environment*/) const override {
        return CallerMask{};  // the affinity mask is the kernel's, and hwloc obeys it already
    }

    Result<EnvironmentChanges> pin(const Environment& /*environment*/,
                                   const std::vector<std::string>& /*tokens*/) const override {
        return EnvironmentChanges{};
    }
};

}  // namespace

const Backend& cpu_backend() {
    static const CpuBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
