// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "object/codec/json/json.h"
#include "sdk/custom/descriptions.h"

namespace cox::sdk {
namespace {

using apiextensions::v1::JSONSchemaProps;

// Below the maximum depth that the API server accepts.
constexpr size_t kMaxDepth = 64;

class SchemaWriter {
 public:
  JSONSchemaProps Of(const Type& type) {
    JSONSchemaProps schema;
    switch (type.shape) {
      case Shape::kBool:
        schema.type = "boolean";
        break;
      case Shape::kInt32:
        schema.type = "integer";
        schema.format = "int32";
        break;
      case Shape::kInt64:
        schema.type = "integer";
        schema.format = "int64";
        break;
      case Shape::kDouble:
        schema.type = "number";
        schema.format = "double";
        break;
      case Shape::kString:
        schema.type = "string";
        for (std::string_view value : type.enum_values) AddEnum(value, schema);
        break;
      case Shape::kBytes:
        schema.type = "string";
        schema.format = "byte";
        break;
      case Shape::kQuantity:
        schema.pattern =
            "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?"
            "(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";
        IntOrString(schema);
        break;
      case Shape::kIntOrString:
        IntOrString(schema);
        break;
      case Shape::kTime:
      case Shape::kMicroTime:
        schema.type = "string";
        schema.format = "date-time";
        break;
      case Shape::kDuration:
        schema.type = "string";
        break;
      case Shape::kRaw:
      case Shape::kAny:
        schema.xKubernetesPreserveUnknownFields = true;
        break;
      case Shape::kStruct:
        return OfStruct(type);
      case Shape::kList:
        return OfList(type);
      case Shape::kMap:
        schema.type = "object";
        schema.additionalProperties.ensure().allows = true;
        schema.additionalProperties->schema = Of(*type.element);
        break;
    }
    return schema;
  }

 private:
  static void IntOrString(JSONSchemaProps& schema) {
    schema.anyOf.resize(2);
    schema.anyOf[0].type = "integer";
    schema.anyOf[1].type = "string";
    schema.xKubernetesIntOrString = true;
  }

  static void AddEnum(std::string_view value, JSONSchemaProps& schema) {
    schema.enum_.push_back(RawJson{json::Write(Value(value))});
  }

  JSONSchemaProps OfList(const Type& type) {
    JSONSchemaProps schema;
    schema.type = "array";
    schema.items.ensure().schema = Of(*type.element);
    switch (type.list_type) {
      case ListType::kAtomic:
        schema.xKubernetesListType = "atomic";
        break;
      case ListType::kSet:
        schema.xKubernetesListType = "set";
        break;
      case ListType::kMap:
        schema.xKubernetesListType = "map";
        for (std::string_view key : type.keys) schema.xKubernetesListMapKeys.emplace_back(key);
        RequireKeys(type, *schema.items->schema);
        break;
    }
    return schema;
  }

  // Merge keys must be required or have a default.
  static void RequireKeys(const Type& list, JSONSchemaProps& item) {
    for (std::string_view key : list.keys) {
      const JSONSchemaProps* property = item.properties.Get(key);
      const bool there =
          std::find(item.required.begin(), item.required.end(), key) != item.required.end();
      if (!there && (property == nullptr || !property->default_)) item.required.emplace_back(key);
    }
    std::sort(item.required.begin(), item.required.end());
  }

  JSONSchemaProps OfStruct(const Type& type) {
    JSONSchemaProps schema;
    schema.type = "object";
    // Schemas cannot contain references: a recursive struct is not expanded.
    const bool again = std::find(open_.begin(), open_.end(), &type) != open_.end();
    if (again || open_.size() >= kMaxDepth || type.codec != Codec::kFields) {
      schema.xKubernetesPreserveUnknownFields = true;
      return schema;
    }
    const StructNotes* notes = Descriptions::Get().Find(type);
    if (notes != nullptr) schema.description = notes->doc;
    if (type.atomic) schema.xKubernetesMapType = "atomic";
    open_.push_back(&type);
    for (size_t row = 0; row < type.fields.size(); ++row) {
      const Field& field = type.fields[row];
      if (field.Has(Field::kInline)) continue;  // its fields are also listed here, flattened
      JSONSchemaProps property = Of(*field.type);
      if (field.Has(Field::kAtomic)) property.xKubernetesMapType = "atomic";
      if (!field.default_json.empty()) property.default_ = RawJson{std::string(field.default_json)};
      if (notes != nullptr) AddNotes(notes->fields[row], property);
      if (field.Has(Field::kRequired)) schema.required.emplace_back(field.name);
      schema.properties[field.name] = std::move(property);
    }
    open_.pop_back();
    // Sorted, so that the order does not depend on the members.
    std::sort(schema.required.begin(), schema.required.end());
    return schema;
  }

  static void AddNotes(const FieldNotes& notes, JSONSchemaProps& schema) {
    if (!notes.doc.empty()) schema.description = notes.doc;
    if (!notes.pattern.empty()) schema.pattern = notes.pattern;
    if (!notes.format.empty()) schema.format = notes.format;
    schema.minimum = notes.minimum;
    schema.maximum = notes.maximum;
    schema.minLength = notes.min_length;
    schema.maxLength = notes.max_length;
    schema.minItems = notes.min_items;
    schema.maxItems = notes.max_items;
    for (const std::string& value : notes.enum_values) AddEnum(value, schema);
    for (const auto& [rule, message] : notes.rules) {
      schema.xKubernetesValidations.push_back({.rule = rule, .message = message});
    }
  }

  std::vector<const Type*> open_;  // the enclosing structs
};

}  // namespace

JSONSchemaProps SchemaOf(const Type& type) {
  JSONSchemaProps schema = SchemaWriter().Of(type);
  if (type.type_meta) {
    // The API server defines the content of these fields.
    schema.properties.erase("metadata");
    JSONSchemaProps text;
    text.type = "string";
    schema.properties["apiVersion"] = text;
    schema.properties["kind"] = text;
    schema.properties["metadata"].type = "object";
  }
  return schema;
}

}  // namespace cox::sdk
