// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "object/type/kind.h"

namespace cox::apiserver {

// Something that the API accepts and that no component implements. docs/differences.md contains
// every entry.
struct Feature {
  // The kind in the version that is stored. Null: the path begins at the specification of a Pod, in
  // Pods and in Pod templates.
  const KindInfo* kind = nullptr;
  // The subresource whose updates have no effect. Empty: the object itself.
  std::string_view subresource = {};
  // The field, in the syntax of PathTree. Empty: every object of the kind.
  std::string_view path = {};
  // The value of the field that is not implemented, a string or "true" or "false"; with '*' at the
  // end, all values with this prefix. Empty: every value.
  std::string_view value = {};
  // "field=value", relative to the struct that contains the field: such objects do not request the
  // feature.
  std::string_view unless = {};
  // The consequence for the user.
  std::string_view effect;
};

std::span<const Feature> UnimplementedFeatures();

// Where a kind contains the specification of a Pod.
struct PodSpecPath {
  const KindInfo* kind;
  std::string_view path;
};
std::span<const PodSpecPath> PodSpecPaths();

}  // namespace cox::apiserver
