// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "object/type/type.h"

// The API's structs by package, with data that only published schemas need. It is separate from the
// tables that decoding, patches and apply use.
namespace cox {

struct StructInfo {
  std::string_view name;  // "PodSpec"
  const Type* type = nullptr;
  // Fields whose list is explicitly atomic (listType=atomic). Other lists without a list type merge
  // in the same way, but their schema does not contain the list type.
  std::span<const std::string_view> atomic_lists = {};
};

// One group version, as a folder of api/: its structs and enums, including those that are not part
// of a kind.
struct PackageInfo {
  std::string_view path;  // "core/v1"
  std::span<const StructInfo> structs;
  // Strings that allow only the values in their Type's enum_values; for other enums these are just
  // the known values.
  std::span<const Type* const> closed_enums;
};

// Every package, by path. Constant.
std::span<const PackageInfo> AllPackages();

}  // namespace cox
