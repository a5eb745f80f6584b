// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <memory>

#include "base/check.h"
#include "object/runtime_type.h"
#include "object/scheme.h"
#include "sdk/custom/descriptions.h"

namespace cox {
namespace sdk {
namespace {

// Storage that Types refer to. Created during static initialization by one thread, and never
// destroyed.
TypeArena& Arena() {
  static auto& arena = *std::make_unique<TypeArena>().release();
  return arena;
}

std::vector<std::string_view> KeepAll(const std::vector<std::string>& texts) {
  std::vector<std::string_view> kept;
  kept.reserve(texts.size());
  for (const std::string& text : texts) kept.push_back(Arena().Keep(text));
  return kept;
}

Type MakeStruct(const Type& self, std::string_view name, std::string_view doc,
                std::vector<FieldDescription> descriptions, const ItemOps& ops) {
  Type type;
  type.name = name;
  type.shape = Shape::kStruct;
  type.struct_ops = &ops;
  StructNotes notes{.doc = std::string(doc), .fields = {}};
  std::vector<Field> fields;
  for (FieldDescription& description : descriptions) {
    fields.push_back(description.field);
    notes.fields.push_back(std::move(description.notes));
  }
  Arena().SetFields(&type, std::move(fields));
  Descriptions::Get().Add(self, std::move(notes));
  return type;
}

}  // namespace

Descriptions& Descriptions::Get() {
  static auto& descriptions = *std::make_unique<Descriptions>().release();
  return descriptions;
}

void Descriptions::Add(const Type& type, StructNotes notes) {
  MutexLock lock(mu_);
  structs_[&type] = std::move(notes);
}

void Descriptions::Add(const KindInfo& kind, KindOptions options) {
  MutexLock lock(mu_);
  kinds_[&kind] = std::move(options);
}

const StructNotes* Descriptions::Find(const Type& type) const {
  MutexLock lock(mu_);
  const auto found = structs_.find(&type);
  return found == structs_.end() ? nullptr : &found->second;
}

const KindOptions* Descriptions::Find(const KindInfo& kind) const {
  MutexLock lock(mu_);
  const auto found = kinds_.find(&kind);
  return found == kinds_.end() ? nullptr : &found->second;
}

}  // namespace sdk

FieldDescription::FieldDescription(std::string_view json_name, size_t offset, const Type* type,
                                   uint16_t flags) {
  field.name = json_name;
  field.type = type;
  field.offset = static_cast<uint32_t>(offset);
  field.flags = flags | Field::kOmitEmpty | Field::kOmitZero;
}

FieldDescription&& FieldDescription::Required() && {
  field.flags = static_cast<uint16_t>((field.flags & Field::kPointer) | Field::kRequired);
  return std::move(*this);
}
FieldDescription&& FieldDescription::Default(std::string_view json) && {
  field.default_json = sdk::Arena().Keep(std::string(json));
  return std::move(*this);
}
FieldDescription&& FieldDescription::Doc(std::string_view text) && {
  notes.doc = text;
  return std::move(*this);
}
FieldDescription&& FieldDescription::Pattern(std::string_view re2) && {
  notes.pattern = re2;
  return std::move(*this);
}
FieldDescription&& FieldDescription::Format(std::string_view format) && {
  notes.format = format;
  return std::move(*this);
}
FieldDescription&& FieldDescription::Minimum(double limit) && {
  notes.minimum = limit;
  return std::move(*this);
}
FieldDescription&& FieldDescription::Maximum(double limit) && {
  notes.maximum = limit;
  return std::move(*this);
}
FieldDescription&& FieldDescription::MinLength(int64_t limit) && {
  notes.min_length = limit;
  return std::move(*this);
}
FieldDescription&& FieldDescription::MaxLength(int64_t limit) && {
  notes.max_length = limit;
  return std::move(*this);
}
FieldDescription&& FieldDescription::MinItems(int64_t limit) && {
  notes.min_items = limit;
  return std::move(*this);
}
FieldDescription&& FieldDescription::MaxItems(int64_t limit) && {
  notes.max_items = limit;
  return std::move(*this);
}
FieldDescription&& FieldDescription::OneOf(std::vector<std::string> values) && {
  notes.enum_values = std::move(values);
  return std::move(*this);
}
FieldDescription&& FieldDescription::ListSet() && {
  COX_CHECK(field.type->shape == Shape::kList);
  Type* list = sdk::Arena().NewType();
  *list = *field.type;
  list->list_type = ListType::kSet;
  field.type = list;
  return std::move(*this);
}
FieldDescription&& FieldDescription::ListMap(std::vector<std::string> keys) && {
  COX_CHECK(field.type->shape == Shape::kList && !keys.empty());
  Type* list = sdk::Arena().NewType();
  *list = *field.type;
  list->list_type = ListType::kMap;
  list->keys = sdk::Arena().Keep(sdk::KeepAll(keys));
  field.type = list;
  return std::move(*this);
}
FieldDescription&& FieldDescription::Rule(std::string_view cel, std::string_view message) && {
  notes.rules.emplace_back(cel, message);
  return std::move(*this);
}

namespace internal {

Type DescribeStruct(const Type& self, std::string_view name, std::string_view doc,
                    std::vector<FieldDescription> fields, const ItemOps& ops) {
  return sdk::MakeStruct(self, name, doc, std::move(fields), ops);
}

Type DescribeKind(const Type& self, std::string_view name, std::vector<FieldDescription> fields,
                  const ItemOps& ops) {
  // metadata is always written, as for built-in kinds.
  fields.front().field.flags = Field::kOmitEmpty;
  Type type = sdk::MakeStruct(self, name, "", std::move(fields), ops);
  type.type_meta = true;
  return type;
}

KindInfo MakeKind(const KindInfo& self, std::string_view kind, const Type& type,
                  KindOptions options) {
  static constexpr std::string_view kVerbs[] = {"create", "delete", "deletecollection", "get",
                                                "list",   "patch",  "update",           "watch"};
  std::string lower(kind);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (options.plural.empty()) options.plural = GuessPlural(kind);
  if (options.singular.empty()) options.singular = lower;
  TypeArena& arena = sdk::Arena();
  KindInfo info{.group = arena.Keep(options.group),
                .version = arena.Keep(options.version),
                .kind = kind,
                .type = &type,
                .plural = arena.Keep(options.plural),
                .singular = arena.Keep(options.singular),
                .short_names = arena.Keep(sdk::KeepAll(options.short_names)),
                .categories = arena.Keep(sdk::KeepAll(options.categories)),
                .namespaced = options.namespaced,
                .verbs = kVerbs};
  sdk::Descriptions::Get().Add(self, std::move(options));
  return info;
}

const Type* ListOf(const Type* element, const ListOps& ops) {
  Type* list = sdk::Arena().NewType();
  // The element may not be initialized yet: only its address may be used here.
  list->name = "list";
  list->shape = Shape::kList;
  list->element = element;
  list->list_ops = &ops;
  return list;
}

const Type* MapOf(const Type* element, const MapOps& ops) {
  Type* map = sdk::Arena().NewType();
  map->name = "map";
  map->shape = Shape::kMap;
  map->element = element;
  map->map_ops = &ops;
  return map;
}

}  // namespace internal
}  // namespace cox
