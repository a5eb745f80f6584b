// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authz/authorizer.h"

#include <string_view>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

// Paths by exact name or with everything below ("/livez/*").
bool PathIn(std::string_view path, std::initializer_list<std::string_view> patterns) {
  for (std::string_view pattern : patterns) {
    if (pattern.ends_with('*')) {
      pattern.remove_suffix(1);
      if (path.starts_with(pattern)) return true;
    } else if (path == pattern) {
      return true;
    }
  }
  return false;
}

}  // namespace

Decision BuiltinAuthorizer::Authorize(const UserInfo& user, const RequestInfo& request) const {
  if (user.InGroup(kMastersGroup)) return {true, {}};
  if (!request.is_resource && request.verb == "get") {
    // The roles system:public-info-viewer and system:discovery.
    if (PathIn(request.path, {"/healthz", "/livez", "/readyz", "/version", "/version/"})) {
      return {true, {}};
    }
    if (user.InGroup(kAuthenticatedGroup) &&
        PathIn(request.path, {"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"})) {
      return {true, {}};
    }
  }
  return {};
}

Status ForbiddenStatus(const UserInfo& user, const RequestInfo& request,
                       const std::string& reason) {
  std::string message;
  StatusDetails details;
  if (request.is_resource) {
    details = {.name = request.name, .group = request.group, .kind = request.resource};
    message = request.resource;
    if (!request.group.empty()) message += "." + request.group;
    if (!request.name.empty()) message += " " + Quote(request.name);
    std::string resource = request.resource;
    if (!request.subresource.empty()) resource += "/" + request.subresource;
    message += " is forbidden: User " + Quote(user.name) + " cannot " + request.verb +
               " resource " + Quote(resource) + " in API group " + Quote(request.group);
    message += request.namespace_.empty() ? " at the cluster scope"
                                          : " in the namespace " + Quote(request.namespace_);
  } else {
    message = "forbidden: User " + Quote(user.name) + " cannot " + request.verb + " path " +
              Quote(request.path);
  }
  if (!reason.empty()) message += ": " + reason;
  return Status(Reason::kForbidden, std::move(message), std::move(details));
}

}  // namespace cox::apiserver
