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

// The schemas of API types, generated from their tables.
//
// A type with a name in OpenAPI is a "definition": every struct, and the scalars with their own
// format (Quantity, Time, ...). All other types are written inline.
//
// Threads: constant after construction.
class Schemas {
 public:
  Schemas();

  // "io.k8s.api.core.v1.PodSpec"; empty for types that are not definitions.
  std::string_view NameOf(const Type& type) const;
  // Writes {"$ref": ...}.
  void WriteRef(std::string_view definition, Dialect dialect, JsonText* json) const;
  // Writes a complete definition by its name. `of` is the group version of the document: a kind
  // that belongs to all group versions (DeleteOptions) is listed for this one only. Empty: for all.
  void WriteDefinition(std::string_view name, Dialect dialect, const GroupVersion& of,
                       JsonText* json) const;
  // Adds `name` and all definitions that it references, directly or indirectly, to `reached`.
  void Reach(std::string_view name, std::set<std::string_view>* reached) const;

 private:
  struct Definition {
    const Type* type = nullptr;  // null for scalars: `v2` and `v3` are their schemas
    std::string key;             // for Description(): "core/v1.PodSpec"
    std::span<const std::string_view> atomic_lists;
    std::string_view v2, v3;
    std::vector<const KindInfo*> kinds;  // the kinds with this definition
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
  std::set<GroupVersion> group_versions_;  // with kinds that use options
};

}  // namespace cox::apiserver::openapi
