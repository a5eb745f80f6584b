// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/authentication/v1.h"
#include "api/autoscaling/v1.h"
#include "api/core/v1.h"
#include "api/policy/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/client.h"

// Subresources whose kind differs from the kind of their resource. For the others (status, resize,
// approval), set `subresource` in GetOptions, WriteOptions or ApplyOptions.
//
// Threads and errors are those of Client.
namespace cox {

// The scale subresource of any scalable resource, including custom resources that declare it. If
// the scale contains a resourceVersion, UpdateScale returns Conflict if the object has changed;
// without one it sets spec.replicas unconditionally.
Result<autoscaling::v1::Scale> GetScale(Context& ctx, Client& client, const Resource& resource,
                                        const ObjectKey& key);
Result<autoscaling::v1::Scale> UpdateScale(Context& ctx, Client& client, const Resource& resource,
                                           autoscaling::v1::Scale scale,
                                           const WriteOptions& options = {});
template <class T>
Result<autoscaling::v1::Scale> GetScale(Context& ctx, Client& client, const ObjectKey& key) {
  return GetScale(ctx, client, Resource::Of<T>(), key);
}
template <class T>
Result<autoscaling::v1::Scale> UpdateScale(Context& ctx, Client& client,
                                           autoscaling::v1::Scale scale,
                                           const WriteOptions& options = {}) {
  return UpdateScale(ctx, client, Resource::Of<T>(), std::move(scale), options);
}

// Evicts a Pod. Returns TooManyRequests if a PodDisruptionBudget does not allow the eviction now;
// the causes name the budget. Retry later.
Status Evict(Context& ctx, Client& client, const ObjectKey& pod, const DeleteOptions& options = {});

// Requests a token for a service account. The status contains the token and its expiration time;
// request a new token before then.
Result<authentication::v1::TokenRequest> CreateToken(Context& ctx, Client& client,
                                                     const ObjectKey& service_account,
                                                     authentication::v1::TokenRequestSpec spec);

// Binds a Pod to a node, as schedulers do. Conflict if the Pod is already bound.
Status Bind(Context& ctx, Client& client, const ObjectKey& pod, const std::string& node);

}  // namespace cox
