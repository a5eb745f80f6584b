// SPDX-License-Identifier: Apache-2.0
#include "object/runtime_type.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/limits.h"
#include "object/type/name_index_builder.h"

namespace cox {

Type* TypeArena::NewType() { return &types_.emplace_back(); }

std::string_view TypeArena::Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

std::span<const std::string_view> TypeArena::Keep(std::vector<std::string_view> list) {
  return lists_.emplace_back(std::move(list));
}

void TypeArena::SetFields(Type* type, std::vector<Field> fields) {
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const Field& field : fields) names.push_back(field.name);
  NameIndexParts index = BuildNameIndex(names);
  type->fields = fields_.emplace_back(std::move(fields));
  if (index.slots.empty()) return;
  type->names = {index.seed, index.mask, slots_.emplace_back(std::move(index.slots)).data()};
}

// Converts schemas to Types, depth first. Types of definitions are created before they are filled,
// so that definitions can be recursive.
class RuntimeType::Builder {
 public:
  Builder(TypeArena& arena, const Options& options, const Value* definitions)
      : arena_(arena), options_(options), definitions_(definitions) {}

  Result<const Type*> Root(const Value& schema) {
    if (!schema.is_object()) return Status::Invalid("schema: expected an object");
    COX_ASSIGN_OR_RETURN(const Value* resolved, Resolve(&schema));
    Type* type = arena_.NewType();
    type->name = "object";
    type->shape = Shape::kStruct;
    type->type_meta = true;
    type->atomic = Text(*resolved, "x-kubernetes-map-type") == "atomic";
    type->preserve_unknown = KeepsUnknown(*resolved);
    COX_RETURN_IF_ERROR(Fields(*resolved, 0, true, type));
    return type;
  }

  Result<const Type*> Definition(std::string_view name) {
    const Value* schema = definitions_->Find(name);
    if (schema == nullptr) return Status::Invalid("schema: no definition " + Quote(name));
    return Root(*schema);
  }

 private:
  static bool Flag(const Value& schema, std::string_view key) {
    const Value* value = schema.Find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
  }

  static std::string_view Text(const Value& schema, std::string_view key) {
    const Value* value = schema.Find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
  }

  bool KeepsUnknown(const Value& schema) const {
    return options_.preserve_unknown || Flag(schema, "x-kubernetes-preserve-unknown-fields");
  }

  // The $ref of a schema, directly or as the only element of allOf; empty if none.
  static std::string_view Reference(const Value& schema) {
    std::string_view ref = Text(schema, "$ref");
    if (!ref.empty()) return ref;
    const Value* parts = schema.Find("allOf");
    if (parts == nullptr || !parts->is_array() || parts->as_array().size() != 1) return {};
    return Text(parts->as_array()[0], "$ref");
  }

  // The key of `ref` in `definitions_`; empty if `ref` does not point to definitions.
  std::string_view DefinitionKey(std::string_view ref) const {
    for (std::string_view prefix : {"#/definitions/", "#/components/schemas/"}) {
      if (ref.starts_with(prefix)) return ref.substr(prefix.size());
    }
    return {};
  }

  // Follows references until a schema without a reference.
  Result<const Value*> Resolve(const Value* schema) const {
    for (int hops = 0; hops < kMaxDepth; ++hops) {
      std::string_view ref = Reference(*schema);
      if (ref.empty()) return schema;
      const Value* target =
          definitions_ != nullptr ? definitions_->Find(DefinitionKey(ref)) : nullptr;
      if (target == nullptr) return Status::Invalid("schema: cannot resolve " + Quote(ref));
      schema = target;
    }
    return Status::Invalid("schema: references go in a circle");
  }

  Result<const Type*> Of(const Value& schema, int depth) {
    if (depth > kMaxDepth) return Status::Invalid("schema: nested too deeply");
    if (++nodes_ > kMaxNodes) return Status::Invalid("schema: too large");
    if (!schema.is_object()) return Status::Invalid("schema: expected an object");
    COX_ASSIGN_OR_RETURN(const Value* target, Resolve(&schema));
    if (target == &schema) return Inline(schema, depth, nullptr);
    auto known = referred_.find(target);
    if (known != referred_.end()) return known->second;
    Type* type = arena_.NewType();
    referred_.emplace(target, type);
    return Inline(*target, depth, type);
  }

