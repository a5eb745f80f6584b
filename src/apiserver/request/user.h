// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cox::authentication::v1 {
struct UserInfo;
}

namespace cox::apiserver {

// The authenticated user of a request.
struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool InGroup(std::string_view group) const {
    for (const std::string& g : groups) {
      if (g == group) return true;
    }
    return false;
  }
};

// Converts to the API type (api/authentication/v1.h).
authentication::v1::UserInfo ToApi(const UserInfo& user);

inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kMastersGroup = "system:masters";

}  // namespace cox::apiserver
