// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apiserver/admission/plugins/resource_quota/evaluator.h"
#include "base/result.h"

namespace cox::apiserver::quota {

// What nobody may take unless a quota of the namespace bounds it: the administrator's choice.
struct LimitedResource {
  std::string group;
  std::string resource;
  std::vector<std::string> match_contains;  // parts of names: "cpu", "storage"
  std::vector<Scope> match_scopes;
};
using LimitedResources = std::vector<LimitedResource>;

// A quota while requests are decided: as it was read, and with what was granted since.
struct OpenQuota {
  core::v1::ResourceQuota quota;
  Amounts used;  // status.used, and more
};

// What a request takes: for each of the quotas its new usage.
using Charges = std::vector<Amounts>;

// Decides whether the request fits all quotas that mean it, given what of them is used. Pure: the
// charges are the caller's to keep or, on a dry run, to forget.
//
// A quota means an object if it bounds something the object takes and the object is in all its
// scopes. Only an increase is charged: what a deletion or a smaller update gives back is found by
// whoever counts the usage anew, the quota controller.
//
// Errors: Forbidden, naming the first quota that does not permit it.
Result<Charges> CheckRequest(const AdmissionRequest& request, const Evaluator& evaluator,
                             const LimitedResources& limited, const Time& now,
                             const std::vector<OpenQuota>& quotas);

}  // namespace cox::apiserver::quota
