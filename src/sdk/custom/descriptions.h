// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "coxswain/custom_resource.h"

// Descriptions of structs and kinds that are not part of their Types: for schemas.
namespace cox::sdk {

struct StructNotes {
  std::string doc;
  std::vector<FieldNotes> fields;  // by index in Type::fields
};

// Filled during static initialization, read afterwards.
//
// Threads: all methods may be called concurrently. Returned pointers stay valid.
class Descriptions {
 public:
  static Descriptions& Get();

  void Add(const Type& type, StructNotes notes) COX_EXCLUDES(mu_);
  void Add(const KindInfo& kind, KindOptions options) COX_EXCLUDES(mu_);

  // Null if there is no description: structs of the API.
  const StructNotes* Find(const Type& type) const COX_EXCLUDES(mu_);
  const KindOptions* Find(const KindInfo& kind) const COX_EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  std::map<const Type*, StructNotes> structs_ COX_GUARDED_BY(mu_);
  std::map<const KindInfo*, KindOptions> kinds_ COX_GUARDED_BY(mu_);
};

// The structural OpenAPI schema of a type for a CustomResourceDefinition. `metadata` at the root is
// only an object, because the API server defines its content.
apiextensions::v1::JSONSchemaProps SchemaOf(const Type& type);

}  // namespace cox::sdk
