// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/batch_lane.h"

#include "cli/commands.h"
#include "cli/run_options.h"

namespace opgauge::cli {

Result<int> batch_lane_command(const BatchLaneOptions& options, const Environment& environment) {
    LaneOptions lane;
    lane.plan = options.run.plan;
    lane.run = run_options(options.run, environment);
    lane.run.device_lanes = options.lanes_per_device;
    lane.fork_server = !options.no_fork_server;
    lane.quarantine = !options.no_quarantine;
    lane.channel_fd = options.channel_fd;
    const SystemClock clock;
    return run_batch_lane(lane, environment, find_installation(environment), clock);
}

}  // namespace opgauge::cli
