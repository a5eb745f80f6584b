// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/audit/output/sink.h"

namespace cox::apiserver {

// Events as lines of a file. Whoever finds nobody writing writes, also for those who come meanwhile
// and wait: one writer at a time, each event in one write(2), and no lock is held across it.
Result<std::unique_ptr<AuditOutput>> NewLogOutput(const Context& ctx,
                                                  const AuditLogOptions& options);

}  // namespace cox::apiserver
