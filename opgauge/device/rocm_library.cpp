// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/rocm_library.h"

#include "opgauge/base/text.h"
#include "opgauge/device/amd_smi.h"
#include "opgauge/device/tool_text.h"
#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opgauge {
namespace {

using Status = int;
using Processor = AmdProcessor;
constexpr Status kSuccess = 0;
constexpr int kVram = 0;
constexpr std::uint32_t kHighestHipId = 4096;  // more is "not supported", all bits set
constexpr std::array<std::string_view, 4> kRocmSonames = {
    "librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.5", "librocm_smi64.so.1"};
constexpr std::array<std::string_view, 2> kFolders = {"/opt/rocm/lib", "/opt/rocm/lib64"};

// The model's name is in no scalar function; the kernel has it.
std::string product_name(const std::string& pci_id, const std::string& sysfs) {
    const std::string folder = sysfs + "/bus/pci/devices/" + pci_id;
    for (const char* file : {"/product_name", "/device"}) {
        const auto text = read_first_line(folder + file);
        if (!text.empty()) return file == std::string_view("/device") ? "AMD device " + text : text;
    }
    return "AMD GPU";
}

void add_memory(std::uint64_t total, std::uint64_t used, Device& device) {
    device.memory_total_bytes = total;
    device.memory_used_bytes = used;
    device.memory_free_bytes = total - std::min(total, used);
}

void add_amd_memory(const AmdSmi& smi, Processor processor, Device& device) {
    std::uint64_t total = 0;
    std::uint64_t used = 0;
    if (smi.total == nullptr || smi.total(processor, kVram, &total) != kSuccess || total == 0) {
        return;
    }
    device.memory_total_bytes = total;
    if (smi.used != nullptr && smi.used(processor, kVram, &used) == kSuccess) {
        add_memory(total, used, device);
    }
}

Device read_amd(const AmdSmi& smi, Processor processor, int index, const std::string& sysfs) {
    Device device = numbered_device("rocm", index);
    std::uint64_t bdf = 0;
    if (const Status code = smi.bdf(processor, &bdf); code != kSuccess) {
        // Every processor has an address; one that cannot tell it is gone.
        device.health = Health::unusable;
        device.health_detail = smi.error(code);
        return device;
    }
    device.pci_id = amd_bdf_text(bdf);
    device.name = product_name(*device.pci_id, sysfs);
    char uuid[64] = {};
    unsigned length = sizeof uuid;
    if (smi.uuid != nullptr && smi.uuid(processor, &length, uuid) == kSuccess) {
        device.uuid = from_buffer(uuid);
    }
    add_amd_memory(smi, processor, device);
    char partition[256] = {};
    if (smi.partition != nullptr &&
        smi.partition(processor, partition, sizeof partition) == kSuccess) {
        const std::string text = from_buffer(partition);
        if (!text.empty() && text != "N/A") device.partition = text;
    }
    return device;
}

// Numbers devices as HIP counts them, where the library tells it of all: its own order is another.
void number_as_hip(const AmdSmi& smi, const std::vector<Processor>& processors,
                   std::vector<Device>& devices) {
    if (smi.enumeration == nullptr) return;
    std::vector<int> ids;
    for (const Processor processor : processors) {
        AmdEnumeration info{};
        if (smi.enumeration(processor, &info) != kSuccess || info.hip_id > kHighestHipId) return;
        const int id = static_cast<int>(info.hip_id);
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) return;
        ids.push_back(id);
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
        devices[i].index = ids[i];
        devices[i].token = std::to_string(ids[i]);
    }
    std::sort(devices.begin(), devices.end(),
              [](const Device& a, const Device& b) { return a.index < b.index; });
}

void read_all_amd(const AmdSmi& smi, const std::string& sysfs, Discovery& found) {
    std::vector<Processor> processors;
    if (const Status code = list_amd_processors(smi, processors); code != kSuccess) {
        found.reasons.push_back("amd_smi cannot list devices: " + smi.error(code));
        return;
    }
    for (const Processor processor : processors) {
        const int index = static_cast<int>(found.devices.size());
        found.devices.push_back(read_amd(smi, processor, index, sysfs));
    }
    number_as_hip(smi, processors, found.devices);
    if (found.devices.empty()) found.reasons.emplace_back("amd_smi works and has no device");
}

