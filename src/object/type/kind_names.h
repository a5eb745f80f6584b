// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/type/gvk.h"
#include "object/type/kind.h"

// The names of a kind in objects and in error texts.
namespace cox {

inline GroupVersionKind GvkOf(const KindInfo& kind) {
  return {std::string(kind.group), std::string(kind.version), std::string(kind.kind)};
}

// "v1", "apps/v1": the format of apiVersion.
inline std::string ApiVersionOf(const KindInfo& kind) {
  return GroupVersion{std::string(kind.group), std::string(kind.version)}.ToString();
}

// "core.ConfigMap", "rbac.Role": the first label of the group and the kind, as upstream's error
// texts name Go types.
inline std::string GoTypeName(const KindInfo& kind) {
  const std::string_view package =
      kind.group.empty() ? std::string_view("core") : kind.group.substr(0, kind.group.find('.'));
  return std::string(package).append(".").append(kind.kind);
}

}  // namespace cox
