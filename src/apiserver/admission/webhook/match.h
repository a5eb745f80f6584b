// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook/webhook.h"
#include "object/type/gvk.h"

// Which webhooks a request is for.
namespace cox::apiserver {

// What rules are compared with.
struct RuleSubject {
  Operation operation;
  std::string_view group, version, resource, subresource;
  bool in_namespace = false;  // namespaces themselves are not
};
bool RuleMatches(const admissionregistration::v1::RuleWithOperations& rule,
                 const RuleSubject& subject);

// The namespace a request is in as webhooks see it: a namespace is in itself.
const std::string& NamespaceOf(const AdmissionRequest& request);

// Configurations of admission are never judged by webhooks: one that refuses everything could not
// be removed any more.
bool IsExempt(const AdmissionRequest& request);

// As what the webhook is to be told of the request: the resource in the version its rules name, or
// null if it is not to be called. With matchPolicy Equivalent that may be another version or group
// of the same resource than the one requested.
//
// Errors: NotFound for a namespace that is not there, where its labels decide; Forbidden for
//   conditions that cannot be evaluated and a webhook that must not be passed over.
Result<const ServedResource*> MatchWebhook(Context& ctx, const Registry& registry,
                                           const Webhook& webhook, const AdmissionRequest& request);

}  // namespace cox::apiserver
