// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/plugins/resource_quota/check.h"
#include "apiserver/config/config_reader.h"

namespace cox::apiserver {

// Parses the plugin's part of the AdmissionConfiguration: the resources that are limited by
// default. Null: none. Errors: those of ConfigDocument.
Result<quota::LimitedResources> ReadLimitedResources(const Value* configuration);

// The ResourceQuota plugin. It must be the last plugin, because it charges for objects that must
// not be changed or rejected afterwards.
//
// Usage is charged by an update of the quota's status. If another writer has changed the quota in
// the meantime, the update fails and the request is evaluated again. The quota controller corrects
// the usage if the write fails later and after deletes.
std::unique_ptr<const AdmissionPlugin> NewResourceQuota(const Registry& registry,
                                                        quota::LimitedResources limited);

}  // namespace cox::apiserver
