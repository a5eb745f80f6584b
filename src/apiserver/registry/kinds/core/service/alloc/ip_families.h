// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "base/result.h"

// Completes the fields of a Service that determine its addresses, before allocation. Pure
// functions.
namespace cox::apiserver {

// Sets clusterIPs from clusterIP if the client set only the latter. `old` may be null.
void NormalizeClusterIps(core::v1::Service& service, const core::v1::Service* old);

// Keeps allocated values that the client omits in an update: addresses, node ports (by the name of
// the port), the health check port.
void KeepAllocatedValues(core::v1::Service& service, const core::v1::Service& old);

// Sets ipFamilyPolicy and ipFamilies. `configured` are the families of the cluster, the default
// first.
// Errors: Invalid if the cluster does not have the families that the Service requires. `old` may be
//   null.
Status InitIpFamilies(core::v1::Service& service, const core::v1::Service* old,
                      std::span<const std::string> configured);

// Whether the policy is PreferDualStack before and after, and no addresses or families change: then
// the service keeps its addresses, even if the cluster has become dual-stack.
bool KeepsPreferDualStack(const core::v1::Service& service, const core::v1::Service* old);

}  // namespace cox::apiserver
