// SPDX-License-Identifier: Apache-2.0
// The part of libamd_smi's ABI that stays: functions with scalar or string results. Its structs
// changed their layout with nearly every release.
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/base/shared_library.h"

#include <cstdint>
#include <string>
#include <vector>

namespace opgauge {

using AmdStatus = int;
using AmdProcessor = void*;
constexpr AmdStatus kAmdNotSupported = 2;

// The two structs that are read: their first members did not move between releases, and the buffers
// are larger than any version of them.
struct AmdEnumeration {
    std::uint32_t drm_render, drm_card, hsa_id, hip_id;
    char hip_uuid[256];
    char room[1024];
};

struct AmdClock {
    std::uint32_t now, lowest, highest;
    std::uint32_t room[61];
};

struct AmdSmi {
    AmdStatus (*init)(std::uint64_t);
    AmdStatus (*shut_down)();
    AmdStatus (*sockets)(std::uint32_t*, void**);
    AmdStatus (*processors)(void*, std::uint32_t*, AmdProcessor*);
    AmdStatus (*type)(AmdProcessor, int*);
    AmdStatus (*bdf)(AmdProcessor, std::uint64_t*);
    AmdStatus (*uuid)(AmdProcessor, unsigned*, char*);
    AmdStatus (*total)(AmdProcessor, int, std::uint64_t*);
    AmdStatus (*used)(AmdProcessor, int, std::uint64_t*);
    AmdStatus (*partition)(AmdProcessor, char*, std::uint32_t);
    AmdStatus (*enumeration)(AmdProcessor, AmdEnumeration*);
    AmdStatus (*text)(AmdStatus, const char**);
    AmdStatus (*temperature)(AmdProcessor, int, int, std::int64_t*);
    AmdStatus (*clock)(AmdProcessor, int, AmdClock*);

    std::string error(AmdStatus code) const;
};

// An open libamd_smi, started; it ends with the object.
class AmdSmiSession {
  public:
    // Kind environment: no library, too old, or the driver does not answer.
    static Result<AmdSmiSession> open(const Environment& environment);
    AmdSmiSession(AmdSmiSession&& other) noexcept;
    AmdSmiSession& operator=(AmdSmiSession&& other) = delete;
    ~AmdSmiSession();

    const AmdSmi& smi() const { return smi_; }
    const std::string& library_name() const { return library_.name(); }

  private:
    AmdSmiSession(SharedLibrary library, const AmdSmi& smi);

    SharedLibrary library_;
    AmdSmi smi_;
    bool open_ = true;
};

// "0000:41:00.0"
std::string amd_bdf_text(std::uint64_t bdf);

// Fills in every GPU of every socket; returns what failed, or 0.
AmdStatus list_amd_processors(const AmdSmi& smi, std::vector<AmdProcessor>& gpus);

}  // namespace opgauge
