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

// What tests change about ConnectTransport.
struct ConnectOptions {
  Environment environment = Environment::Real();
  // A connection on which nothing came for this long is pinged, and given up if there is no answer
  // in half that time. The sum, with the second or two that pass between two looks at the clock,
  // stays within the 45 s that are promised.
  std::chrono::milliseconds ping_after{28'000};
};

Result<std::shared_ptr<Transport>> Connect(const Context& ctx, const Config& config,
                                           const ConnectOptions& options);

}  // namespace cox::sdk
