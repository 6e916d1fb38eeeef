// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

using namespace opgauge::fake_vendor;

extern "C" {

int mtmlLibraryInit(void** library) {
    *library = handle_of<void*>(0);
    return setting("fail_init", 0);
}
int mtmlLibraryShutDown(void*) {
    return 0;
}
const char* mtmlErrorString(int code) {
    return code == 1 ? "Driver not loaded" : "Unknown error";
}
#ifndef OPGAUGE_FAKE_OLD
int mtmlLibraryCountDevice(void*, unsigned* count) {
    *count = static_cast<unsigned>(device_count());
    return 0;
}
#endif
int mtmlLibraryInitDeviceByIndex(void*, unsigned index, void** device) {
    if (static_cast<int>(index) == setting("broken", -1)) return 2;
    *device = handle_of<void*>(index);
    return 0;
}
int mtmlDeviceGetName(void*, char* text, unsigned length) {
    copy_text("MTT Stand-in", text, length);
    return 0;
}
int mtmlDeviceGetUUID(void* device, char* text, unsigned length) {
    copy_text("musa-" + std::to_string(index_of(device)), text, length);
    return 0;
}
int mtmlDeviceInitMemory(void* device, void** memory) {
    *memory = device;
    return 0;
}
int mtmlMemoryGetTotal(void*, unsigned long long* bytes) {
    *bytes = 80ULL << 30U;
    return 0;
}
}
