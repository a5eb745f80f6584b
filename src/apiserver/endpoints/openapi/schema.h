// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/endpoints/openapi/json_text.h"
#include "object/packages.h"
#include "object/type/gvk.h"
#include "object/type/kind.h"

namespace cox::apiserver::openapi {

enum class Dialect { kV2, kV3 };

// The schemas of API types, written from their tables.
//
// A type that OpenAPI knows by name is a "definition": every struct, and the scalars with a form of
// their own (Quantity, Time, ...). Everything else is written where it is used.
//
// Threads: constant after construction.
class Schemas {
 public:
  Schemas();

  // "io.k8s.api.core.v1.PodSpec"; empty for what is not a definition.
  std::string_view NameOf(const Type& type) const;
  // {"$ref": ...}
  void WriteRef(std::string_view definition, Dialect dialect, JsonText* json) const;
  // A definition by its name, whole. `of` is the group version whose document it stands in: kinds
  // which belong to all of them are shown for that one only. Empty: for all.
  void WriteDefinition(std::string_view name, Dialect dialect, const GroupVersion& of,
                       JsonText* json) const;
  // Adds `name` and all that it refers to, with their names.
  void Reach(std::string_view name, std::set<std::string_view>* reached) const;

 private:
  struct Definition {
    const Type* type = nullptr;  // null for scalars: `v2` and `v3` are their schemas
    std::string key;             // for Description(): "core/v1.PodSpec"
    std::span<const std::string_view> atomic_lists;
    std::string_view v2, v3;
    std::vector<const KindInfo*> kinds;  // that are this definition
  };

  void WriteStruct(const Definition& definition, Dialect dialect, JsonText* json) const;
  void WriteProperty(const Definition& definition, const Field& field, Dialect dialect,
                     JsonText* json) const;
  void WriteType(const Type& type, Dialect dialect, JsonText* json) const;
  void WriteItem(const Type& type, Dialect dialect, JsonText* json) const;
  void WriteKinds(const Definition& definition, const GroupVersion& of, JsonText* json) const;
  bool IsClosed(const Type& type) const;

  std::unordered_map<const Type*, std::string> names_;
  std::map<std::string, Definition, std::less<>> definitions_;
  std::unordered_map<const Type*, bool> closed_enums_;
  std::set<GroupVersion> group_versions_;  // whose kinds are read and written with options
};

}  // namespace cox::apiserver::openapi
