// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apiserver/admission/plugins/resource_quota/evaluator.h"
#include "base/result.h"

namespace cox::apiserver::quota {

// A resource that can be consumed only if a quota of the namespace covers it; configured by the
// administrator.
struct LimitedResource {
  std::string group;
  std::string resource;
  std::vector<std::string> match_contains;  // substrings of resource names: "cpu", "storage"
  std::vector<Scope> match_scopes;
};
using LimitedResources = std::vector<LimitedResource>;

// A quota during the evaluation of a batch, with the usage that was charged since it was read.
struct OpenQuota {
  core::v1::ResourceQuota quota;
  Amounts used;  // status.used plus charges
};

// The result of a request: the new usage of each quota.
using Charges = std::vector<Amounts>;

// Checks whether the request fits all matching quotas with their current usage. Pure: the caller
// keeps the charges or, for a dry run, discards them.
//
// A quota matches an object if it limits a resource that the object uses and if the object is in
// all its scopes. Only increases are charged: the quota controller recalculates the usage after
// deletes and updates that decrease it.
//
// Errors: Forbidden, with the name of the first quota that is exceeded.
Result<Charges> CheckRequest(const AdmissionRequest& request, const Evaluator& evaluator,
                             const LimitedResources& limited, const Time& now,
                             const std::vector<OpenQuota>& quotas);

}  // namespace cox::apiserver::quota
