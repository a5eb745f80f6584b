// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "base/clock.h"
#include "object/type/value.h"

namespace cox::apiserver {

// Bearer tokens that a webhook verifies (TokenReview).
struct WebhookTokenOptions {
  std::string kubeconfig_file;  // empty: disabled
  std::string version = "v1beta1";
  std::chrono::seconds cache_ttl{120};  // for successful reviews; rejections are cached for less
};

// Sends a TokenReview; blocks until the response, an error or the end of `ctx`.
using PostReview = std::function<Result<Value>(const Context& ctx, std::string json)>;

// Results are cached for `cache_ttl`; errors are not. TryToken uses only the cache, AwaitToken also
// calls the webhook. `clock` and `metrics` (may be null) must outlive the method.
std::unique_ptr<const AuthMethod> NewWebhookTokenMethod(PostReview post,
                                                        WebhookTokenOptions options,
                                                        const Clock& clock, AuthnMetrics* metrics);

}  // namespace cox::apiserver
