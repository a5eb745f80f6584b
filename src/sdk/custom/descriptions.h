// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "coxswain/custom_resource.h"

// What was said of structs and kinds besides what their Types hold: for schemas.
namespace cox::sdk {

struct StructNotes {
  std::string doc;
  std::vector<FieldNotes> fields;  // by the row of Type::fields
};

// Filled while the program's constants are made, read afterwards.
//
// Threads: all methods may be called concurrently. What is handed out stays.
class Descriptions {
 public:
  static Descriptions& Get();

  void Add(const Type& type, StructNotes notes) COX_EXCLUDES(mu_);
  void Add(const KindInfo& kind, KindOptions options) COX_EXCLUDES(mu_);

  // Null if nothing was said: structs of the API.
  const StructNotes* Find(const Type& type) const COX_EXCLUDES(mu_);
  const KindOptions* Find(const KindInfo& kind) const COX_EXCLUDES(mu_);

 private:
  mutable Mutex mu_;
  std::map<const Type*, StructNotes> structs_ COX_GUARDED_BY(mu_);
  std::map<const KindInfo*, KindOptions> kinds_ COX_GUARDED_BY(mu_);
};

// The OpenAPI schema of a type, structural, as a CustomResourceDefinition wants it. Without
// `metadata` at the root: the API server has its own.
apiextensions::v1::JSONSchemaProps SchemaOf(const Type& type);

}  // namespace cox::sdk
