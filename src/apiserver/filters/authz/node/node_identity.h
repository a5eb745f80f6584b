// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "apiserver/request/user.h"

namespace cox::apiserver {

inline constexpr std::string_view kNodesGroup = "system:nodes";
inline constexpr std::string_view kNodeUserPrefix = "system:node:";

// The node name of a user: "n1" for system:node:n1 in the group system:nodes. None for other users.
// Empty for a node user without a name, which has no permissions. Ownership: borrows from the user.
std::optional<std::string_view> NodeNameOf(const UserInfo& user);

}  // namespace cox::apiserver
