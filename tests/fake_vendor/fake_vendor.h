// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>

// What a stand-in library pretends: OPGAUGE_FAKE_VENDOR="devices=8,fail_init=9,broken=1,mig=2".
//   devices      how many there are (default 1)
//   fail_init    the vendor's error code that initialising returns
//   fail_count   the vendor's error code that counting returns
//   broken       the index of a device whose handle (DCMI: health, amd_smi: address) is bad
//   lost         NVML: the index of a device whose handle is good and whose name is not
//   mig          NVML: how many instances device 0 is split into; 0 of them: mig_mode=1
//   processes    NVML, DCMI: how many other processes are on each device, beside this one
//   mode         NVML: the compute mode
//   used_mib     memory in use, in place of 1024
//   clock        the core's clock in MHz, in place of 1980
//   milliwatts   the power in use, in place of 350500
//   ecc          NVML: uncorrected errors of the memory
//   rows         NVML: 0: it repairs no rows, it only retires pages
//   pending      NVML: 1: a repair of the memory waits for a reset
//   unrepaired   NVML: 1: nothing is left to repair with
//   reasons      NVML: the mask of what holds clocks down
//   refuses      NVML: 1: a MIG instance tells no clocks; MTML, DCMI, amd_smi: readings are not
//   supported dead         the code that each reading returns hip_reversed amd_smi: 1: HIP counts
//   the other way round bad_card     DCMI: the card that does not answer ddr          DCMI: 1: no
//   HBM, as inference cards
namespace opgauge::fake_vendor {

inline int setting(const char* name, int otherwise) {
    const char* text = std::getenv("OPGAUGE_FAKE_VENDOR");
    const std::string all = std::string(",") + (text == nullptr ? "" : text);
    const std::string key = std::string(",") + name + "=";
    const auto start = all.find(key);
    return start == std::string::npos ? otherwise : std::atoi(all.c_str() + start + key.size());
}

inline int device_count() {
    return setting("devices", 1);
}

inline unsigned long long used_bytes() {
    return static_cast<unsigned long long>(setting("used_mib", 1024)) << 20U;
}

// A handle is the index plus one, so that it is never null.
template <typename Handle>
Handle handle_of(unsigned index) {
    return reinterpret_cast<Handle>(static_cast<std::size_t>(index) + 1);
}
inline unsigned index_of(const void* handle) {
    return static_cast<unsigned>(reinterpret_cast<std::size_t>(handle) - 1);
}

inline void copy_text(const std::string& text, char* buffer, std::size_t length) {
    std::strncpy(buffer, text.c_str(), length - 1);
    buffer[length - 1] = '\0';
}

}  // namespace opgauge::fake_vendor
