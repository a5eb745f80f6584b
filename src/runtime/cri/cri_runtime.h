// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "runtime/runtime.h"

namespace cox::runtime {

// A runtime with CRI v1 on a Unix socket: containerd. `endpoint`: "unix:///run/…/…sock".
//
// Connects with the first call, and reconnects after a restart of the runtime. It owns its threads;
// `ctx` is their parent context. BadRequest for an invalid endpoint.
Result<std::unique_ptr<Runtime>> ConnectCri(const Context& ctx, std::string_view endpoint);

}  // namespace cox::runtime
