// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

#include <cstdint>

using namespace opgauge::fake_vendor;

extern "C" {

int rsmi_init(std::uint64_t) {
    return setting("fail_init", 0);
}
int rsmi_shut_down() {
    return 0;
}
#ifndef OPGAUGE_FAKE_OLD
int rsmi_num_monitor_devices(std::uint32_t* count) {
    *count = static_cast<std::uint32_t>(device_count());
    return 0;
}
#endif
int rsmi_dev_name_get(std::uint32_t, char* text, std::size_t length) {
    copy_text("AMD Stand-in", text, length);
    return 0;
}
#ifndef OPGAUGE_FAKE_BARE
int rsmi_status_string(int, const char** text) {
    *text = "no permission";
    return 0;
}
int rsmi_dev_pci_id_get(std::uint32_t index, std::uint64_t* id) {
    *id = static_cast<std::uint64_t>(0x41 + index) << 8U;
    return 0;
}
int rsmi_dev_memory_total_get(std::uint32_t, int, std::uint64_t* bytes) {
    *bytes = 64ULL << 30U;
    return 0;
}
int rsmi_dev_memory_usage_get(std::uint32_t, int, std::uint64_t* bytes) {
    *bytes = used_bytes();
    return 0;
}
int rsmi_dev_unique_id_get(std::uint32_t index, std::uint64_t* id) {
    *id = 0x50e0ba3b02c8e70ULL + index;
    return 0;
}
#endif
}
