// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiextensions/schema_value.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "apiserver/registry/kinds/apiextensions/schema_validation.h"
#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::JSONSchemaProps;

FieldValue Quoted(const Value& value) { return FieldValue::Json(json::Write(value)); }

// The name of the type in schemas.
std::string TypeName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kInt:
      return "integer";
    case Value::Kind::kDouble:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "array";
    case Value::Kind::kObject:
      return "object";
  }
  return "null";
}

bool HasType(const Value& value, const JSONSchemaProps& schema) {
  if (value.is_null() && schema.nullable) return true;
  if (schema.xKubernetesIntOrString) return value.is_int() || value.is_string();
  if (schema.type.empty()) return true;
  const std::string actual = TypeName(value);
  if (actual == schema.type) return true;
  if (schema.type == "number") return value.is_int();
  // 3.0 is an integer too.
  return schema.type == "integer" && value.is_double() &&
         value.as_double() == std::floor(value.as_double());
}

void CheckNumber(const Value& value, const JSONSchemaProps& schema, const FieldPath& path,
                 FieldErrorList* errors) {
  const double number = value.as_number();
  auto fail = [&](const std::string& detail) {
    errors->push_back(FieldError::Invalid(path, Quoted(value), " in body should be " + detail));
  };
  if (schema.maximum &&
      (schema.exclusiveMaximum ? number >= *schema.maximum : number > *schema.maximum)) {
    fail((schema.exclusiveMaximum ? "less than " : "less than or equal to ") +
         FormatDouble(*schema.maximum));
  }
  if (schema.minimum &&
      (schema.exclusiveMinimum ? number <= *schema.minimum : number < *schema.minimum)) {
    fail((schema.exclusiveMinimum ? "greater than " : "greater than or equal to ") +
         FormatDouble(*schema.minimum));
  }
  if (schema.multipleOf && *schema.multipleOf > 0) {
    const double times = number / *schema.multipleOf;
    if (times != std::floor(times)) fail("a multiple of " + FormatDouble(*schema.multipleOf));
  }
}

int64_t RuneCount(std::string_view text) {
  int64_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(DecodeRune(text).size);
    ++count;
  }
  return count;
}

void CheckString(const Value& value, const JSONSchemaProps& schema, const FieldPath& path,
                 FieldErrorList* errors) {
  const int64_t length = RuneCount(value.as_string());
  if (schema.maxLength && length > *schema.maxLength) {
    errors->push_back(FieldError::TooLong(path, *schema.maxLength));
  }
  if (schema.minLength && length < *schema.minLength) {
    errors->push_back(FieldError::Invalid(
        path, Quoted(value),
        " in body should be at least " + std::to_string(*schema.minLength) + " chars long"));
  }
  if (!schema.pattern.empty()) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    const re2::RE2 regex(schema.pattern, options);
    const re2::StringPiece text(value.as_string().data(), value.as_string().size());
    if (regex.ok() && !re2::RE2::PartialMatch(text, regex)) {
      errors->push_back(FieldError::Invalid(path, Quoted(value),
                                            " in body should match '" + schema.pattern + "'"));
    }
  }
}

void CheckArray(const Value& value, const JSONSchemaProps& schema, const FieldPath& path,
                FieldErrorList* errors) {
  const auto& items = value.as_array();
  const int64_t count = static_cast<int64_t>(items.size());
  if (schema.maxItems && count > *schema.maxItems) {
    errors->push_back(FieldError::TooMany(path, count, *schema.maxItems));
  }
  if (schema.minItems && count < *schema.minItems) {
    errors->push_back(FieldError::Invalid(
        path, Quoted(value),
        " in body should have at least " + std::to_string(*schema.minItems) + " items"));
  }
  if (!schema.items || !schema.items->schema) return;
  for (size_t i = 0; i < items.size(); ++i) {
    Append(*errors, ValidateValue(items[i], *schema.items->schema, path.Index(i)));
  }
}

