// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/slurm_states.h"
#include "opgauge/device/backends.h"

#include <string>
#include <vector>

namespace opgauge {

// The devices that a scheduler gave a task: with these changes of the environment, --devices
// `request` names exactly them.
struct GivenDevices {
    EnvironmentChanges changes;
    std::string request;
    std::string why;  // who said so, for the log
};

// What is known of a task's devices besides its environment.
struct Allotment {
    std::vector<GresShare> shares;  // on this node
    std::string gres;               // what was asked for, as --gres takes it; may be empty
};

// Slurm sets a visibility variable for some vendors' nodes, sets several at once where a node is
// not flagged, sets none for a vendor that it does not know or a gres that is not called gpu
// (docs/slurm.md). What Slurm set is kept and all other layers are removed; where it set nothing,
// its numbers are pinned. Kind refused: no devices were given, or what was given cannot be named.
Result<GivenDevices> given_devices(const Backend& backend, const Discovery& discovery,
                                   const Environment& environment, const Allotment& allotment);

// Asks scontrol what this job holds on this node. Without a job: an empty one.
Result<Allotment> ask_allotment(const Environment& environment, const std::string& gres);

}  // namespace opgauge
