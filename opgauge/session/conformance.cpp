// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/conformance.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/plan/cache.h"
#include "opgauge/session/host_facts.h"

#include <fmt/format.h>

#include <system_error>

namespace opgauge {
namespace {

// Also raised when the child's work changes: a record of another kind of work is no record.
constexpr int kSchemaVersion = 1;

}  // namespace

Json conformance_setup(std::string_view backend, const Device& device,
                       const std::optional<std::string>& driver, const Json& torch) {
    const std::string place =
        fmt::format("{} {} of {}", device.name, device.pci_id.value_or(device.token),
                    get_string(host_facts(), "name", "this host"));
    return {{"backend", backend},
            {"device", device.uuid.value_or(place)},
            {"driver", optional_json(driver)},
            {"torch", torch}};
}

std::filesystem::path conformance_file(const Environment& environment, const Json& setup) {
    return cache_folder(environment) / "conformance" / (short_digest(to_line(setup)) + ".json");
}

std::optional<KeptConformance> read_conformance(const std::filesystem::path& file) {
    const auto json = read_json_file(file);
    if (!json || get_optional<int>(*json, "schema_version") != kSchemaVersion) return std::nullopt;
    KeptConformance kept;
    kept.setup = json->value("setup", Json::object());
    kept.measured_utc = get_string(*json, "measured_utc");
    kept.facts = json->value("facts", Json::object());
    auto judged = judge_conformance(kept.facts);
    if (!judged) return std::nullopt;
    kept.judged = std::move(*judged);
    return kept;
}

Result<void> write_conformance(const std::filesystem::path& file, const KeptConformance& kept) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    return write_file_atomically(file, to_text({{"schema_version", kSchemaVersion},
                                                {"setup", kept.setup},
                                                {"measured_utc", kept.measured_utc},
                                                {"judged", to_json(kept.judged)},
                                                {"facts", kept.facts}}));
}

Json conformance_summary(const KeptConformance& kept) {
    return {{"measured_utc", kept.measured_utc},
            {"floor_ns", kept.judged.floor_ns},
            {"empty_kernel_ns", optional_json(kept.judged.empty_kernel_ns)},
            {"resolution_ns", optional_json(kept.judged.resolution_ns)},
            {"failed", kept.judged.failed()}};
}

}  // namespace opgauge
