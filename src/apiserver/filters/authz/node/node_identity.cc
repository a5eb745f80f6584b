// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_identity.h"

namespace cox::apiserver {

std::optional<std::string_view> NodeNameOf(const UserInfo& user) {
  const std::string_view name = user.name;
  if (!name.starts_with(kNodeUserPrefix) || !user.InGroup(kNodesGroup)) return std::nullopt;
  return name.substr(kNodeUserPrefix.size());
}

}  // namespace cox::apiserver
