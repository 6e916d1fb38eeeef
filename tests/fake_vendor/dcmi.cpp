// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

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
    return 0;
}
#ifndef OPGAUGE_FAKE_OLD
int dcmi_get_device_num_in_card(int card, int* count) {
    const int left = device_count() - (card - 1) / 4 * 2;
    *count = left >= 2 ? 2 : left;
    return 0;
}
#endif
int dcmi_get_device_logic_id(int* logic, int card, int chip) {
    *logic = (card - 1) / 4 * 2 + chip;
    return 0;
}
int dcmi_get_device_chip_info(int, int, FakeChip* chip) {
    std::memcpy(chip->name, "910B3", 6);
    return 0;
}
int dcmi_get_device_health(int card, int chip, unsigned* health) {
    *health = (card - 1) / 4 * 2 + chip == setting("broken", -1) ? 3 : 0;
    return 0;
}
int dcmi_get_driver_version(char* text, unsigned length) {
    copy_text("25.5.2", text, length);
    return 0;
}
}
