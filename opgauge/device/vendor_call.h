// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace opgauge {

// What the calls of one reading came to: a device of which nothing could be read is an error,
// one that only lacks functions is not. All vendors' libraries return 0 for success.
class CallTally {
  public:
    explicit CallTally(int not_supported) : not_supported_(not_supported) {}

    // Calls an optional function and notes its code; false where it is not there or fails.
    template <typename F, typename... Arguments>
    bool call(F* function, Arguments... arguments) {
        if (function == nullptr) return false;
        last_ = function(arguments...);
        if (last_ == 0) {
            answered_ = true;
        } else if (last_ != not_supported_) {
            failure_ = last_;
        }
        return last_ == 0;
    }

    int last() const { return last_; }

    // The last code of a failure, where nothing was answered.
    std::optional<int> silence() const { return answered_ ? std::nullopt : failure_; }

  private:
    int not_supported_;
    int last_ = 0;
    bool answered_ = false;
    std::optional<int> failure_;
};

}  // namespace opgauge
