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

// Subresources that speak another kind than their resource. Those that do not (status, resize,
// approval) are a word in GetOptions, WriteOptions and ApplyOptions.
//
// Threads and errors: as Client's.
namespace cox {

// How many there are of a thing that can be scaled, whatever it is: deployments, custom resources
// that declare it. Write it back with its resourceVersion to be told of a Conflict, without one to
// just set spec.replicas.
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

// Deletes a Pod unless a PodDisruptionBudget forbids it for now: then TooManyRequests, whose causes
// name the budget. Try again later.
Status Evict(Context& ctx, Client& client, const ObjectKey& pod, const DeleteOptions& options = {});

// A token of a service account. Its status has the token and when it expires; ask again before.
Result<authentication::v1::TokenRequest> CreateToken(Context& ctx, Client& client,
                                                     const ObjectKey& service_account,
                                                     authentication::v1::TokenRequestSpec spec);

// Gives a Pod to a node: what schedulers do. Conflict if it has one.
Status Bind(Context& ctx, Client& client, const ObjectKey& pod, const std::string& node);

}  // namespace cox
