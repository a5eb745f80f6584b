// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

// Specs as upstream prints its internal Go types: the diffs in errors of rejected updates are of
// these texts.
//
// One member per line, indented by one space per level, nothing omitted. Members have Go's names
// and the order of the internal types, which differ from the API types in places: the host
// namespaces are part of the security context, and members of some volume sources have other names.
namespace cox::apiserver {

std::string InternalForm(const core::v1::PodSpec& spec);
std::string InternalForm(const core::v1::EphemeralContainer& container);

}  // namespace cox::apiserver