  // Builds into `type`; null: into a new Type.
  Result<const Type*> Inline(const Value& schema, int depth, Type* type) {
    std::string_view kind = Text(schema, "type");
    if (Flag(schema, "x-kubernetes-int-or-string") || Text(schema, "format") == "int-or-string") {
      return Scalar(types::kIntOrString, type);
    }
    if (kind == "array") return List(schema, depth, type);
    if (kind == "boolean") return Scalar(types::kBool, type);
    if (kind == "integer") {
      return Scalar(Text(schema, "format") == "int32" ? types::kInt32 : types::kInt64, type);
    }
    if (kind == "number") return Scalar(types::kDouble, type);
    if (kind == "string") return String(schema, type);
    if (!kind.empty() && kind != "object") {
      return Status::Invalid("schema: unknown type " + Quote(kind));
    }
    return Object(schema, kind, depth, type);
  }

  const Type* Scalar(const Type& scalar, Type* type) {
    if (type == nullptr) return &scalar;
    *type = scalar;
    return type;
  }

  const Type* String(const Value& schema, Type* type) {
    const Value* values = schema.Find("enum");
    if (values == nullptr || !values->is_array()) return Scalar(types::kString, type);
    if (type == nullptr) type = arena_.NewType();
    *type = types::kString;
    std::vector<std::string_view> names;
    for (const Value& value : values->as_array()) {
      if (value.is_string()) names.push_back(arena_.Keep(std::string(value.as_string())));
    }
    type->enum_values = arena_.Keep(std::move(names));
    return type;
  }

  Result<const Type*> List(const Value& schema, int depth, Type* type) {
    if (type == nullptr) type = arena_.NewType();
    type->shape = Shape::kList;
    type->element = &types::kAny;
    if (const Value* items = schema.Find("items")) {
      COX_ASSIGN_OR_RETURN(type->element, Of(*items, depth + 1));
    }
    type->name = arena_.Keep("[]" + std::string(type->element->name));
    std::string_view list_type = Text(schema, "x-kubernetes-list-type");
    if (list_type == "set") {
      type->list_type = ListType::kSet;
    } else if (list_type == "map") {
      type->list_type = ListType::kMap;
      COX_RETURN_IF_ERROR(Keys(schema, type));
    } else if (list_type.empty() && MergesByPatch(schema)) {
      // Schemas from before list types define it by the patch strategy.
      std::string_view key = Text(schema, "x-kubernetes-patch-merge-key");
      type->list_type = key.empty() ? ListType::kSet : ListType::kMap;
      if (!key.empty()) type->keys = arena_.Keep(std::vector{arena_.Keep(std::string(key))});
    } else if (!list_type.empty() && list_type != "atomic") {
      return Status::Invalid("schema: unknown list type " + Quote(list_type));
    }
    return type;
  }

  Status Keys(const Value& schema, Type* type) {
    const Value* keys = schema.Find("x-kubernetes-list-map-keys");
    if (keys == nullptr || !keys->is_array() || keys->as_array().empty()) {
      return Status::Invalid("schema: a list of type map needs x-kubernetes-list-map-keys");
    }
    std::vector<std::string_view> names;
    for (const Value& key : keys->as_array()) {
      if (!key.is_string()) return Status::Invalid("schema: a list key must be a string");
      names.push_back(arena_.Keep(std::string(key.as_string())));
    }
    type->keys = arena_.Keep(std::move(names));
    return Status();
  }

  static bool MergesByPatch(const Value& schema) {
    for (std::string_view part : Split(Text(schema, "x-kubernetes-patch-strategy"), ',')) {
      if (part == "merge") return true;
    }
    return false;
  }

  Result<const Type*> Object(const Value& schema, std::string_view kind, int depth, Type* type) {
    const Value* properties = schema.Find("properties");
    const Value* additional = schema.Find("additionalProperties");
    bool embedded = Flag(schema, "x-kubernetes-embedded-resource");
    bool keeps = Flag(schema, "x-kubernetes-preserve-unknown-fields");
    bool plain = properties == nullptr && !embedded;
    bool atomic = Text(schema, "x-kubernetes-map-type") == "atomic";
    bool open = Flag(schema, "additionalProperties") || (keeps && kind == "object");
    bool map = plain && (open || (additional != nullptr && additional->is_object()));
    if (plain && !map && !atomic && kind.empty()) return Scalar(types::kAny, type);
    if (type == nullptr) type = arena_.NewType();
    type->atomic = atomic;
    if (map) {
      type->shape = Shape::kMap;
      type->element = &types::kAny;
      if (additional != nullptr && additional->is_object()) {
        COX_ASSIGN_OR_RETURN(type->element, Of(*additional, depth + 1));
      }
      type->name = arena_.Keep("map[string]" + std::string(type->element->name));
      return type;
    }
    type->name = "object";
    type->shape = Shape::kStruct;
    type->type_meta = embedded;
    type->preserve_unknown =
        KeepsUnknown(schema) || (additional != nullptr && additional->is_object());
    COX_RETURN_IF_ERROR(Fields(schema, depth, embedded, type));
    return type;
  }

