// SPDX-License-Identifier: Apache-2.0
// Huawei Ascend: DCMI, then npu-smi. The ABI below is declared from dcmi_interface_api.h.
#include "opgauge/base/text.h"
#include "opgauge/device/ascend_tool.h"
#include "opgauge/device/vendor_library.h"
#include "opgauge/device/vendors.h"
#include "opgauge/device/visibility.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

namespace opgauge {
namespace {

constexpr std::string_view kPciVendor = "19e5";
constexpr std::array<std::string_view, 1> kSonames = {"libdcmi.so"};
constexpr std::array<std::string_view, 2> kFolders = {"/usr/local/Ascend/driver/lib64/driver",
                                                      "/usr/local/dcmi"};
constexpr int kNpu = 0;  // dcmi unit type
constexpr int kMostCards = 64;
constexpr unsigned kVdie = 1;  // the die id that stays: there is no UUID
constexpr std::uint64_t kMebibyte = 1024 * 1024;
// The call that lists processes takes no size of its buffer.
constexpr std::size_t kMostProcesses = 4096;

struct DcmiChipInfo {
    unsigned char type[32], name[32], version[32];
    unsigned ai_cores;
};
struct DcmiHbmInfo {
    std::uint64_t memory_size_mb;
    std::uint32_t frequency;
    std::uint64_t memory_usage_mb;
    int temperature;
    std::uint32_t bandwidth_rate;
};
struct DcmiMemoryInfo {
    std::uint64_t size_mb, available_mb;
    std::uint32_t frequency;
    unsigned long huge_page_size, huge_pages, huge_pages_free;
    std::uint32_t utilization;
    unsigned char reserved[60];
};
struct DcmiProcess {
    int pid;
    unsigned long memory_bytes;
};
struct DcmiPcie {
    std::uint32_t vendor, subvendor, device_id, subdevice;
    int domain;
    std::uint32_t bus, device, function;
    unsigned char reserved[32];
};
struct DcmiDie {
    unsigned words[5];
};

struct Dcmi {
    int (*init)();
    int (*cards)(int*, int*, int);
    int (*devices_in_card)(int, int*);
    // Optional from here on.
    int (*type)(int, int, int*);
    int (*logic_id)(int*, int, int);
    int (*chip)(int, int, DcmiChipInfo*);
    int (*hbm)(int, int, DcmiHbmInfo*);
    int (*memory)(int, int, DcmiMemoryInfo*);
    int (*processes)(int, int, DcmiProcess*, int*);
    int (*health)(int, int, unsigned*);
    int (*pcie)(int, int, DcmiPcie*);
    int (*die)(int, int, unsigned, DcmiDie*);
    int (*driver)(char*, unsigned);
};

Result<Dcmi> load(const SharedLibrary& library) {
    SymbolTable table(library);
    Dcmi dcmi{};
    dcmi.init = table.required<int()>("dcmi_init");
    dcmi.cards = table.required<int(int*, int*, int)>("dcmi_get_card_list");
    dcmi.devices_in_card = table.required<int(int, int*)>("dcmi_get_device_num_in_card");
    dcmi.type = table.optional<int(int, int, int*)>("dcmi_get_device_type");
    dcmi.logic_id = table.optional<int(int*, int, int)>("dcmi_get_device_logic_id");
    dcmi.chip = table.optional<int(int, int, DcmiChipInfo*)>("dcmi_get_device_chip_info");
    dcmi.hbm = table.optional<int(int, int, DcmiHbmInfo*)>("dcmi_get_device_hbm_info");
    dcmi.memory = table.optional<int(int, int, DcmiMemoryInfo*)>("dcmi_get_device_memory_info_v3");
    dcmi.processes =
        table.optional<int(int, int, DcmiProcess*, int*)>("dcmi_get_device_resource_info");
    dcmi.health = table.optional<int(int, int, unsigned*)>("dcmi_get_device_health");
    dcmi.pcie = table.optional<int(int, int, DcmiPcie*)>("dcmi_get_device_pcie_info_v2");
    dcmi.die = table.optional<int(int, int, unsigned, DcmiDie*)>("dcmi_get_device_die_v2");
    dcmi.driver = table.optional<int(char*, unsigned)>("dcmi_get_driver_version");
    OPGAUGE_TRY(table.check());
    return dcmi;
}

std::string error_text(int code) {
    switch (code) {
        case -8005:
            return "no driver, or no device in this container (-8005)";
        case -8020:
            return "another container holds the devices (-8020)";
        default:
            return fmt::format("error {}", code);
    }
}

void add_health(const Dcmi& dcmi, int card, int chip, Device& device) {
    unsigned health = 0;
    if (dcmi.health == nullptr || dcmi.health(card, chip, &health) != 0) return;
    static constexpr std::array<const char*, 4> kWords = {"ok", "minor alarm", "major alarm",
                                                          "critical alarm"};
    if (health >= kWords.size()) {
        device.health = Health::unusable;
        device.health_detail = "the device does not answer";
        return;
    }
    // Cards with alarms below critical are in daily use.
    device.health = health == 0 ? Health::ok : health == 3 ? Health::unusable : Health::warning;
    if (health != 0) device.health_detail = kWords[health];
}

// A device's memory is its HBM; inference cards have none, and then it is their DDR.
void add_memory(const Dcmi& dcmi, int card, int chip, Device& device) {
    std::uint64_t total_mb = 0;
    std::uint64_t used_mb = 0;
    DcmiHbmInfo hbm{};
    DcmiMemoryInfo ddr{};
    if (dcmi.hbm != nullptr && dcmi.hbm(card, chip, &hbm) == 0 && hbm.memory_size_mb > 0) {
        total_mb = hbm.memory_size_mb;
        used_mb = hbm.memory_usage_mb;
    } else if (dcmi.memory != nullptr && dcmi.memory(card, chip, &ddr) == 0 && ddr.size_mb > 0) {
        total_mb = ddr.size_mb;
        used_mb = ddr.size_mb - std::min(ddr.size_mb, ddr.available_mb);
    } else {
        return;
    }
    device.memory_total_bytes = total_mb * kMebibyte;
    device.memory_used_bytes = used_mb * kMebibyte;
    device.memory_free_bytes = (total_mb - std::min(total_mb, used_mb)) * kMebibyte;
}

void add_processes(const Dcmi& dcmi, int card, int chip, Device& device) {
    if (dcmi.processes == nullptr) return;
    std::vector<DcmiProcess> list(kMostProcesses);
    int count = 0;
    if (dcmi.processes(card, chip, list.data(), &count) != 0 || count < 0) return;
    device.processes_known = true;
    for (std::size_t i = 0; i < std::min(list.size(), static_cast<std::size_t>(count)); ++i) {
        if (list[i].pid == ::getpid()) continue;
        device.processes.push_back(
            {list[i].pid, process_name(list[i].pid), std::uint64_t{list[i].memory_bytes}});
    }
}

void add_place(const Dcmi& dcmi, int card, int chip, Device& device) {
    DcmiPcie pcie{};
    if (dcmi.pcie != nullptr && dcmi.pcie(card, chip, &pcie) == 0) {
        device.pci_id = fmt::format("{:04x}:{:02x}:{:02x}.{}", pcie.domain, pcie.bus, pcie.device,
                                    pcie.function);
    }
    DcmiDie die{};
    if (dcmi.die != nullptr && dcmi.die(card, chip, kVdie, &die) == 0) {
        device.uuid = fmt::format("{:08X}-{:08X}-{:08X}-{:08X}-{:08X}", die.words[0], die.words[1],
                                  die.words[2], die.words[3], die.words[4]);
    }
}

Device read_device(const Dcmi& dcmi, int card, int chip, int rank) {
    Device device;
    device.backend = "ascend";
    int logic = rank;
    if (dcmi.logic_id != nullptr) dcmi.logic_id(&logic, card, chip);
    device.index = logic;
    device.token = std::to_string(logic);
    device.name = "Ascend NPU";
    DcmiChipInfo info{};
    if (dcmi.chip != nullptr && dcmi.chip(card, chip, &info) == 0) {
        const std::string_view name(reinterpret_cast<const char*>(info.name), sizeof info.name);
        device.name = ascend_model(name.substr(0, name.find('\0')));
    }
    device.health = Health::unknown;
    add_health(dcmi, card, chip, device);
    add_memory(dcmi, card, chip, device);
    add_place(dcmi, card, chip, device);
    add_processes(dcmi, card, chip, device);
    return device;
}

void read_all(const Dcmi& dcmi, Discovery& found) {
    char version[64] = {};
    if (dcmi.driver != nullptr && dcmi.driver(version, sizeof version) == 0) {
        found.driver = from_buffer(version);
    }
    int count = 0;
    std::array<int, kMostCards> cards{};
    if (const int code = dcmi.cards(&count, cards.data(), kMostCards); code != 0) {
        found.reasons.push_back("DCMI cannot list cards: " + error_text(code));
        return;
    }
    for (int i = 0; i < std::min(count, kMostCards); ++i) {
        const int card = cards[static_cast<std::size_t>(i)];
        int chips = 0;
        if (const int code = dcmi.devices_in_card(card, &chips); code != 0) {
            found.reasons.push_back(
                fmt::format("DCMI cannot read card {}: {}", card, error_text(code)));
            continue;
        }
        for (int chip = 0; chip < chips; ++chip) {
            int type = kNpu;
            if (dcmi.type != nullptr) dcmi.type(card, chip, &type);
            if (type != kNpu) continue;  // a card's controller is no device
            found.devices.push_back(
                read_device(dcmi, card, chip, static_cast<int>(found.devices.size())));
        }
    }
    std::sort(found.devices.begin(), found.devices.end(),
              [](const Device& a, const Device& b) { return a.index < b.index; });
    if (found.devices.empty()) found.reasons.emplace_back("DCMI works and has no device");
}

bool ask_library(const Environment& environment, Discovery& found) {
    const auto library = open_vendor_library(kSonames, kFolders, environment);
    if (!library) {
        found.reasons.push_back(library.error().message);
        return false;
    }
    const auto dcmi = load(*library);
    if (!dcmi) {
        found.reasons.push_back(dcmi.error().message);
        return false;
    }
    if (const int code = dcmi->init(); code != 0) {
        found.reasons.push_back("dcmi_init failed: " + error_text(code));
        return false;
    }
    found.source = library->name();
    read_all(*dcmi, found);
    return true;
}

class AscendBackend final : public Backend {
  public:
    std::string_view name() const override { return "ascend"; }
    std::vector<std::string_view> aliases() const override { return {"npu", "huawei", "cann"}; }
    bool accelerator() const override { return true; }
    // Graphs work on some series only and no public code shows a device-side sleep: neither is
    // claimed before it was seen.
    std::set<Capability> capabilities() const override {
        return {Capability::event_timing, Capability::l2_flush, Capability::fork_compile,
                Capability::telemetry};
    }
    std::string_view default_timer() const override { return "direct"; }
    std::vector<std::string_view> visibility_variables() const override {
        return {"ASCEND_RT_VISIBLE_DEVICES"};
    }
    std::vector<std::string_view> recorded_variables() const override {
        return {"ASCEND_LAUNCH_BLOCKING", "TASK_QUEUE_ENABLE", "TRITON_BENCH_METHOD"};
    }

