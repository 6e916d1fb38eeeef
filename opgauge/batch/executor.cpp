// SPDX-License-Identifier: Apache-2.0
#include "opgauge/batch/executor.h"

namespace opgauge {

std::string_view name_of(TaskState state) {
    switch (state) {
        case TaskState::waiting:
            return "waiting";
        case TaskState::active:
            return "active";
        case TaskState::completed:
            return "completed";
        case TaskState::failed:
            return "failed";
        case TaskState::timed_out:
            return "timed_out";
        case TaskState::cancelled:
            return "cancelled";
        case TaskState::out_of_memory:
            return "out_of_memory";
        case TaskState::lost_node:
            return "lost_node";
        case TaskState::gone:
            return "gone";
    }
    return "?";
}

bool is_final(TaskState state) {
    return state != TaskState::waiting && state != TaskState::active;
}

}  // namespace opgauge