struct RocmSmi {
    Status (*init)(std::uint64_t);
    Status (*shut_down)();
    Status (*count)(std::uint32_t*);
    Status (*name)(std::uint32_t, char*, std::size_t);
    Status (*unique_id)(std::uint32_t, std::uint64_t*);
    Status (*pci)(std::uint32_t, std::uint64_t*);
    Status (*total)(std::uint32_t, int, std::uint64_t*);
    Status (*used)(std::uint32_t, int, std::uint64_t*);
    Status (*text)(Status, const char**);

    std::string error(Status code) const {
        const char* words = nullptr;
        if (text != nullptr) text(code, &words);
        return fmt::format("{} (rocm_smi {})", words != nullptr ? words : "unknown error", code);
    }
};

Result<RocmSmi> load_rocm(const SharedLibrary& library) {
    SymbolTable table(library);
    RocmSmi smi{};
    using Amount = Status(std::uint32_t, int, std::uint64_t*);
    smi.init = table.required<Status(std::uint64_t)>("rsmi_init");
    smi.shut_down = table.required<Status()>("rsmi_shut_down");
    smi.count = table.required<Status(std::uint32_t*)>("rsmi_num_monitor_devices");
    smi.name = table.required<Status(std::uint32_t, char*, std::size_t)>("rsmi_dev_name_get");
    smi.unique_id = table.optional<Status(std::uint32_t, std::uint64_t*)>("rsmi_dev_unique_id_get");
    smi.pci = table.optional<Status(std::uint32_t, std::uint64_t*)>("rsmi_dev_pci_id_get");
    smi.total = table.optional<Amount>("rsmi_dev_memory_total_get");
    smi.used = table.optional<Amount>("rsmi_dev_memory_usage_get");
    smi.text = table.optional<Status(Status, const char**)>("rsmi_status_string");
    OPGAUGE_TRY(table.check());
    return smi;
}

Device read_rocm(const RocmSmi& smi, std::uint32_t index) {
    Device device = numbered_device("rocm", static_cast<int>(index));
    char name[256] = {};
    if (smi.name(index, name, sizeof name) == kSuccess) device.name = from_buffer(name);
    std::uint64_t id = 0;
    if (smi.unique_id != nullptr && smi.unique_id(index, &id) == kSuccess && id != 0) {
        // As the runtime spells it: leading zeros are part of it.
        device.uuid = fmt::format("GPU-{:016x}", id);
    }
    std::uint64_t bdf = 0;
    if (smi.pci != nullptr && smi.pci(index, &bdf) == kSuccess) {
        // {domain:32, partition:4, reserved, bus:8, device:5, function:3}
        device.pci_id = fmt::format("{:04x}:{:02x}:{:02x}.{}", bdf >> 32U, bdf >> 8U & 0xffU,
                                    bdf >> 3U & 0x1fU, bdf & 7U);
    }
    std::uint64_t total = 0;
    std::uint64_t used = 0;
    if (smi.total != nullptr && smi.total(index, kVram, &total) == kSuccess && total > 0) {
        device.memory_total_bytes = total;
        if (smi.used != nullptr && smi.used(index, kVram, &used) == kSuccess) {
            add_memory(total, used, device);
        }
    }
    return device;
}

void read_all_rocm(const RocmSmi& smi, Discovery& found) {
    std::uint32_t count = 0;
    if (const Status code = smi.count(&count); code != kSuccess) {
        found.reasons.push_back("rocm_smi cannot count devices: " + smi.error(code));
        return;
    }
    for (std::uint32_t i = 0; i < count; ++i) found.devices.push_back(read_rocm(smi, i));
    if (count == 0) found.reasons.emplace_back("rocm_smi works and has no device");
}

}  // namespace

bool ask_amd_smi_library(const Environment& environment, Discovery& found) {
    const auto session = AmdSmiSession::open(environment);
    if (!session) {
        found.reasons.push_back(session.error().message);
        return false;
    }
    found.source = session->library_name();
    read_all_amd(session->smi(), environment.get("OPGAUGE_SYSFS").value_or("/sys"), found);
    return true;
}

bool ask_rocm_smi_library(const Environment& environment, Discovery& found) {
    const auto library = open_vendor_library(kRocmSonames, kFolders, environment);
    if (!library) {
        found.reasons.push_back(library.error().message);
        return false;
    }
    const auto smi = load_rocm(*library);
    if (!smi) {
        found.reasons.push_back(smi.error().message);
        return false;
    }
    if (const Status code = smi->init(0); code != kSuccess) {
        found.reasons.push_back(
            fmt::format("{} cannot start: {}", library->name(), smi->error(code)));
        return false;
    }
    found.source = library->name();
    read_all_rocm(*smi, found);
    smi->shut_down();
    return true;
}

}  // namespace opgauge
