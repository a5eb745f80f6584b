// SPDX-License-Identifier: Apache-2.0
#include "object/patch/strategic_meta.h"

#include <algorithm>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/go_text.h"

namespace cox::patch::strategic {
namespace {

std::string WithPrefix(std::string_view prefix, std::string_view field) {
  return std::string(prefix) + "/" + std::string(field);
}

// The field `name` of `type`; kAnyField if the type is unspecified or preserves unknown fields.
Result<const Field*> FindField(const Type& type, std::string_view name) {
  static constexpr Field kAnyField = {
      .name = "", .type = &types::kAny, .merge_key = "", .default_json = ""};
  if (type.shape == Shape::kAny) return &kAnyField;
  std::string_view kind = GoKind(type);
  if (kind != "struct") {
    return Fail("merging an object in json but data type is not struct, instead is: " +
                std::string(kind));
  }
  if (type.shape == Shape::kStruct) {
    const Field* field = type.Find(name);
    if (field != nullptr && !field->Has(Field::kInline)) return field;
    if (type.preserve_unknown) return &kAnyField;
  }
  std::string_view struct_name = type.name.substr(type.name.rfind('.') + 1);  // npos + 1 is 0
  return Fail("unable to find api field in struct " + std::string(struct_name) +
              " for the json field " + Quote(name));
}

FieldMeta MetaOf(const Field& field, const Type* type) {
  return {.type = type,
          .merge = field.Has(Field::kPatchMerge),
          .replace = field.Has(Field::kPatchReplace),
          .retain_keys = field.Has(Field::kPatchRetainKeys),
          .merge_key = field.merge_key};
}

Result<std::string_view> FieldOf(std::string_view key, std::string_view prefix,
                                 const char* malformed) {
  std::string_view rest = key.substr(prefix.size());
  if (!rest.starts_with('/')) return Status::BadRequest(malformed);
  return rest.substr(1);
}

}  // namespace

std::string DeleteListKey(std::string_view field) { return WithPrefix(kDeletePrefix, field); }
std::string OrderKey(std::string_view field) { return WithPrefix(kOrderPrefix, field); }

Result<std::string_view> FieldOfOrderKey(std::string_view key) {
  return FieldOf(key, kOrderPrefix, "invalid patch format of setElementOrder list");
}

Result<std::string_view> FieldOfDeleteListKey(std::string_view key) {
  return FieldOf(key, kDeletePrefix, "invalid patch format of primitive list");
}

Result<FieldMeta> FindObjectField(const Type& type, std::string_view name) {
  COX_ASSIGN_OR_RETURN(const Field* field, FindField(type, name));
  return MetaOf(*field, field->type);
}

Result<FieldMeta> FindListField(const Type& type, std::string_view name) {
  COX_ASSIGN_OR_RETURN(const Field* field, FindField(type, name));
  const Type& list = *field->type;
  if (list.shape == Shape::kList) return MetaOf(*field, list.element);
  if (list.shape == Shape::kAny) return MetaOf(*field, &list);
  if (field->Has(Field::kPointer)) return MetaOf(*field, &list);
  if (list.shape == Shape::kBytes) return MetaOf(*field, &types::kAny);
  return Fail("expected slice or array type, but got: " + std::string(GoKind(type)));
}

std::string_view GoKind(const Type& type) {
  switch (type.shape) {
    case Shape::kBool:
      return "bool";
    case Shape::kInt32:
      return "int32";
    case Shape::kInt64:
      return "int64";
    case Shape::kDouble:
      return "float64";
    case Shape::kString:
      return "string";
    case Shape::kBytes:
    case Shape::kList:
      return "slice";
    case Shape::kMap:
      return "map";
    case Shape::kAny:
      return "interface";
    case Shape::kQuantity:
    case Shape::kIntOrString:
    case Shape::kTime:
    case Shape::kMicroTime:
    case Shape::kDuration:
    case Shape::kRaw:
    case Shape::kStruct:
      break;
  }
  return "struct";
}

Status BadRetainKeys() { return Status::BadRequest("invalid patch format of retainKeys"); }

Status BadOrderList() { return Status::BadRequest("invalid patch format of setElementOrder list"); }

Status WrongType(std::string_view expected, const Value& got) {
  return Fail("expected a " + std::string(expected) + ", but received a " +
              std::string(GoTypeName(got)));
}

Status NoMergeKey(const Value& item, std::string_view merge_key) {
  return Fail("map: " + GoText(item) +
              " does not contain declared merge key: " + std::string(merge_key));
}

Status UnknownDirective(const Value::Object& holder) {
  const Value& directive = *holder.Find(kDirective);
  std::string name = GoText(directive);
  if (directive.is_null()) {
    name = "%!s(<nil>)";  // Go's output for a non-string value with %s
  } else if (!directive.is_string()) {
    name = "%!s(" + std::string(GoTypeName(directive)) + "=" + name + ")";
  }
  return Fail("unknown patch type: " + name + " in map: " + GoText(Value(holder)));
}

Result<const Value*> MergeKeyOf(const Value& item, std::string_view merge_key) {
  if (!item.is_object()) return WrongType("map[string]interface {}", item);
  const Value* key = item.Find(merge_key);
  if (key == nullptr) return NoMergeKey(item, merge_key);
  return key;
}

Result<ItemKind> CommonItemKind(const Value::Array& a, const Value::Array& b) {
  Value::Kind kind = a.empty() ? b.front().kind() : a.front().kind();
  auto differs = [&](const Value& item) { return item.kind() != kind; };
  if (kind == Value::Kind::kNull || std::any_of(a.begin(), a.end(), differs) ||
      std::any_of(b.begin(), b.end(), differs)) {
    return Fail("list element types are not identical: [" + GoText(Value(a)) + " " +
                GoText(Value(b)) + "]");
  }
  if (kind == Value::Kind::kArray) return Status::Invalid("lists of lists are not supported");
  return kind == Value::Kind::kObject ? ItemKind::kObject : ItemKind::kScalar;
}

std::string Identity(const Value& scalar) {
  std::string out(1, static_cast<char>('0' + static_cast<int>(scalar.kind())));
  if (scalar.is_string()) {
    out += scalar.as_string();
  } else {
    json::WriteTo(scalar, &out);
  }
  return out;
}

}  // namespace cox::patch::strategic
