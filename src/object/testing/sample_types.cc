// SPDX-License-Identifier: Apache-2.0
#include "object/testing/sample_types.h"

#include <string_view>
#include <vector>

#include "object/type/name_index_builder.h"

namespace cox::patch {
namespace {

// A struct type whose fields are set later, because they may be recursive.
struct Made {
  Type type;
  std::vector<Field> fields;
  NameIndexParts index;

  void Set(std::string_view name, std::vector<Field> its_fields) {
    fields = std::move(its_fields);
    std::vector<std::string_view> names;
    for (const Field& field : fields) names.push_back(field.name);
    index = BuildNameIndex(names);
    type.name = name;
    type.shape = Shape::kStruct;
    type.fields = fields;
    type.names = {.seed = index.seed, .mask = index.mask, .slots = index.slots.data()};
  }
};

Field Make(std::string_view name, const Type& type, unsigned flags = 0,
           std::string_view merge_key = "") {
  Field field;
  field.name = name;
  field.type = &type;
  field.flags = static_cast<uint16_t>(flags);
  field.merge_key = merge_key;
  return field;
}

Type ListOf(const Type& element) {
  Type type;
  type.name = "list";
  type.shape = Shape::kList;
  type.element = &element;
  return type;
}

Type MapOf(const Type& element) {
  Type type = ListOf(element);
  type.name = "map";
  type.shape = Shape::kMap;
  return type;
}

struct Samples {
  Made source, volume, item, open;
  Type strings = ListOf(types::kString);
  Type ints = ListOf(types::kInt64);
  Type string_map = MapOf(types::kString);
  Type items = ListOf(item.type);
  Type item_map = MapOf(item.type);
  Type items_map = MapOf(items);
  Type volumes = ListOf(volume.type);

  Samples() {
    constexpr unsigned kMerge = Field::kPatchMerge;
    constexpr unsigned kPointer = Field::kPointer;
    source.Set("v1.Src", {Make("path", types::kString), Make("size", types::kInt64),
                          Make("labels", string_map)});
    volume.Set("v1.Vol", {Make("name", types::kString), Make("a", source.type, kPointer),
                          Make("b", source.type, kPointer)});
    item.Set("v1.Item", {Make("name", types::kString),
                         Make("value", types::kString),
                         Make("other", types::kString),
                         Make("num", types::kInt64),
                         Make("simpleMap", string_map),
                         Make("mergeInts", ints, kMerge),
                         Make("mergeStrings", strings, kMerge),
                         Make("replaceInts", ints),
                         Make("mergeItems", items, kMerge, "name"),
                         Make("replaceItems", items),
                         Make("sub", item.type, kPointer),
                         Make("subReplace", item.type, kPointer | Field::kPatchReplace),
                         Make("subRetain", item.type, kPointer | Field::kPatchRetainKeys),
                         Make("mapOfItems", item_map),
                         Make("mapOfLists", items_map),
                         Make("mapOfMerge", items_map, kMerge, "name"),
                         Make("retainItems", volumes, kMerge | Field::kPatchRetainKeys, "name"),
                         Make("numItems", items, kMerge, "num"),
                         Make("noKeyItems", items, kMerge),
                         Make("replaceMap", string_map, Field::kPatchReplace)});
    open.Set("v1.Open", {Make("any", types::kAny), Make("known", item.type)});
    open.type.preserve_unknown = true;
  }
};

const Samples& All() {
  static const Samples samples;
  return samples;
}

}  // namespace

const Type& SampleItemType() { return All().item.type; }
const Type& SampleOpenType() { return All().open.type; }

}  // namespace cox::patch
