// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/object.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Access to fields by path, in the syntax of field selectors and the downward API:
//   spec.nodeName    spec.containers[0].image    metadata.labels['app.kubernetes.io/name']
namespace cox {

// One step of a path: a name (field or map key), or an index.
struct PathStep {
  std::string name;
  int64_t index = -1;  // >= 0: a list index, and name is empty

  bool operator==(const PathStep&) const = default;
};

// Errors: BadRequest that contains `path` if it is malformed.
Result<std::vector<PathStep>> ParsePath(std::string_view path);

// A value inside a struct. Borrows the object.
struct FieldRef {
  const Type* type;
  const void* at;
};

// The value at `path`; nullopt if a field is unknown, a pointer is null, or an index or key does
// not exist.
std::optional<FieldRef> FindField(const Type& type, const void* object,
                                  const std::vector<PathStep>& path);
const Value* FindField(const Value& value, const std::vector<PathStep>& path);

// The scalar at `path` as text, as selectors compare it ("true", "3", "Running"). Nullopt if there
// is no scalar.
std::optional<std::string> FieldText(const Object& object, const std::vector<PathStep>& path);

}  // namespace cox
