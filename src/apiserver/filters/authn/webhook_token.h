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

// Bearer tokens that another server is asked about (TokenReview).
struct WebhookTokenOptions {
  std::string kubeconfig_file;  // empty: nobody is asked
  std::string version = "v1beta1";
  std::chrono::seconds cache_ttl{120};  // how long its answers hold; refusals for less
};

// Asks; blocks until the answer, an error or the end of `ctx`.
using PostReview = std::function<Result<Value>(const Context& ctx, std::string json)>;

// What it says of a token is remembered for `cache_ttl`; errors are not. Tokens that are remembered
// cost no waiting, all others are looked at by AwaitToken alone. `clock` and `metrics` (may be
// null) outlive the method.
std::unique_ptr<const AuthMethod> NewWebhookTokenMethod(PostReview post,
                                                        WebhookTokenOptions options,
                                                        const Clock& clock, AuthnMetrics* metrics);

}  // namespace cox::apiserver
