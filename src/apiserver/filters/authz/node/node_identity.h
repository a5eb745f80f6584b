// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "apiserver/request/user.h"

namespace cox::apiserver {

inline constexpr std::string_view kNodesGroup = "system:nodes";
inline constexpr std::string_view kNodeUserPrefix = "system:node:";

// The node that a user is: "n1" for system:node:n1 in the group system:nodes. None for all others.
// Empty for one who claims to be a node and does not say which; it may not do what nodes do.
// Ownership: borrows from the user.
std::optional<std::string_view> NodeNameOf(const UserInfo& user);

}  // namespace cox::apiserver