    Discovery discover(const Environment& environment) const override {
        Discovery found;
        found.backend = "ascend";
        if (!ask_library(environment, found)) ask_npu_smi(environment, found);
        if (found.devices.empty()) {
            if (auto seen = pci_presence(kPciVendor, environment)) found.reasons.push_back(*seen);
        }
        return found;
    }

    // ASCEND_VISIBLE_DEVICES is the container runtime's and holds host ids: it is no mask here.
    Result<CallerMask> caller_mask(const Environment& environment) const override {
        const auto value = environment.get("ASCEND_RT_VISIBLE_DEVICES");
        if (!value) return CallerMask{};
        MaskRules rules;
        rules.order = MaskRules::Order::ascending;
        return read_mask("ASCEND_RT_VISIBLE_DEVICES", *value, rules);
    }

    Result<EnvironmentChanges> pin(const Environment& /*environment*/,
                                   const std::vector<std::string>& tokens) const override {
        std::vector<std::string> sorted = tokens;
        std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
            return token_index(a) < token_index(b);
        });
        return EnvironmentChanges{{"ASCEND_RT_VISIBLE_DEVICES", join(sorted, ",")}};
    }
};

}  // namespace

const Backend& ascend_backend() {
    static const AscendBackend kBackend;
    return kBackend;
}

}  // namespace opgauge
