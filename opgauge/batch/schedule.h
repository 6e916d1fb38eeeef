// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opgauge/batch/batch.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opgauge {

// Fills the expected times of entries from those that earlier batches took.
void expect(std::vector<BatchItem>& items, const std::map<std::string, double>& known);

// Which entry is next: the longest expected first, so that none is left alone at the end. One of
// unknown time counts as the median of the known; equal ones keep their order.
class BatchQueue {
  public:
    explicit BatchQueue(const std::vector<BatchItem>& items);

    bool empty() const { return waiting_.empty(); }
    std::size_t size() const { return waiting_.size(); }
    std::optional<std::size_t> take();
    // The one that take() would give.
    std::optional<std::size_t> next() const;
    // Once more, before all others.
    void put_back(std::size_t item) { waiting_.push_front(item); }
    // Once more, behind all others.
    void put_last(std::size_t item) { waiting_.push_back(item); }

  private:
    std::deque<std::size_t> waiting_;
};

// Seconds until the last entry ends, with so many lanes; nullopt before anything is known.
std::optional<double> seconds_left(const Batch& batch, std::size_t lanes);

}  // namespace opgauge
