// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/environment.h"
#include "opgauge/base/json.h"

#include <filesystem>
#include <map>
#include <string>

namespace opgauge {

// How long entries took in earlier batches with these facts (backend, device model, corpus, what
// is measured), for the order of the next one. Kept in the cache folder; losing it costs order.
class EntryCosts {
  public:
    static EntryCosts open(const Json& facts, const Environment& environment);

    // Entry -> seconds, the last known.
    const std::map<std::string, double>& seconds() const { return seconds_; }
    // Adds one line: several batches may add to one file.
    void add(const std::string& entry, double seconds);

  private:
    std::filesystem::path file_;
    std::map<std::string, double> seconds_;
};

}  // namespace opgauge
