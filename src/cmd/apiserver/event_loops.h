// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/flags.h"
#include "base/result.h"

namespace cox::cmd {

// The number of event loops of the API server: --http-event-loops. Errors: BadRequest.
Result<int> EventLoopsFrom(const Flags& flags);

// The default: one event loop per CPU, so that connections can use all of them. At least two,
// because a loop that encodes a long list delays every other connection of that loop; with one CPU,
// the kernel then shares it between the loops.
int DefaultEventLoops(int cpus);

}  // namespace cox::cmd
