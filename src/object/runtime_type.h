// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Types of custom resources, built at run time from the OpenAPI schema of their definition.
namespace cox {

// Owns Types and all data that they point to. Returned pointers stay valid until it is destroyed.
//
// Threads: as a plain struct; once filled, its Types may be read from any thread.
class TypeArena {
 public:
  TypeArena() = default;
  TypeArena(const TypeArena&) = delete;
  TypeArena& operator=(const TypeArena&) = delete;

  Type* NewType();
  std::string_view Keep(std::string text);
  std::span<const std::string_view> Keep(std::vector<std::string_view> list);
  // Sets `type->fields` and their name index. REQUIRES: unique names, fewer than 65535.
  void SetFields(Type* type, std::vector<Field> fields);

 private:
  std::deque<Type> types_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::string_view>> lists_;
  std::deque<std::vector<Field>> fields_;
  std::deque<std::vector<uint16_t>> slots_;
};

// A Type built from a schema, with all data it points to.
//
// Supported keywords: type, properties, additionalProperties, items, required, enum, default,
// nullable, x-kubernetes-list-type, -list-map-keys, -map-type, -preserve-unknown-fields,
// -int-or-string, -embedded-resource, -patch-strategy, -patch-merge-key, and $ref (also as the only
// element of allOf) if definitions are given. Types may be recursive. Other keywords are for
// validation and do not affect a Type. String formats are ignored: every string is Shape::kString.
// In these Types Field::kPointer means that null is a valid value (nullable).
//
// Guarantees: immutable once built. Objects of these Types are Values; they have no struct_ops.
// Threads: may be shared.
// Errors: Invalid for a malformed schema or one that exceeds kMaxDepth, kMaxNodes or
//   kMaxProperties.
class RuntimeType {
 public:
  static constexpr int kMaxDepth = 256;
  static constexpr size_t kMaxNodes = 500'000;
  static constexpr size_t kMaxProperties = 10'000;  // of one object

  struct Options {
    // The type of `metadata` at the root and in embedded resources; null: the type in the schema,
    // or any type if the schema has none. Must outlive the RuntimeType.
    const Type* metadata = nullptr;
    // Structs preserve unknown fields (spec.preserveUnknownFields of old definitions).
    bool preserve_unknown = false;
  };

  // From an openAPIV3Schema.
  static Result<std::shared_ptr<const RuntimeType>> FromSchema(const Value& schema,
                                                               Options options);
  static Result<std::shared_ptr<const RuntimeType>> FromSchema(const Value& schema) {
    return FromSchema(schema, Options());
  }
  // From the definition `name` among `definitions` ("#/definitions/..." or
  // "#/components/schemas/..." refer to them).
  static Result<std::shared_ptr<const RuntimeType>> FromDefinitions(const Value& definitions,
                                                                    std::string_view name,
                                                                    Options options);

  const Type& type() const { return *root_; }

 private:
  class Builder;
  RuntimeType() = default;

  TypeArena arena_;
  const Type* root_ = nullptr;
};

// Removes members that `type` does not define, except below types that preserve unknown fields.
// Returns the paths of the removed members, as `spec.list[0].field`, at most
// limits::kMaxStrictErrors.
std::vector<std::string> Prune(Value& value, const Type& type);

// Sets missing members that have a constant default, also inside defaults that were just set. A
// null that is not nullable counts as missing: it is replaced by the default or removed.
void ApplyDefaults(Value& value, const Type& type);

}  // namespace cox
