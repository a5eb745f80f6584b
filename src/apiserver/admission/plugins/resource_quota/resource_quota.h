// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/plugins/resource_quota/check.h"
#include "apiserver/config/config_reader.h"

namespace cox::apiserver {

// Of the plugin's part of the AdmissionConfiguration: what is limited by default. An object that is
// not there limits nothing. What is wrong with it the document tells.
Result<quota::LimitedResources> ReadLimitedResources(const Value* configuration);

// The plugin ResourceQuota: what a namespace may hold and take. It judges last, when nothing
// changes or refuses an object any more, because it charges for what it lets pass.
//
// Usage is charged by an update of the quota's status which fails if somebody else wrote it in
// between; the request is then decided anew on what is there. What is charged for a write that
// fails after all, or is given back by deletions, is put right by the quota controller.
std::unique_ptr<const AdmissionPlugin> NewResourceQuota(const Registry& registry,
                                                        quota::LimitedResources limited);

}  // namespace cox::apiserver
