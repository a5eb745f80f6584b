// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook/webhook.h"
#include "object/type/gvk.h"

// Selection of the webhooks for a request.
namespace cox::apiserver {

// The request attributes that rules match.
struct RuleSubject {
  Operation operation;
  std::string_view group, version, resource, subresource;
  bool in_namespace = false;  // false for Namespace objects
};
bool RuleMatches(const admissionregistration::v1::RuleWithOperations& rule,
                 const RuleSubject& subject);

// The namespace of a request for webhooks. For a Namespace object, its own name.
const std::string& NamespaceOf(const AdmissionRequest& request);

// Webhooks are not called for admission configurations: otherwise a webhook that rejects all
// requests could not be removed.
bool IsExempt(const AdmissionRequest& request);

// Returns the resource in the version that a rule of the webhook matches, or null if the webhook
// does not match. With matchPolicy Equivalent, it may be another version or group of the requested
// resource.
//
// Errors: NotFound if the namespace does not exist and a namespaceSelector is set; Forbidden if
//   matchConditions cannot be evaluated and failurePolicy is Fail.
Result<const ServedResource*> MatchWebhook(Context& ctx, const Registry& registry,
                                           const Webhook& webhook, const AdmissionRequest& request);

}  // namespace cox::apiserver
