// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"
#include "opgauge/record/time_parts.h"

#include <chrono>
#include <optional>
#include <string>

namespace opgauge {

// What a lane does at the moment, for those who look.
struct LaneView {
    std::string device;              // its token
    std::string state = "starting";  // starting | idle | running | ended | out
    std::string entry;
    std::string phase;
    std::string case_name;
    int case_index = 0;
    std::optional<int> planned;
    int rows = 0;
    std::chrono::steady_clock::time_point since;    // begin of the entry
    std::string why_out;                            // of a device that was taken out
    std::optional<std::string> why_no_fork_server;  // empty text: it has one
};

Json to_json(const LaneView& lane, std::chrono::steady_clock::time_point now);

// One lane as the parent sees it, between two messages.
struct Lane {
    LaneView view;
    std::optional<std::size_t> item;             // that it runs
    std::optional<unsigned long long> question;  // it waits for work
    std::string fault;                           // not empty: it is to be ended, and why
    bool silent = false;                         // the fault is that it said nothing
    bool told_end = false;
    int crashes = 0;  // in a row, without an entry that ended
    std::chrono::steady_clock::time_point heard;
    std::size_t messages = 0;  // since the entry began
    // What its time goes to where it is outside of any entry; nullopt: within one.
    std::optional<TimePart> outside = TimePart::start;
    std::chrono::steady_clock::time_point outside_since;  // or the begin of the entry

    // Its device was taken out; what runs ends, and nothing more is given to it.
    bool is_out() const { return !view.why_out.empty(); }
};

}  // namespace opgauge
