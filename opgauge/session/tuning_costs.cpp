// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/tuning_costs.h"

#include "opgauge/base/digest.h"
#include "opgauge/base/file.h"
#include "opgauge/base/json.h"
#include "opgauge/plan/cache.h"

#include <cmath>
#include <system_error>

namespace opgauge {

std::filesystem::path tuning_costs_file(const Plan& plan, const Environment& environment) {
    Json nodes = Json::array();
    for (const auto& node : plan.nodes) nodes.push_back(node.id);
    const Json facts = {{"corpus", plan.corpus_root},
                        {"nodes", nodes},
                        {"level", plan.settings.level},
                        {"dtypes", plan.settings.dtypes},
                        {"shapes", optional_json(plan.shapes_digest)},
                        {"device", plan.device.device.name}};
    return cache_folder(environment) / "tuning_costs" / (short_digest(to_line(facts)) + ".json");
}

CaseCosts read_tuning_costs(const std::filesystem::path& file) {
    const auto json = read_json_file(file);
    if (!json || get_optional<int>(*json, "schema_version") != 1) return {};
    auto costs = get_optional<CaseCosts>(*json, "seconds").value_or(CaseCosts());
    std::erase_if(costs, [](const auto& one) { return !std::isfinite(one.second); });
    return costs;
}

void write_tuning_costs(const std::filesystem::path& file, const CaseCosts& costs) {
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    static_cast<void>(
        write_file_atomically(file, to_text({{"schema_version", 1}, {"seconds", costs}})));
}

}  // namespace opgauge
