// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/result.h"
#include "opgauge/device/device.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace opgauge {

class Telemetry;

enum class Capability {
    graph_capture,
    thread_block_clusters,
    event_timing,
    device_hold,
    l2_flush,
    fork_compile,
    telemetry,
};
std::string_view name_of(Capability capability);
const std::vector<Capability>& all_capabilities();

// Changes to a child's environment: a value sets the variable, nullopt removes it.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>, std::less<>>;

// The caller's own visibility mask, as this backend's runtime would read it.
struct CallerMask {
    std::string variable;             // the innermost variable that is in force; empty: no mask
    std::vector<std::string> tokens;  // verbatim, up to the first one that ends the list
    bool hides_all = false;           // set, and hides every device ("", "-1")
    std::vector<std::string> notes;   // what was cut off and why
};

// One vendor's stack. Implementations are stateless; the array in backends.h owns them.
class Backend {
  public:
    virtual ~Backend() = default;

    virtual std::string_view name() const = 0;
    virtual std::vector<std::string_view> aliases() const = 0;
    virtual bool hidden() const { return false; }
    // False for cpu and fake: `auto` considers accelerators only.
    virtual bool accelerator() const = 0;
    virtual std::set<Capability> capabilities() const = 0;
    // Name of the timer used where neither --timer nor the case decides: graph, direct, host.
    virtual std::string_view default_timer() const = 0;
    // Outermost first; empty for cpu.
    virtual std::vector<std::string_view> visibility_variables() const = 0;
    // Variables that may change what is measured on this backend; kept in the run's identity.
    virtual std::vector<std::string_view> recorded_variables() const = 0;

    // Asks the vendor's library, then its tool, for all devices, whatever the caller's mask says.
    // Never fails: without devices the reasons say why. Tool calls have a deadline.
    virtual Discovery discover(const Environment& environment) const = 0;

    // Adds to the device that a run takes what is too slow to be asked of every device: the power
    // limit. Never fails: what cannot be had stays unknown.
    virtual void complete(Device& device, const Environment& environment) const;

    // Opens readings of exactly this device. Kinds: refused (the backend has none), environment (no
    // library, or the device is not there).
    virtual Result<std::unique_ptr<Telemetry>> open_telemetry(const Device& device,
                                                              const Environment& environment) const;

    // Kind usage: a mask that the runtime would misread (a repeated token).
    virtual Result<CallerMask> caller_mask(const Environment& environment) const = 0;

    // The device that a token of the caller's mask means, or nullopt where it is not here. Kind
    // usage: an index whose order cannot be known.
    virtual Result<std::optional<Device>> device_of_token(const Discovery& discovery,
                                                          const CallerMask& mask,
                                                          const std::string& token,
                                                          const Environment& environment) const;

    // What a child's environment needs so that it sees exactly these devices, in this order.
    // `tokens` come verbatim from the caller's mask where there is one. Only the innermost layer in
    // use is narrowed. Kind usage: an order that the runtime does not take.
    virtual Result<EnvironmentChanges> pin(const Environment& environment,
                                           const std::vector<std::string>& tokens) const = 0;
};

}  // namespace opgauge
