// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// Where a child that takes the place of another goes on. A child is replaced after a failed
// capture (its process cannot be trusted, the case is measured again) and after it was lost: it
// crashed, stalled, ran out of memory or lost its device (what it was doing has failed, the next
// child goes on behind it). How often a lost child is replaced has a limit.
class Replacement {
  public:
    static constexpr int kMostLost = 8;        // of one run
    static constexpr int kMostLostInARow = 3;  // without a finished case between them

    // What the child has finished.
    void test_finished(const std::string& node);
    void case_finished() { lost_in_a_row_ = 0; }
    // The case `index` of `node` is to be measured (again) by another child.
    void repeat_case(const std::string& node, int index);
    // The other tests are for another child.
    void go_on_behind_test() { wanted_ = true; }
    // The child was lost in the case `index` of `node`: another goes on behind that case.
    void lost_in_case(const std::string& node, int index);
    // The child was lost while no case ran: another goes on behind the finished tests.
    void lost_between_cases();

    // Whether another child is to be started; asked once after each child's end.
    bool take_wanted();
    bool is_wanted() const { return wanted_; }
    // Why a lost child is not replaced any more, or nullopt.
    const std::optional<std::string>& gave_up() const { return gave_up_; }

    // For the next child: tests that it leaves out.
    Json skip_nodes() const;
    // Cases of the repeated test that an earlier child has finished.
    bool is_done(const std::string& node, int index) const;

  private:
    std::vector<std::string> done_;
    std::string node_;
    int first_index_ = 0;
    bool wanted_ = false;
    int lost_ = 0;
    int lost_in_a_row_ = 0;
    std::optional<std::string> gave_up_;
};

}  // namespace opgauge
