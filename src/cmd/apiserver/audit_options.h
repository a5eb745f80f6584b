// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/audit/events/options.h"
#include "base/flags.h"

namespace cox::cmd {

// What the flags --audit-* ask for. BadRequest, naming the flag, for what makes no sense.
Result<apiserver::AuditOptions> AuditFrom(const Flags& flags);

}  // namespace cox::cmd
