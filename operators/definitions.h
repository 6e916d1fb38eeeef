// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/operator.h"

namespace opgauge::operators {

// One function an operator, each in a file of its own.
Operator mm_operator();
Operator add_operator();
Operator relu_operator();
Operator softmax_operator();
Operator layer_norm_operator();
Operator sum_operator();

}  // namespace opgauge::operators
