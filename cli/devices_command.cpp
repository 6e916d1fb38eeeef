// SPDX-License-Identifier: Apache-2.0
#include "opgauge/device/backends.h"
#include "opgauge/device/discovery.h"
#include "opgauge/report/devices_report.h"

#include "cli/commands.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace opgauge::cli {

Result<int> devices_command(const DevicesOptions& options, const Environment& environment) {
    std::vector<std::string> names;
    if (options.backend.empty()) {
        for (const Backend* backend : all_backends()) {
            if (!backend->hidden()) names.emplace_back(backend->name());
        }
    } else {
        OPGAUGE_TRY_ASSIGN(const Backend* backend, find_backend(options.backend));
        names.emplace_back(backend->name());
    }
    const std::vector<Discovery> found = discover_all(names, environment);
    if (options.json) {
        fmt::print("{}", to_text(devices_json(found)));
    } else {
        fmt::print("{}", devices_text(found));
    }
    const bool any = std::any_of(found.begin(), found.end(),
                                 [](const Discovery& d) { return !d.devices.empty(); });
    // Asked for one backend, "there is none" is an answer that scripts must notice.
    return any || options.backend.empty() ? static_cast<int>(ok)
                                          : static_cast<int>(ExitCode::environment);
}

}  // namespace opgauge::cli
