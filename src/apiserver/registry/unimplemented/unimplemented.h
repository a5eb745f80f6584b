// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request/user.h"
#include "object/object.h"

// Warnings about accepted requests that no component fulfils:
//   "<path or kind>: not implemented: <effect>"
namespace cox::apiserver {

// Returns one warning for each entry of the table (features.h) that the object requests. `object`
// is of a kind in its stored version and ready to be stored. `old` is the stored object, null for a
// new one: an update causes warnings only if it changes more than metadata and status, and updates
// of Pods cause none, like those of PodWarnings.
//
// Returns nothing for the components of the cluster, which cannot act on warnings.
std::vector<std::string> UnimplementedWarnings(const UserInfo& user, const Object& object,
                                               const Object* old);

// The same for an update of a subresource that changes the object.
std::vector<std::string> UnimplementedSubresourceWarnings(const UserInfo& user,
                                                          const KindInfo& kind,
                                                          std::string_view subresource);

}  // namespace cox::apiserver
