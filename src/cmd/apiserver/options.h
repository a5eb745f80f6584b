// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/server/server.h"
#include "base/flags.h"

namespace cox::cmd {

// Converts the flags to options. Returns BadRequest with the flag's name for invalid values.
Result<apiserver::ServerOptions> ServerOptionsFrom(const Flags& flags);

}  // namespace cox::cmd
