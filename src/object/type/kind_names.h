// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/type/gvk.h"
#include "object/type/kind.h"

// The names under which a kind of the tables appears in objects and in error texts.
namespace cox {

inline GroupVersionKind GvkOf(const KindInfo& kind) {
  return {std::string(kind.group), std::string(kind.version), std::string(kind.kind)};
}

// "v1", "apps/v1": as apiVersion shows it.
inline std::string ApiVersionOf(const KindInfo& kind) {
  return GroupVersion{std::string(kind.group), std::string(kind.version)}.ToString();
}

// "core.ConfigMap", "rbac.Role": the first label of the group and the kind, as upstream's texts
// name the types objects are converted to.
inline std::string GoTypeName(const KindInfo& kind) {
  const std::string_view package =
      kind.group.empty() ? std::string_view("core") : kind.group.substr(0, kind.group.find('.'));
  return std::string(package).append(".").append(kind.kind);
}

}  // namespace cox
