// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/reviews/reviews.h"

namespace cox::apiserver {

Reviews::Handler Reviews::Find(const RequestInfo& info) {
  struct Entry {
    std::string_view group;
    std::string_view resource;
    std::string_view subresource;
    bool namespaced;
    Handler handler;
  };
  static constexpr Entry kEntries[] = {
      {"", "serviceaccounts", "token", true, &Reviews::RequestToken},
      {"authentication.k8s.io", "tokenreviews", "", false, &Reviews::ReviewToken},
      {"authentication.k8s.io", "selfsubjectreviews", "", false, &Reviews::ReviewSelf},
      {"authorization.k8s.io", "subjectaccessreviews", "", false, &Reviews::ReviewAccess},
      {"authorization.k8s.io", "localsubjectaccessreviews", "", true, &Reviews::ReviewLocalAccess},
      {"authorization.k8s.io", "selfsubjectaccessreviews", "", false, &Reviews::ReviewSelfAccess},
      {"authorization.k8s.io", "selfsubjectrulesreviews", "", false, &Reviews::ReviewSelfRules},
  };
  // All other requests on these paths (other verbs, names, unknown versions) are rejected like
  // those on any resource.
  if (info.verb != "create" || info.version != "v1" || info.trailing ||
      info.path.find("//") != std::string::npos) {
    return nullptr;
  }
  for (const Entry& entry : kEntries) {
    if (entry.group == info.group && entry.resource == info.resource &&
        entry.subresource == info.subresource && entry.namespaced == !info.namespace_.empty() &&
        entry.subresource.empty() == info.name.empty()) {
      return entry.handler;
    }
  }
  return nullptr;
}

bool Reviews::Handle(Call& call) const {
  const Handler handler = Find(call.info);
  if (handler == nullptr) return false;
  (this->*handler)(call);
  return true;
}

}  // namespace cox::apiserver
