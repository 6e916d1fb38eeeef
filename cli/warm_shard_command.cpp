// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/warm_shard.h"

#include "cli/commands.h"

namespace opgauge::cli {

Result<int> warm_shard_command(const WarmShardOptions& options, const Environment& environment) {
    OPGAUGE_TRY_ASSIGN(const ShardJob job, read_shard_job(options.job));
    const SystemClock clock;
    return run_warm_shard(job, options.channel_fd, environment, clock);
}

}  // namespace opgauge::cli
