// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"
#include "opgauge/measure/conformance.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace opgauge {

// How a device's timers were checked once, as the cache folder keeps it.
struct KeptConformance {
    Json setup;  // for whom it holds: conformance_setup
    std::string measured_utc;
    Json facts;  // as the child told; judged anew by each reader
    Conformance judged;
};

// What the timers depend on: backend, device, driver, torch. A device without an id of its own is
// known by its host and its place there.
Json conformance_setup(std::string_view backend, const Device& device,
                       const std::optional<std::string>& driver, const Json& torch);

// conformance/<digest of the setup>.json in the cache folder.
std::filesystem::path conformance_file(const Environment& environment, const Json& setup);

// nullopt: there is none, or none that this version can read; it is then made again.
std::optional<KeptConformance> read_conformance(const std::filesystem::path& file);
Result<void> write_conformance(const std::filesystem::path& file, const KeptConformance& kept);

// For run_identity.json: floor, resolution, date, verdict.
Json conformance_summary(const KeptConformance& kept);

}  // namespace opgauge
