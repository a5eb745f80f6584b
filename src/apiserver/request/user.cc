// SPDX-License-Identifier: Apache-2.0
#include "apiserver/request/user.h"

#include "api/authentication/v1.h"

namespace cox::apiserver {

authentication::v1::UserInfo ToApi(const UserInfo& user) {
  authentication::v1::UserInfo info;
  info.username = user.name;
  info.uid = user.uid;
  info.groups = user.groups;
  for (const auto& [key, values] : user.extra) info.extra[key] = values;
  return info;
}

}  // namespace cox::apiserver
