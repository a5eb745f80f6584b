// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "object/type/item_ops.h"
#include "object/type/name_index.h"

// The types of API objects as data. Generic code (json/, yaml/, protobuf/, patch/, apply/) handles
// every kind by means of these tables; there is no generated code per kind except for the structs.
//
// There are two sources of Types: tools/gen writes constant tables for the built-in kinds (next to
// their structs, see api/README.md), and RuntimeType (runtime_type.h) builds them from an OpenAPI
// schema for custom resources. Objects of built-in kinds are structs, accessed by `offset` from a
// void*; objects of custom resources are Values. List types, fields and defaults are described in
// the same way for both.
namespace cox {

struct Type;
class RawJson;

// The shape of a value. The comments name the C++ type in a struct.
enum class Shape : uint8_t {
  kBool,         // bool
  kInt32,        // int32_t
  kInt64,        // int64_t
  kDouble,       // double
  kString,       // std::string
  kBytes,        // std::string; base64 in JSON
  kQuantity,     // Quantity
  kIntOrString,  // IntOrString
  kTime,         // Time
  kMicroTime,    // MicroTime
  kDuration,     // Duration
  kRaw,          // RawJson: any JSON value, stored as its text
  kStruct,       // the generated struct
  kList,         // List of the element (std::vector in users' structs)
  kMap,          // Map of the element, from string
  kAny,          // unspecified: only in run-time schemas, held as a Value
};

// How the items of a list are identified in merges (x-kubernetes-list-type).
enum class ListType : uint8_t {
  kAtomic,  // the list is one value
  kSet,     // items are scalars, each once
  kMap,     // items are objects, identified by Type::keys
};

// Structs whose JSON is not an object with their fields.
enum class Codec : uint8_t {
  kFields,              // the ordinary case
  kSchemaOrBool,        // JSONSchemaPropsOrBool: a schema, or true or false
  kSchemaOrArray,       // JSONSchemaPropsOrArray: a schema, or a list of them
  kSchemaOrStringArray  // JSONSchemaPropsOrStringArray: a schema, or a list of strings
};

struct Field {
  enum Flag : uint16_t {
    kPointer = 1 << 0,    // may be absent: std::optional of a scalar, Box of a struct
    kOmitEmpty = 1 << 1,  // omitted in JSON if false, 0, "", empty (never a struct)
    kOmitZero = 1 << 2,   // omitted in JSON if it has its zero value (also a struct or Time)
    kInline = 1 << 3,  // a message in protobuf whose fields belong to the outer struct in JSON: a
                       // row for protobuf only
    kFlattened = 1 << 4,   // a field of such a message, offset from the outer struct: for JSON only
    kRequired = 1 << 5,    // required by the schema
    kAtomic = 1 << 6,      // this map or struct is merged as one value
    kPatchMerge = 1 << 7,  // strategic merge patch: patchStrategy=merge
    kPatchReplace = 1 << 8,     //   =replace
    kPatchRetainKeys = 1 << 9,  //   =retainKeys
    kGranular = 1 << 10,        // its members have separate owners, although its type is atomic
  };

  std::string_view name;       // in JSON
  const Type* type = nullptr;  // of the value (of the pointee, if kPointer)
  uint32_t offset = 0;         // from the start of the struct
  uint32_t number = 0;         // in protobuf; 0 if it is not encoded
  uint16_t flags = 0;
  std::string_view merge_key;     // strategic merge patch: the key of list items
  std::string_view default_json;  // the constant default as JSON; empty: none

  bool Has(Flag flag) const { return (flags & flag) != 0; }
};

// Type-erased operations on lists and maps. The items are `stride` bytes apart.
struct ItemSpan {
  void* data;
  size_t count;
};
struct ListOps {
  uint32_t stride;
  const ItemOps* item;  // null for a std::vector
  ItemSpan (*items)(const void* list);
  void (*reserve)(const ListOps& ops, void* list, size_t n);
  void* (*append)(const ListOps& ops, void* list);  // appends a default-constructed item
  void (*clear)(const ListOps& ops, void* list);
};
struct MapOps {
  uint32_t stride;        // of entries; the std::string key comes first
  uint32_t value_offset;  // from the start of an entry
  const ItemOps* entry;
  // Appends an entry and returns its value. The entries are not sorted until Seal.
  void* Append(void* map, std::string_view key) const;
  // Sorts the entries. Returns false if a key occurred twice.
  bool Seal(void* map) const;
  void Clear(void* map) const;
  ItemSpan Entries(const void* map) const;
};

// A type. Constant and shared: compare Types by address.
struct Type {
  // The name in error texts: "v1.PodSpec", "string", "[]v1.Container", "map[string]string".
  std::string_view name;
  Shape shape = Shape::kAny;
  Codec codec = Codec::kFields;
  ListType list_type = ListType::kAtomic;  // kList
  bool atomic = false;                     // kStruct, kMap: merged as one value
  bool type_meta = false;                  // kStruct: has kind and apiVersion in JSON
  bool preserve_unknown = false;           // run-time schemas: unknown fields are preserved
  bool wire_items = false;                 // kList: in protobuf a message with `repeated items = 1`
  const Type* element = nullptr;           // kList: of an item; kMap: of a value
  std::span<const std::string_view> keys = {};         // kList of kMap type: the keys of items
  std::span<const std::string_view> enum_values = {};  // kString: the named constants, if any
  std::span<const Field> fields = {};                  // kStruct: in declaration order
  std::span<const uint16_t> wire = {};       // kStruct: rows of `fields` by protobuf number
  std::span<const uint16_t> by_number = {};  // kStruct: the row of each number, or NameIndex::kNone
  std::span<const uint16_t> by_name = {};    // generated kStruct: rows in JSON, by name
  NameIndex names = {};                      // kStruct: finds a row of `fields` by its JSON name
  const ItemOps* struct_ops = nullptr;
  const ListOps* list_ops = nullptr;
  const MapOps* map_ops = nullptr;

  // The field with this JSON name, or null. Only for kStruct.
  const Field* Find(std::string_view json_name) const {
    int row = names.Find(json_name, [this](int i) { return fields[i].name; });
    return row < 0 ? nullptr : &fields[row];
  }
  bool IsScalar() const { return shape < Shape::kStruct; }
};

// Scalars, with the Go names in error texts.
namespace types {
extern const Type kBool, kInt32, kInt64, kDouble, kString, kBytes, kQuantity, kIntOrString, kTime,
    kMicroTime, kDuration, kRawExtension, kFieldsV1, kJson, kAny;
}  // namespace types

// `T::kType` of a generated struct.
template <class T>
const Type& TypeOf() {
  return T::kType;
}

}  // namespace cox
