// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/dcmi.h"

#include "opgauge/device/vendor_library.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace opgauge {
namespace {

constexpr std::array<std::string_view, 1> kSonames = {"libdcmi.so"};
constexpr std::array<std::string_view, 2> kFolders = {"/usr/local/Ascend/driver/lib64/driver",
                                                      "/usr/local/dcmi"};
constexpr int kNpu = 0;  // dcmi unit type
constexpr int kMostCards = 64;
// The call that lists processes takes no size of its buffer.
constexpr std::size_t kMostProcesses = 4096;

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
    dcmi.temperature = table.optional<int(int, int, int*)>("dcmi_get_device_temperature");
    dcmi.power = table.optional<int(int, int, int*)>("dcmi_get_device_power_info");
    dcmi.frequency = table.optional<int(int, int, int, unsigned*)>("dcmi_get_device_frequency");
    OPGAUGE_TRY(table.check());
    return dcmi;
}

}  // namespace

std::string dcmi_error(int code) {
    switch (code) {
        case -8005:
            return "no driver, or no device in this container (-8005)";
        case -8020:
            return "another container holds the devices (-8020)";
        default:
            return fmt::format("error {}", code);
    }
}

Result<DcmiSession> open_dcmi(const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(SharedLibrary library, open_vendor_library(kSonames, kFolders, environment));
    OPGAUGE_TRY_ASSIGN(const Dcmi dcmi, load(library));
    if (const int code = dcmi.init(); code != 0) {
        return fail(ErrorKind::environment, "dcmi_init failed: " + dcmi_error(code));
    }
    return DcmiSession{std::move(library), dcmi};
}

std::vector<DcmiPlace> dcmi_npus(const Dcmi& dcmi, std::vector<std::string>& reasons) {
    std::vector<DcmiPlace> places;
    int count = 0;
    std::array<int, kMostCards> cards{};
    if (const int code = dcmi.cards(&count, cards.data(), kMostCards); code != 0) {
        reasons.push_back("DCMI cannot list cards: " + dcmi_error(code));
        return places;
    }
    for (int i = 0; i < std::min(count, kMostCards); ++i) {
        const int card = cards[static_cast<std::size_t>(i)];
        int chips = 0;
        if (const int code = dcmi.devices_in_card(card, &chips); code != 0) {
            reasons.push_back(fmt::format("DCMI cannot read card {}: {}", card, dcmi_error(code)));
            continue;
        }
        for (int chip = 0; chip < chips; ++chip) {
            int type = kNpu;
            if (dcmi.type != nullptr) dcmi.type(card, chip, &type);
            if (type != kNpu) continue;
            DcmiPlace place{card, chip, static_cast<int>(places.size())};
            if (dcmi.logic_id != nullptr) dcmi.logic_id(&place.logic, card, chip);
            places.push_back(place);
        }
    }
    if (places.empty()) reasons.emplace_back("DCMI works and has no device");
    return places;
}

std::string dcmi_die_id(const Dcmi& dcmi, const DcmiPlace& place) {
    DcmiDie die{};
    if (dcmi.die == nullptr || dcmi.die(place.card, place.chip, kDcmiVdie, &die) != 0) return {};
    return fmt::format("{:08X}-{:08X}-{:08X}-{:08X}-{:08X}", die.words[0], die.words[1],
                       die.words[2], die.words[3], die.words[4]);
}

int dcmi_processes(const Dcmi& dcmi, const DcmiPlace& place,
                   std::vector<DeviceProcess>& processes) {
    if (dcmi.processes == nullptr) return kDcmiNotSupported;
    std::vector<DcmiProcess> list(kMostProcesses);
    int count = 0;
    if (const int code = dcmi.processes(place.card, place.chip, list.data(), &count); code != 0) {
        return code;
    }
    const auto many = static_cast<std::size_t>(std::max(count, 0));
    for (std::size_t i = 0; i < std::min(list.size(), many); ++i) {
        if (list[i].pid == ::getpid()) continue;
        processes.push_back(
            {list[i].pid, process_name(list[i].pid), std::uint64_t{list[i].memory_bytes}});
    }
    return 0;
}

}  // namespace opgauge
