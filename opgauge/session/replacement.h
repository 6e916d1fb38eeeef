// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/base/json.h"

#include <string>
#include <vector>

namespace opgauge {

// Where a child that takes the place of another goes on. A child is replaced after a failed
// capture (its process cannot be trusted, the case is measured again) and after a lost device
// context (its test has failed, the next one follows).
class Replacement {
  public:
    // What the child has finished.
    void test_finished(const std::string& node);
    // The case `index` of `node` is to be measured (again) by another child.
    void repeat_case(const std::string& node, int index);
    // The other tests are for another child.
    void go_on_behind_test() { wanted_ = true; }

    // Whether another child is to be started; asked once after each child's end.
    bool take_wanted();

    // For the next child: tests that it leaves out.
    Json skip_nodes() const;
    // Cases of the repeated test that an earlier child has finished.
    bool is_done(const std::string& node, int index) const;

  private:
    std::vector<std::string> done_;
    std::string node_;
    int first_index_ = 0;
    bool wanted_ = false;
};

}  // namespace opgauge
