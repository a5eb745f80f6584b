// SPDX-License-Identifier: Apache-2.0
#include "coxswain/manager.h"

namespace cox {

int RunOperator(int, char**, OperatorOptions, const std::function<Status(Manager&)>&) { return 1; }

}  // namespace cox
