// SPDX-License-Identifier: Apache-2.0
#include "object/type/type.h"

#include "object/type/api_types.h"
#include "object/type/type_ops.h"

namespace cox::types {

constinit const Type kBool = {.name = "bool", .shape = Shape::kBool};
constinit const Type kInt32 = {.name = "int32", .shape = Shape::kInt32};
constinit const Type kInt64 = {.name = "int64", .shape = Shape::kInt64};
constinit const Type kDouble = {.name = "float64", .shape = Shape::kDouble};
constinit const Type kString = {.name = "string", .shape = Shape::kString};
constinit const Type kBytes = {.name = "[]uint8", .shape = Shape::kBytes};
constinit const Type kQuantity = {.name = "resource.Quantity", .shape = Shape::kQuantity};
constinit const Type kIntOrString = {.name = "intstr.IntOrString", .shape = Shape::kIntOrString};
constinit const Type kTime = {.name = "v1.Time", .shape = Shape::kTime};
constinit const Type kMicroTime = {.name = "v1.MicroTime", .shape = Shape::kMicroTime};
constinit const Type kDuration = {.name = "v1.Duration", .shape = Shape::kDuration};
constinit const Type kRawExtension = {.name = "runtime.RawExtension", .shape = Shape::kRaw};
constinit const Type kFieldsV1 = {.name = "v1.FieldsV1", .shape = Shape::kRaw};
constinit const Type kJson = {.name = "v1.JSON", .shape = Shape::kRaw};
constinit const Type kAny = {.name = "interface {}", .shape = Shape::kAny};

}  // namespace cox::types

namespace cox::scalar_ops {

constinit const ListOps kStringList = kListOps<std::string>;
constinit const ListOps kBoolList = kListOps<Bool>;
constinit const ListOps kInt32List = kListOps<int32_t>;
constinit const ListOps kInt64List = kListOps<int64_t>;
constinit const ListOps kRawList = kListOps<RawJson>;
constinit const ListOps kTimeList = kListOps<Time>;
constinit const ListOps kQuantityList = kListOps<Quantity>;
constinit const ListOps kIntOrStringList = kListOps<IntOrString>;
constinit const MapOps kStringMap = kMapOps<std::string>;
constinit const MapOps kInt32Map = kMapOps<int32_t>;
constinit const MapOps kInt64Map = kMapOps<int64_t>;
constinit const MapOps kQuantityMap = kMapOps<Quantity>;
constinit const MapOps kRawMap = kMapOps<RawJson>;
constinit const MapOps kTimeMap = kMapOps<Time>;

}  // namespace cox::scalar_ops

namespace cox {

ItemSpan list_functions::Items(const void* list) {
  const auto& items = *static_cast<const ListBase*>(list);
  return {items.erased_data(), items.size()};
}

void list_functions::Reserve(const ListOps& ops, void* list, size_t n) {
  static_cast<ListBase*>(list)->Reserve(*ops.item, n);
}

void* list_functions::Append(const ListOps& ops, void* list) {
  return static_cast<ListBase*>(list)->Append(*ops.item);
}

void list_functions::Clear(const ListOps& ops, void* list) {
  static_cast<ListBase*>(list)->Clear(*ops.item);
}

// A Map is the List of its entries.

void* MapOps::Append(void* map, std::string_view key) const {
  return static_cast<char*>(MapBase::Append(*entry, *static_cast<ListBase*>(map), key)) +
         value_offset;
}

bool MapOps::Seal(void* map) const { return MapBase::Seal(*entry, *static_cast<ListBase*>(map)); }

void MapOps::Clear(void* map) const { static_cast<ListBase*>(map)->Clear(*entry); }

ItemSpan MapOps::Entries(const void* map) const { return list_functions::Items(map); }

}  // namespace cox
