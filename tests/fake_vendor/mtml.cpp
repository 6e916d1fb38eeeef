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
#ifndef OPGAUGE_FAKE_BARE
const char* mtmlErrorString(int code) {
    return code == 1 ? "Driver not loaded" : "Unknown error";
}
#endif
#ifndef OPGAUGE_FAKE_OLD
int mtmlLibraryCountDevice(void*, unsigned* count) {
    *count = static_cast<unsigned>(device_count());
    return setting("fail_count", 0);
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
#ifndef OPGAUGE_FAKE_BARE
struct FakePci {
    char sbdf[32];
    unsigned rest[18];
};
int mtmlLibraryInitSystem(void* library, void** system) {
    *system = library;
    return 0;
}
int mtmlSystemGetDriverVersion(void*, char* text, unsigned length) {
    copy_text("3.3.5-server", text, length);
    return 0;
}
int mtmlDeviceGetPciInfo(void* device, FakePci* pci) {
    copy_text("00000000:" + std::to_string(20 + index_of(device)) + ":00.0", pci->sbdf, 32);
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
int mtmlMemoryGetUsed(void*, unsigned long long* bytes) {
    *bytes = used_bytes();
    return 0;
}
int mtmlLibraryInitDeviceByUuid(void*, const char* uuid, void** device) {
    const int index = std::atoi(uuid + 5);
    if (index == setting("broken", -1)) return 2;
    *device = handle_of<void*>(static_cast<unsigned>(index));
    return 0;
}
int mtmlDeviceInitGpu(void* device, void** gpu) {
    *gpu = device;
    return 0;
}
namespace {
int answer() {
    return setting("refuses", 0) != 0 ? 4 : setting("dead", 0);
}
}  // namespace
int mtmlGpuGetClock(void*, unsigned* mhz) {
    *mhz = static_cast<unsigned>(setting("clock", 1980));
    return answer();
}
int mtmlGpuGetMaxClock(void*, unsigned* mhz) {
    *mhz = 1995;
    return answer();
}
int mtmlMemoryGetClock(void*, unsigned* mhz) {
    *mhz = 3201;
    return answer();
}
int mtmlGpuGetTemperature(void*, int* celsius) {
    *celsius = 43;
    return answer();
}
int mtmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = static_cast<unsigned>(setting("milliwatts", 350'500));
    return answer();
}
#endif
}
