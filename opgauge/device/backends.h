// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/backend.h"
#include "opgauge/device/device.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

// Every backend of this binary, in the order in which they are shown. Explicit, never registered.
const std::vector<const Backend*>& all_backends();

// By name or alias, in any case. Kind usage with the nearest known name otherwise.
Result<const Backend*> find_backend(std::string_view name);

// The backend of a run, its devices and where the choice came from.
struct BackendChoice {
    const Backend* backend = nullptr;
    Discovery discovery;
    std::string why;  // "--backend", "ZL_BACKEND=musa", "auto: the only backend with devices", ...
};

enum class WithoutAccelerator { use_cpu, error };

// `option` is --backend (empty: not given); then ZL_BACKEND; then auto. Kinds: usage (unknown name,
// several accelerators have devices: lists them), environment (none has and `without` says error:
// lists every backend's reason).
Result<BackendChoice> choose_backend(std::string_view option, const Environment& environment,
                                     WithoutAccelerator without);

// A device that a run may use: how it is pinned and what it is.
struct SelectedDevice {
    Device device;
    std::string token;           // verbatim from the caller's mask, or the device's own token
    EnvironmentChanges changes;  // pins a child to this one device
};

// `request` is --devices: empty (the first visible), indices within the caller's world, UUIDs or
// unique prefixes of one, MIG ids, ranges "0-3", comma lists, "all", "idle". Kinds: usage (unknown,
// repeated, ambiguous), environment (mask hides all, no device, unusable device).
Result<std::vector<SelectedDevice>> select_devices(const Backend& backend,
                                                   const Discovery& discovery,
                                                   std::string_view request,
                                                   const Environment& environment);

}  // namespace opgauge
