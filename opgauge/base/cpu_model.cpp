// SPDX-License-Identifier: Apache-2.0
#include "opgauge/base/cpu_model.h"

#include "opgauge/base/file.h"
#include "opgauge/base/text.h"

namespace opgauge {

std::optional<std::string> cpu_model_in(std::string_view cpuinfo) {
    for (const auto line : lines_of(cpuinfo)) {
        if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto model = trim(line.substr(colon + 1));
        if (!model.empty()) return printable(model);
    }
    return std::nullopt;
}

std::optional<std::string> cpu_model() {
    const auto text = read_file("/proc/cpuinfo");
    return text ? cpu_model_in(*text) : std::nullopt;
}

}  // namespace opgauge
