// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

using namespace opgauge::fake_vendor;

namespace {
constexpr unsigned kInstance = 1000;  // handles of MIG instances begin here
}

extern "C" {

struct FakeMemory {
    unsigned long long total, free, used;
};
struct FakePci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
};

int nvmlInit_v2() {
    return setting("fail_init", 0);
}
int nvmlShutdown() {
    return 0;
}
const char* nvmlErrorString(int code) {
    switch (code) {
        case 9:
            return "Driver Not Loaded";
        case 15:
            return "GPU is lost";
        case 18:
            return "Driver/library version mismatch";
        default:
            return "Unknown Error";
    }
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
    copy_text("580.159.04", text, length);
    return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
    *version = 13000;
    return 0;
}
#ifndef OPGAUGE_FAKE_OLD
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(device_count());
    return 0;
}
#endif
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
    if (static_cast<int>(index) == setting("broken", -1)) return 15;
    *handle = handle_of<void*>(index);
    return 0;
}
int nvmlDeviceGetName(void* handle, char* text, unsigned length) {
    const bool instance = index_of(handle) >= kInstance;
    copy_text(instance ? "NVIDIA Stand-in MIG 1g.5gb" : "NVIDIA Stand-in", text, length);
    return 0;
}
int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
    const unsigned index = index_of(handle);
    copy_text(index >= kInstance ? "MIG-0000000" + std::to_string(index - kInstance)
                                 : "GPU-0000000" + std::to_string(index),
              text, length);
    return 0;
}
int nvmlDeviceGetPciInfo_v3(void* handle, FakePci* pci) {
    copy_text("00000000:" + std::to_string(10 + index_of(handle)) + ":00.0", pci->bus_id, 32);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void*, FakeMemory* memory) {
    *memory = {16ULL << 30U, 15ULL << 30U, 1ULL << 30U};
    return 0;
}
int nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
    *current = *pending = index_of(handle) == 0 && setting("mig", 0) > 0 ? 1 : 0;
    return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
    *count = 7;
    return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned slot, void** handle) {
    // Every other slot is empty, as on real cards.
    if (slot % 2 == 1 || static_cast<int>(slot / 2) >= setting("mig", 0)) return 6;
    *handle = handle_of<void*>(kInstance + slot / 2);
    return 0;
}
}
