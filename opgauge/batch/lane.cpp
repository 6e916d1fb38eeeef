// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/lane.h"

namespace opgauge {

Json to_json(const LaneView& lane, std::chrono::steady_clock::time_point now) {
    Json json = {{"device", lane.device}, {"state", lane.state}};
    if (lane.state == "out") json["why"] = lane.why_out;
    const auto& why_none = lane.why_no_fork_server;
    json["fork_server"] = why_none && why_none->empty() ? Json(true) : optional_json(why_none);
    if (lane.state != "running") return json;
    json["entry"] = lane.entry;
    json["phase"] = lane.phase;
    json["case"] = lane.case_name;
    json["case_index"] = lane.case_index;
    json["planned"] = optional_json(lane.planned);
    json["rows"] = lane.rows;
    json["seconds"] = std::chrono::duration<double>(now - lane.since).count();
    return json;
}

}  // namespace opgauge