void CheckObject(const Value& value, const JSONSchemaProps& schema, const FieldPath& path,
                 FieldErrorList* errors) {
  const ValueObject& members = value.as_object();
  const int64_t count = static_cast<int64_t>(members.size());
  if (schema.maxProperties && count > *schema.maxProperties) {
    errors->push_back(FieldError::TooMany(path, count, *schema.maxProperties));
  }
  if (schema.minProperties && count < *schema.minProperties) {
    errors->push_back(FieldError::Invalid(
        path, Quoted(value),
        " in body should have at least " + std::to_string(*schema.minProperties) + " properties"));
  }
  for (const std::string& name : schema.required) {
    if (!members.contains(name)) errors->push_back(FieldError::Required(path.Child(name)));
  }
  for (const auto& member : members) {
    if (const JSONSchemaProps* property = schema.properties.Get(member.key)) {
      Append(*errors, ValidateValue(member.value, *property, path.Child(member.key)));
    } else if (schema.additionalProperties && schema.additionalProperties->schema) {
      Append(*errors, ValidateValue(member.value, *schema.additionalProperties->schema,
                                    path.Key(member.key)));
    }
  }
}

void CheckEnum(const Value& value, const JSONSchemaProps& schema, const FieldPath& path,
               FieldErrorList* errors) {
  if (schema.enum_.empty()) return;
  std::vector<std::string> texts;
  for (const RawJson& raw : schema.enum_) {
    Result<Value> allowed = json::Parse(raw.raw);
    if (!allowed.ok()) continue;
    if (*allowed == value) return;
    texts.push_back(allowed->is_string() ? std::string(allowed->as_string())
                                         : json::Write(*allowed));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  errors->push_back(FieldError::NotSupported(path, Quoted(value), views));
}

}  // namespace

FieldErrorList ValidateValue(const Value& value, const JSONSchemaProps& schema,
                             const FieldPath& path) {
  FieldErrorList errors;
  if (!HasType(value, schema)) {
    const std::string wanted = schema.xKubernetesIntOrString ? "integer,string" : schema.type;
    const std::string actual = TypeName(value);
    errors.push_back(FieldError::TypeInvalid(
        path, actual, " in body must be of type " + wanted + ": \"" + actual + "\""));
    return errors;
  }
  if (value.is_null()) return errors;
  CheckEnum(value, schema, path, &errors);
  if (value.is_number()) CheckNumber(value, schema, path, &errors);
  if (value.is_string()) CheckString(value, schema, path, &errors);
  if (value.is_array()) CheckArray(value, schema, path, &errors);
  if (value.is_object()) CheckObject(value, schema, path, &errors);
  for (const JSONSchemaProps& branch : schema.allOf) {
    Append(errors, ValidateValue(value, branch, path));
  }
  auto matches = [&](const JSONSchemaProps& branch) {
    return ValidateValue(value, branch, path).empty();
  };
  if (!schema.anyOf.empty() && std::none_of(schema.anyOf.begin(), schema.anyOf.end(), matches)) {
    errors.push_back(FieldError::Invalid(path, Quoted(value),
                                         " in body must validate at least one schema (anyOf)"));
  }
  if (!schema.oneOf.empty() &&
      std::count_if(schema.oneOf.begin(), schema.oneOf.end(), matches) != 1) {
    errors.push_back(FieldError::Invalid(path, Quoted(value),
                                         " in body must validate one and only one schema (oneOf)"));
  }
  if (schema.not_ && matches(*schema.not_)) {
    errors.push_back(
        FieldError::Invalid(path, Quoted(value), " in body must not validate the schema (not)"));
  }
  return errors;
}

FieldErrorList ValidateSchemaDefaults(const JSONSchemaProps& schema, const FieldPath& path) {
  FieldErrorList errors;
  if (schema.default_) {
    Result<Value> value = json::Parse(schema.default_->raw);
    if (value.ok()) Append(errors, ValidateValue(*value, schema, path.Child("default")));
  }
  for (const auto& [name, property] : schema.properties) {
    Append(errors, ValidateSchemaDefaults(property, path.Child("properties").Key(name)));
  }
  if (schema.items && schema.items->schema) {
    Append(errors, ValidateSchemaDefaults(*schema.items->schema, path.Child("items")));
  }
  if (schema.additionalProperties && schema.additionalProperties->schema) {
    Append(errors, ValidateSchemaDefaults(*schema.additionalProperties->schema,
                                          path.Child("additionalProperties")));
  }
  return errors;
}

}  // namespace cox::apiserver
