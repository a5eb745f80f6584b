// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/context.h"
#include "base/mutex.h"
#include "base/status.h"

namespace cox {

// Blocks until `ctx` stops, and returns its error: never OK.
inline Status AwaitStop(const Context& ctx) {
  Mutex mu;
  CondVar never;
  MutexLock lock(mu);
  return ctx.Await(mu, never, [] { return false; });
}

}  // namespace cox
