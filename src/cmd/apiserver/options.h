// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/server/server.h"
#include "base/flags.h"

namespace cox::cmd {

// What the flags ask of the API server. BadRequest, naming the flag, for what makes no sense.
Result<apiserver::ServerOptions> ServerOptionsFrom(const Flags& flags);

}  // namespace cox::cmd
