// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "base/context.h"
#include "base/result.h"
#include "coxswain/config.h"
#include "coxswain/transport.h"
#include "sdk/config/environment.h"

namespace cox::sdk {

// Options of ConnectTransport for tests.
struct ConnectOptions {
  Environment environment = Environment::Real();
  // A connection without traffic for this long is pinged, and closed if there is no response within
  // half of that time. With the granularity of the checks, the sum is within the guaranteed 45 s.
  std::chrono::milliseconds ping_after{28'000};
};

Result<std::shared_ptr<Transport>> Connect(const Context& ctx, const Config& config,
                                           const ConnectOptions& options);

}  // namespace cox::sdk
