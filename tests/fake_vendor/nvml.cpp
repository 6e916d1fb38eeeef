// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_vendor/fake_vendor.h"

#include <unistd.h>

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
struct FakeProcess {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
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
#ifndef OPGAUGE_FAKE_OLD
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(device_count());
    return setting("fail_count", 0);
}
#endif
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
    if (static_cast<int>(index) == setting("broken", -1)) return 15;
    *handle = handle_of<void*>(index);
    return 0;
}
int nvmlDeviceGetName(void* handle, char* text, unsigned length) {
    if (static_cast<int>(index_of(handle)) == setting("lost", -1)) return 15;
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
#ifndef OPGAUGE_FAKE_BARE
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
    copy_text("580.159.04", text, length);
    return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
    *version = 13000;
    return 0;
}
int nvmlDeviceGetPciInfo_v3(void* handle, FakePci* pci) {
    copy_text("00000000:" + std::to_string(10 + index_of(handle)) + ":00.0", pci->bus_id, 32);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void*, FakeMemory* memory) {
    *memory = {16ULL << 30U, (16ULL << 30U) - used_bytes(), used_bytes()};
    return 0;
}
int nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
    *current = *pending =
        index_of(handle) == 0 && setting("mig", 0) + setting("mig_mode", 0) > 0 ? 1 : 0;
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
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
    *milliwatts = 700'000;
    return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
    const std::string text = uuid;
    const unsigned number = static_cast<unsigned>(std::atoi(text.c_str() + 4));
    const bool instance = text.rfind("MIG-", 0) == 0;
    if (!instance && static_cast<int>(number) == setting("broken", -1)) return 15;
    if (static_cast<int>(number) >= (instance ? setting("mig", 0) : device_count())) return 6;
    *handle = handle_of<void*>(instance ? kInstance + number : number);
    return 0;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void*, void** parent) {
    *parent = handle_of<void*>(0);
    return 0;
}
namespace {
int answer(const void* handle) {
    if (index_of(handle) >= kInstance && setting("refuses", 0) != 0) return 3;
    return setting("dead", 0);
}
}  // namespace
int nvmlDeviceGetClockInfo(void* handle, int type, unsigned* mhz) {
    *mhz = type == 1 ? static_cast<unsigned>(setting("clock", 1980)) : 3201;
    return answer(handle);
}
int nvmlDeviceGetMaxClockInfo(void* handle, int, unsigned* mhz) {
    *mhz = 1995;
    return answer(handle);
}
int nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
    *milliwatts = static_cast<unsigned>(setting("milliwatts", 350'500));
    return answer(handle);
}
int nvmlDeviceGetTemperature(void* handle, int, unsigned* celsius) {
    *celsius = 43;
    return answer(handle);
}
// The older name, which newer libraries keep.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* handle, unsigned long long* mask) {
    *mask = static_cast<unsigned long long>(setting("reasons", 1));
    return answer(handle);
}
int nvmlDeviceGetTotalEccErrors(void* handle, int type, int counter, unsigned long long* errors) {
    *errors = type == 1 && counter == 0 ? static_cast<unsigned long long>(setting("ecc", 0)) : 0;
    return answer(handle);
}
int nvmlDeviceGetRemappedRows(void* handle, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
    if (setting("rows", 1) == 0) return 3;  // not supported: an older GPU
    *corrected = *uncorrected = 1;
    *pending = static_cast<unsigned>(setting("pending", 0));
    *failed = static_cast<unsigned>(setting("unrepaired", 0));
    return answer(handle);
}
int nvmlDeviceGetRetiredPagesPendingStatus(void* handle, int* pending) {
    *pending = setting("pending", 0);
    return answer(handle);
}
struct FakeViolation {
    unsigned long long reference, nanoseconds;
};
int nvmlDeviceGetViolationStatus(void* handle, int policy, FakeViolation* violation) {
    if (policy == 5) return 3;  // not supported
    *violation = {1, 1000ULL * static_cast<unsigned>(policy + 1)};
    return answer(handle);
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
    *major = 9;
    *minor = 0;
    return 0;
}
int nvmlDeviceGetComputeMode(void* handle, int* mode) {
    if (index_of(handle) >= kInstance) return 3;  // not supported
    *mode = setting("mode", 0);
    return 0;
}
// This process, then others from 100001 on; the memory of every other one is not told.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, FakeProcess* list) {
    const unsigned here = static_cast<unsigned>(setting("processes", 0)) + 1;
    const unsigned room = *count;
    *count = here;
    if (room < here) return 7;
    list[0] = {static_cast<unsigned>(::getpid()), 1U << 20U, 0, 0};
    for (unsigned i = 1; i < here; ++i) list[i] = {100'000 + i, i % 2 == 0 ? ~0ULL : 5, 0, 0};
    return 0;
}
#endif
}
