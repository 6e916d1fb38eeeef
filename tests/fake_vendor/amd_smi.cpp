// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

#include <cstdint>

using namespace opgauge::fake_vendor;

extern "C" {

int amdsmi_init(std::uint64_t) {
    return setting("fail_init", 0);
}
int amdsmi_shut_down() {
    return 0;
}
// One socket a device, as on real machines.
int amdsmi_get_socket_handles(std::uint32_t* count, void** sockets) {
    *count = static_cast<std::uint32_t>(device_count());
    for (std::uint32_t i = 0; sockets != nullptr && i < *count; ++i)
        sockets[i] = handle_of<void*>(i);
    return 0;
}
int amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** processors) {
    *count = 1;
    if (processors != nullptr) processors[0] = socket;
    return 0;
}
#ifndef OPGAUGE_FAKE_OLD
int amdsmi_get_gpu_device_bdf(void* processor, std::uint64_t* bdf) {
    if (static_cast<int>(index_of(processor)) == setting("broken", -1)) return 34;
    *bdf = static_cast<std::uint64_t>(0x10 + index_of(processor)) << 8U;
    return 0;
}
#endif
#ifndef OPGAUGE_FAKE_BARE
int amdsmi_status_code_to_string(int, const char** text) {
    *text = "AMDSMI_STATUS_DRIVER_NOT_LOADED";
    return 0;
}
struct FakeEnumeration {
    std::uint32_t render, card, hsa_id, hip_id;
    char hip_uuid[256];
};
int amdsmi_get_gpu_enumeration_info(void* processor, FakeEnumeration* info) {
    if (setting("hip_reversed", 0) == 0) return 2;  // not supported
    info->hip_id = static_cast<std::uint32_t>(device_count()) - 1 - index_of(processor);
    return 0;
}
int amdsmi_get_gpu_compute_partition(void*, char* text, std::uint32_t length) {
    copy_text("SPX", text, length);
    return 0;
}
int amdsmi_get_gpu_device_uuid(void* processor, unsigned* length, char* text) {
    copy_text("00ff74a1-0000-1000-8000-00000000000" + std::to_string(index_of(processor)), text,
              *length);
    return 0;
}
int amdsmi_get_gpu_memory_total(void*, int, std::uint64_t* bytes) {
    *bytes = 192ULL << 30U;
    return 0;
}
int amdsmi_get_gpu_memory_usage(void*, int, std::uint64_t* bytes) {
    *bytes = used_bytes();
    return 0;
}
struct FakeClock {
    std::uint32_t now, lowest, highest;
};
namespace {
int answer() {
    return setting("refuses", 0) != 0 ? 2 : setting("dead", 0);
}
}  // namespace
int amdsmi_get_clock_info(void*, int kind, FakeClock* clock) {
    *clock = {kind == 0 ? static_cast<std::uint32_t>(setting("clock", 1980)) : 3201, 132, 1995};
    return answer();
}
// No edge sensor, as on boards with several dies.
int amdsmi_get_temp_metric(void*, int sensor, int, std::int64_t* celsius) {
    *celsius = 43;
    return sensor == 0 ? 2 : answer();
}
#endif
}
