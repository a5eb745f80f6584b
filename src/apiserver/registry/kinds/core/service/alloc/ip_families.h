// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/core/v1.h"
#include "base/result.h"

// The fields of a Service that say which addresses it is to have, made complete before any is
// taken. Pure functions.
namespace cox::apiserver {

// Brings clusterIPs in line with clusterIP where a client set only that one. `old` may be null.
void NormalizeClusterIps(core::v1::Service& service, const core::v1::Service* old);

// What was allocated and the client left out of its update stays: addresses, node ports (by the
// port's name), the health check port.
void KeepAllocatedValues(core::v1::Service& service, const core::v1::Service& old);

// Completes ipFamilyPolicy and ipFamilies. `configured` are the families that the cluster has, its
// default first. Invalid when the wish cannot be met. `old` may be null.
Status InitIpFamilies(core::v1::Service& service, const core::v1::Service* old,
                      std::span<const std::string> configured);

// Two addresses are preferred, before as now, and nothing else is asked for: then a service keeps
// what it has, also when the cluster has become dual-stack meanwhile.
bool KeepsPreferDualStack(const core::v1::Service& service, const core::v1::Service* old);

}  // namespace cox::apiserver
