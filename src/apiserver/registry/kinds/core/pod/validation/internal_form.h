// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

// Specs as a Go server prints its internal types: the diffs in refused updates are of these texts.
//
// One member per line, indented by one space per level, nothing left out. Members have Go's names
// and stand in the order of the internal types, which differ from the API's here and there: the
// host namespaces are part of the security context, some storage systems' members have other names.
namespace cox::apiserver {

std::string InternalForm(const core::v1::PodSpec& spec);
std::string InternalForm(const core::v1::EphemeralContainer& container);

}  // namespace cox::apiserver
