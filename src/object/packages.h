// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "object/type/type.h"

// The API's structs by package, with what only a published schema shows: decoding, patches and
// apply need none of it, so it is kept out of the tables they walk.
namespace cox {

struct StructInfo {
  std::string_view name;  // "PodSpec"
  const Type* type = nullptr;
  // Fields whose list the API calls atomic in so many words. Other lists without a list type merge
  // the same way, but their schema does not say so.
  std::span<const std::string_view> atomic_lists = {};
};

// One group version, as a folder of api/: structs and enums, those of no kind too.
struct PackageInfo {
  std::string_view path;  // "core/v1"
  std::span<const StructInfo> structs;
  // Strings which can have no other value than their Type's enum_values; those of other enums are
  // only the known ones.
  std::span<const Type* const> closed_enums;
};

// Every package, by path. Constant.
std::span<const PackageInfo> AllPackages();

}  // namespace cox
