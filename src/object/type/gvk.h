// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cox {

// A group and one of its versions. The core group is the empty string: "v1"; others: "apps/v1".
struct GroupVersion {
  std::string group;
  std::string version;

  // Errors: BadRequest with upstream's text if there is more than one slash. "" returns an empty
  //   one.
  static Result<GroupVersion> Parse(std::string_view api_version);
  // The format of apiVersion.
  std::string ToString() const { return group.empty() ? version : group + "/" + version; }
  bool empty() const { return group.empty() && version.empty(); }

  auto operator<=>(const GroupVersion&) const = default;
};

// The type of an object, for example apps/v1, Deployment.
struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;

  static Result<GroupVersionKind> Parse(std::string_view api_version, std::string_view kind);
  GroupVersion group_version() const { return {group, version}; }
  // "apps/v1, Kind=Deployment", the format in error texts.
  std::string ToString() const { return group + "/" + version + ", Kind=" + kind; }
  bool empty() const { return group.empty() && version.empty() && kind.empty(); }

  auto operator<=>(const GroupVersionKind&) const = default;
};

// A resource that is served, for example apps/v1, deployments.
struct GroupVersionResource {
  std::string group;
  std::string version;
  std::string resource;

  GroupVersion group_version() const { return {group, version}; }
  std::string ToString() const { return group + "/" + version + ", Resource=" + resource; }

  auto operator<=>(const GroupVersionResource&) const = default;
};

// A resource of a group, in any version.
struct GroupResource {
  std::string group;
  std::string resource;

  // "pods", "deployments.apps", the format in error texts.
  std::string ToString() const { return group.empty() ? resource : resource + "." + group; }

  auto operator<=>(const GroupResource&) const = default;
};

}  // namespace cox
