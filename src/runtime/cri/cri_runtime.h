// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "runtime/runtime.h"

namespace cox::runtime {

// A runtime that speaks CRI v1 on a Unix socket: containerd. `endpoint`: "unix:///run/…/…sock".
//
// Connects when it is first called, and again after the runtime was restarted. Its threads live in
// it; `ctx` is their parent. BadRequest for an endpoint that is none.
Result<std::unique_ptr<Runtime>> ConnectCri(const Context& ctx, std::string_view endpoint);

}  // namespace cox::runtime
