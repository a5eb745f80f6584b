// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/audit/output/sink.h"
#include "base/result.h"

namespace cox::apiserver {

// Events as audit.k8s.io/v1 EventLists, posted to the server that a kubeconfig names. What it does
// not take is sent again, a few times and later each time.
// BadRequest for a kubeconfig that is wrong.
Result<std::unique_ptr<AuditOutput>> NewWebhookOutput(const Context& ctx,
                                                      const AuditWebhookOptions& options);

// The list that is posted.
std::string AuditEventList(std::span<const AuditEventPtr> events);

}  // namespace cox::apiserver
