// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/event_loops.h"

#include <algorithm>

#include "base/usable_cpus.h"

namespace cox::cmd {

Result<int> EventLoopsFrom(const Flags& flags) {
  COX_ASSIGN_OR_RETURN(const int64_t loops, flags.GetInt("http-event-loops", 0, 1024));
  return loops > 0 ? static_cast<int>(loops) : DefaultEventLoops(UsableCpus());
}

int DefaultEventLoops(int cpus) { return std::max(cpus, 2); }

}  // namespace cox::cmd
