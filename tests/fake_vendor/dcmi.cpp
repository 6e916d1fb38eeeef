// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

#include <unistd.h>

#include <cstdint>

using namespace opgauge::fake_vendor;

extern "C" {

struct FakeChip {
    unsigned char type[32], name[32], version[32];
    unsigned cores;
};

int dcmi_init() {
    return setting("fail_init", 0);
}
// Two chips a card; cards are numbered as slots are, with gaps.
int dcmi_get_card_list(int* count, int* cards, int) {
    *count = (device_count() + 1) / 2;
    for (int i = 0; i < *count; ++i) cards[i] = i * 4 + 1;
    return setting("fail_count", 0);
}
#ifndef OPGAUGE_FAKE_OLD
int dcmi_get_device_num_in_card(int card, int* count) {
    if (card == setting("bad_card", -1)) return -8020;
    const int left = device_count() - (card - 1) / 4 * 2;
    *count = left >= 2 ? 2 : left;
    return 0;
}
#endif
#ifndef OPGAUGE_FAKE_BARE
int dcmi_get_device_logic_id(int* logic, int card, int chip) {
    *logic = (card - 1) / 4 * 2 + chip;
    return 0;
}
int dcmi_get_device_chip_info(int, int, FakeChip* chip) {
    std::memcpy(chip->name, "910B3", 6);
    return 0;
}
int dcmi_get_device_health(int card, int chip, unsigned* health) {
    if (setting("dead", 0) != 0 || setting("refuses", 0) != 0) return -8255;
    *health = setting("absent", 0) != 0                            ? ~0U
              : (card - 1) / 4 * 2 + chip == setting("broken", -1) ? 3U
                                                                   : 0U;
    return 0;
}
int dcmi_get_driver_version(char* text, unsigned length) {
    copy_text("25.5.2", text, length);
    return 0;
}
struct FakeHbm {
    std::uint64_t size_mb;
    std::uint32_t frequency;
    std::uint64_t used_mb;
    int temperature;
    std::uint32_t bandwidth;
};
struct FakeDdr {
    std::uint64_t size_mb, available_mb;
    unsigned char rest[96];
};
struct FakeProcess {
    int pid;
    unsigned long bytes;
};
struct FakeDie {
    unsigned words[5];
};
int dcmi_get_device_hbm_info(int, int, FakeHbm* hbm) {
    if (setting("ddr", 0) != 0) return -8255;  // not supported
    hbm->size_mb = 65536;
    hbm->used_mb = static_cast<std::uint64_t>(setting("used_mib", 1024));
    return 0;
}
int dcmi_get_device_memory_info_v3(int, int, FakeDdr* ddr) {
    ddr->size_mb = 44280;
    ddr->available_mb = 40000;
    return 0;
}
int dcmi_get_device_die_v2(int card, int chip, unsigned, FakeDie* die) {
    *die = {{0x90000001, 2, 3, static_cast<unsigned>(card), static_cast<unsigned>(chip)}};
    return 0;
}
int dcmi_get_device_resource_info(int, int, FakeProcess* list, int* count) {
    *count = setting("processes", 0) + 1;
    list[0] = {::getpid(), 1};
    for (int i = 1; i < *count; ++i) list[i] = {100'000 + i, 5};
    return 0;
}
namespace {
int answer() {
    return setting("refuses", 0) != 0 ? -8255 : setting("dead", 0);
}
}  // namespace
int dcmi_get_device_frequency(int, int, int kind, unsigned* mhz) {
    *mhz = kind == 7 ? static_cast<unsigned>(setting("clock", 1980)) : kind == 9 ? 1995 : 3201;
    return answer();
}
int dcmi_get_device_temperature(int, int, int* celsius) {
    *celsius = 43;
    return answer();
}
int dcmi_get_device_power_info(int, int, int* tenths) {
    *tenths = setting("milliwatts", 350'500) / 100;
    return answer();
}
#endif
}
