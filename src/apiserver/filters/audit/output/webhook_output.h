// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/audit/output/sink.h"
#include "base/result.h"

namespace cox::apiserver {

// Posts events as audit.k8s.io/v1 EventLists to the server in a kubeconfig. Failed requests are
// retried a few times with exponential backoff. Errors: BadRequest for an invalid kubeconfig.
Result<std::unique_ptr<AuditOutput>> NewWebhookOutput(const Context& ctx,
                                                      const AuditWebhookOptions& options);

// The request body.
std::string AuditEventList(std::span<const AuditEventPtr> events);

}  // namespace cox::apiserver
