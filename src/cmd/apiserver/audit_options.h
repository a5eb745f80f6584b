// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/filters/audit/events/options.h"
#include "base/flags.h"

namespace cox::cmd {

// Converts the flags --audit-*. Returns BadRequest with the flag's name for invalid values.
Result<apiserver::AuditOptions> AuditFrom(const Flags& flags);

}  // namespace cox::cmd