  // `resource`: kind and apiVersion are implied, and metadata is ObjectMeta.
  Status Fields(const Value& schema, int depth, bool resource, Type* type) {
    std::vector<Field> fields;
    const Value* properties = schema.Find("properties");
    if (properties != nullptr && !properties->is_object()) {
      return Status::Invalid("schema: properties must be an object");
    }
    static const Value::Object kNone;
    const Value::Object& named = properties != nullptr ? properties->as_object() : kNone;
    if (named.size() > kMaxProperties) return Status::Invalid("schema: too many properties");
    bool metadata = false;
    for (const auto& [name, property] : named) {
      if (resource && (name == "kind" || name == "apiVersion")) continue;
      Field field;
      field.name = arena_.Keep(name);
      if (resource && name == "metadata" && options_.metadata != nullptr) {
        field.type = options_.metadata;
      } else {
        COX_ASSIGN_OR_RETURN(field.type, Of(property, depth + 1));
      }
      metadata = metadata || name == "metadata";
      Describe(property, &field);
      fields.push_back(field);
    }
    if (resource && !metadata) {
      const Type* meta = options_.metadata != nullptr ? options_.metadata : &types::kAny;
      fields.push_back(Field{.name = "metadata", .type = meta});
    }
    MarkRequired(schema, &fields);
    arena_.SetFields(type, std::move(fields));
    return Status();
  }

  void Describe(const Value& property, Field* field) {
    if (const Value* standard = property.Find("default"); standard != nullptr) {
      field->default_json = arena_.Keep(json::Write(*standard));
    }
    if (Flag(property, "nullable")) field->flags |= Field::kPointer;
    field->merge_key = arena_.Keep(std::string(Text(property, "x-kubernetes-patch-merge-key")));
    for (std::string_view part : Split(Text(property, "x-kubernetes-patch-strategy"), ',')) {
      if (part == "merge") field->flags |= Field::kPatchMerge;
      if (part == "replace") field->flags |= Field::kPatchReplace;
      if (part == "retainKeys") field->flags |= Field::kPatchRetainKeys;
    }
    // Next to a reference, it applies to this field, not to the referenced type.
    if (Text(property, "x-kubernetes-map-type") == "atomic") field->flags |= Field::kAtomic;
  }

  static void MarkRequired(const Value& schema, std::vector<Field>* fields) {
    const Value* required = schema.Find("required");
    if (required == nullptr || !required->is_array()) return;
    std::vector<std::string_view> names;
    for (const Value& name : required->as_array()) {
      if (name.is_string()) names.push_back(name.as_string());
    }
    std::sort(names.begin(), names.end());
    for (Field& field : *fields) {
      bool listed = std::binary_search(names.begin(), names.end(), field.name);
      if (listed) field.flags |= Field::kRequired;
    }
  }

  TypeArena& arena_;
  const Options& options_;
  const Value* definitions_;
  std::map<const Value*, Type*> referred_;
  size_t nodes_ = 0;
};

Result<std::shared_ptr<const RuntimeType>> RuntimeType::FromSchema(const Value& schema,
                                                                   Options options) {
  std::shared_ptr<RuntimeType> made(new RuntimeType());
  COX_ASSIGN_OR_RETURN(made->root_, Builder(made->arena_, options, nullptr).Root(schema));
  return std::shared_ptr<const RuntimeType>(std::move(made));
}

Result<std::shared_ptr<const RuntimeType>> RuntimeType::FromDefinitions(const Value& definitions,
                                                                        std::string_view name,
                                                                        Options options) {
  std::shared_ptr<RuntimeType> made(new RuntimeType());
  COX_ASSIGN_OR_RETURN(made->root_, Builder(made->arena_, options, &definitions).Definition(name));
  return std::shared_ptr<const RuntimeType>(std::move(made));
}

}  // namespace cox
