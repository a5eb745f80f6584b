// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/audit/output/sink.h"

namespace cox::apiserver {

// Writes events to a file. Concurrent writers form groups: the first writes the events of all that
// wait, so there is one writer at a time, each event takes one write(2), and no lock is held during
// it.
Result<std::unique_ptr<AuditOutput>> NewLogOutput(const Context& ctx,
                                                  const AuditLogOptions& options);

}  // namespace cox::apiserver
