// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/base/result.h"
#include "opgauge/batch/entry.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace opgauge {

// Names of the files in a batch's folder.
struct BatchFiles {
    static constexpr const char* kBatch = "batch.json";
    static constexpr const char* kStatus = "ops_status.csv";
    static constexpr const char* kLive = "live.json";
    static constexpr const char* kLock = "batch.lock";
    static constexpr const char* kRuns = "runs";
    static constexpr const char* kLanes = "lanes";
};

// A device that a batch measures on; one or more lanes each.
struct BatchDevice {
    std::string token;    // as the caller's mask names it
    std::string request;  // what --devices takes to name it
    std::string name;     // model
    std::string uuid;     // empty: it has none
};

// A batch as its file keeps it: what was asked, on what, and how far it is.
struct Batch {
    std::filesystem::path folder;  // absolute
    std::vector<std::string> argv;
    std::string working_directory;
    std::vector<std::string> run_options;   // handed to each lane, verbatim
    std::vector<std::string> lane_options;  // flags that only lanes take
    int lanes_per_device = 1;               // more share a device: all but the measuring
    std::string device_request;             // --devices as given
    Json selection = Json::object();        // what was asked for
    Json facts = Json::object();            // name -> value: all must be equal for a batch to go on
    std::string backend;
    std::vector<BatchDevice> devices;
    std::string started;  // UTC
    std::string updated;
    std::string state = "running";  // running | finished | interrupted | no_device
    int exit_code = 0;
    // Lane-seconds by the clock, and what of them was outside of any item's time; zero: unknown.
    double lane_seconds = 0;
    TimeParts outside;
    std::vector<BatchItem> items;
};

// The device of each lane, in the order in which lanes are numbered.
std::vector<BatchDevice> lane_devices(const Batch& batch);
// The members of batch.json before `operators`.
Json header_json(const Batch& batch);
// Kinds: usage (no batch there), failed (another version, cut in half).
Result<Batch> read_batch(const std::filesystem::path& folder);

// How many entries are in each state or ended with each status, by name.
std::map<std::string, int> counts_of(const Batch& batch);

}  // namespace opgauge
