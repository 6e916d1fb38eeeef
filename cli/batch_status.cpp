// SPDX-License-Identifier: Apache-2.0
// `opgauge batch status`: a batch from another shell, while it runs or afterwards.
#include "opgauge/base/text.h"
#include "opgauge/batch/batch.h"
#include "opgauge/batch/batch_folder.h"
#include "opgauge/batch/schedule.h"
#include "opgauge/batch/where.h"
#include "opgauge/report/batch_report.h"
#include "opgauge/report/where_report.h"

#include "cli/batch_parts.h"
#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <utility>

namespace opgauge::cli {
namespace {

Json status_json(const Batch& batch, bool runs, const Json& lanes) {
    return {{"folder", batch.folder.string()},
            {"state", batch.state},
            {"running", runs},
            {"counts", counts_of(batch)},
            {"seconds_left", optional_json(seconds_left(batch, lane_devices(batch).size()))},
            {"lanes", lanes}};
}

}  // namespace

Result<int> batch_status_command(const BatchCommandOptions& options) {
    OPGAUGE_TRY_ASSIGN(Batch batch, read_batch(options.status_of));
    const bool runs = BatchFolder::is_held(batch.folder);
    if (!runs && batch.state == "running") batch.state = "ended without a word";
    const auto live = read_json_file(batch.folder / BatchFiles::kLive);
    const bool known = runs && live && live->contains("lanes") && (*live)["lanes"].is_array();
    const Json lanes = known ? (*live)["lanes"] : Json::array();
    if (options.json) {
        Json json = status_json(batch, runs, lanes);
        if (options.where) json["where"] = to_json(time_of(batch));
        fmt::print("{}", to_text(json));
        return ok;
    }
    for (const auto& lane : lanes) fmt::print("{}\n", lane_text(lane));
    fmt::print("{}state: {}\n", batch_text(batch), printable(batch.state, 40));
    if (runs) fmt::print("{}\n", totals_text(batch, lane_devices(batch).size()));
    if (options.where) fmt::print("\n{}", where_text(time_of(batch)));
    return ok;
}

}  // namespace opgauge::cli
