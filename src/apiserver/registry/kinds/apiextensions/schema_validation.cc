// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiextensions/schema_validation.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::JSONSchemaProps;
using apiextensions::v1::ValidationRule;

// Reports keywords of JSON schema that the API does not support.
void CheckUnsupported(const JSONSchemaProps& schema, const FieldPath& path,
                      FieldErrorList* errors) {
  auto forbid = [&](bool used, const char* keyword) {
    if (!used) return;
    errors->push_back(
        FieldError::Forbidden(path.Child(keyword), std::string(keyword) + " is not supported"));
  };
  forbid(!schema.id.empty(), "id");
  forbid(schema.additionalItems.has_value(), "additionalItems");
  forbid(!schema.patternProperties.empty(), "patternProperties");
  forbid(!schema.definitions.empty(), "definitions");
  forbid(!schema.dependencies.empty(), "dependencies");
  forbid(schema.ref.has_value(), "$ref");
  if (schema.items && !schema.items->jSONSchemas.empty()) {
    errors->push_back(FieldError::Forbidden(path.Child("items"),
                                            "items must be a schema object and not an array"));
  }
  if (schema.uniqueItems) {
    errors->push_back(FieldError::Forbidden(
        path.Child("uniqueItems"),
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
  }
}

void CheckType(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  static constexpr std::string_view kTypes[] = {"array",  "boolean", "integer",
                                                "number", "object",  "string"};
  if (schema.type == "null") {
    errors->push_back(FieldError::Forbidden(
        path.Child("type"), "type cannot be set to null, use nullable as an alternative"));
  } else if (!schema.type.empty() &&
             std::find(std::begin(kTypes), std::end(kTypes), schema.type) == std::end(kTypes)) {
    errors->push_back(FieldError::NotSupported(path.Child("type"), schema.type, kTypes));
  }
  if (schema.type == "array" && !schema.items) {
    errors->push_back(FieldError::Required(path.Child("items"), "must be specified"));
  }
  const std::string problem = schema.pattern.empty() ? "" : RegexError(schema.pattern);
  if (!problem.empty()) {
    errors->push_back(
        FieldError::Invalid(path.Child("pattern"), schema.pattern,
                            "must be a valid regular expression, but isn't: " + problem));
  }
  if (schema.additionalProperties && !schema.properties.empty() &&
      (!schema.additionalProperties->allows || schema.additionalProperties->schema)) {
    errors->push_back(
        FieldError::Forbidden(path.Child("additionalProperties"),
                              "additionalProperties and properties are mutual exclusive"));
  }
  if (schema.xKubernetesPreserveUnknownFields == std::optional<bool>(false)) {
    errors->push_back(FieldError::Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), false,
                                          "must be true or undefined"));
  }
}

// `keyword` requires a schema of type `wanted`.
void CheckTypeFor(const JSONSchemaProps& schema, std::string_view wanted, std::string_view keyword,
                  const FieldPath& path, FieldErrorList* errors) {
  if (schema.type == wanted) return;
  const std::string detail =
      "must be " + std::string(wanted) + " if " + std::string(keyword) + " is specified";
  errors->push_back(schema.type.empty()
                        ? FieldError::Required(path.Child("type"), detail)
                        : FieldError::Invalid(path.Child("type"), schema.type, detail));
}

void CheckListMap(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  const FieldPath keys_path = path.Child("x-kubernetes-list-map-keys");
  if (schema.xKubernetesListMapKeys.empty()) {
    errors->push_back(
        FieldError::Required(keys_path, "must not be empty if x-kubernetes-list-type is map"));
  }
  const FieldPath items = path.Child("items");
  if (!schema.items) {
    errors->push_back(
        FieldError::Required(items, "must have a schema if x-kubernetes-list-type is map"));
    return;
  }
  if (!schema.items->schema) {
    errors->push_back(
        FieldError::Invalid(items, FieldValue::Omit(),
                            "must only have a single schema if x-kubernetes-list-type is map"));
    return;
  }
  const JSONSchemaProps& item = *schema.items->schema;
  if (item.type != "object") {
    errors->push_back(
        FieldError::Invalid(items.Child("type"), item.type,
                            "must be object if parent array's x-kubernetes-list-type is map"));
    return;
  }
  std::set<std::string_view> seen;
  for (const std::string& key : schema.xKubernetesListMapKeys) {
    const JSONSchemaProps* property = item.properties.Get(key);
    if (property == nullptr) {
      errors->push_back(FieldError::Invalid(keys_path, schema.xKubernetesListMapKeys,
                                            "entries must all be names of item properties"));
      continue;
    }
    if (!seen.insert(key).second) {
      errors->push_back(FieldError::Invalid(keys_path, schema.xKubernetesListMapKeys,
                                            "must not contain duplicate entries"));
      continue;
    }
    const FieldPath at = items.Child("properties").Key(key);
    if (property->type == "array" || property->type == "object") {
      errors->push_back(FieldError::Invalid(
          at.Child("type"), property->type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    const bool required =
        std::find(item.required.begin(), item.required.end(), key) != item.required.end();
    if (!required && !property->default_) {
      errors->push_back(FieldError::Required(at.Child("default"),
                                             "this property is in x-kubernetes-list-map-keys, so "
                                             "it must have a default or be a required property"));
    }
    if (property->nullable) {
      errors->push_back(FieldError::Forbidden(
          at.Child("nullable"),
          "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
    }
  }
}

void CheckSetItems(const JSONSchemaProps& item, const FieldPath& path, FieldErrorList* errors) {
  constexpr std::string_view kAtomic =
      "must be atomic as item of a list with x-kubernetes-list-type=set";
  auto quoted = [](const std::optional<std::string>& text) {
    return text ? FieldValue(*text) : FieldValue(nullptr);
  };
  if (item.nullable) {
    errors->push_back(FieldError::Forbidden(
        path.Child("nullable"), "cannot be nullable when x-kubernetes-list-type is set"));
  }
  // Lists are atomic by default, maps are granular by default.
  if (item.type == "array" && item.xKubernetesListType && *item.xKubernetesListType != "atomic") {
    errors->push_back(FieldError::Invalid(path.Child("x-kubernetes-list-type"),
                                          quoted(item.xKubernetesListType), std::string(kAtomic)));
  }
  if (item.type == "object" && item.xKubernetesMapType.value_or("") != "atomic") {
    errors->push_back(FieldError::Invalid(path.Child("x-kubernetes-map-type"),
                                          quoted(item.xKubernetesMapType), std::string(kAtomic)));
  }
}

void CheckMergeKeywords(const JSONSchemaProps& schema, const FieldPath& path,
                        FieldErrorList* errors) {
  if (const auto& map_type = schema.xKubernetesMapType) {
    CheckTypeFor(schema, "object", "x-kubernetes-map-type", path, errors);
    if (*map_type != "atomic" && *map_type != "granular") {
      errors->push_back(FieldError::NotSupported(path.Child("x-kubernetes-map-type"), *map_type,
                                                 {"atomic", "granular"}));
    }
  }
  const auto& list_type = schema.xKubernetesListType;
  const FieldPath type_path = path.Child("x-kubernetes-list-type");
  if (list_type) {
    CheckTypeFor(schema, "array", "x-kubernetes-list-type", path, errors);
    if (*list_type != "atomic" && *list_type != "set" && *list_type != "map") {
      errors->push_back(FieldError::NotSupported(type_path, *list_type, {"atomic", "set", "map"}));
    }
  }
  if (!schema.xKubernetesListMapKeys.empty() && list_type.value_or("") != "map") {
    const std::string detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors->push_back(list_type ? FieldError::Invalid(type_path, *list_type, detail)
                                : FieldError::Required(type_path, detail));
  }
  if (!list_type) return;
  if (*list_type == "map") CheckListMap(schema, path, errors);
  if (*list_type == "set" && schema.items && schema.items->schema) {
    CheckSetItems(*schema.items->schema, path.Child("items"), errors);
  }
}

// Whether `text`, such as ".a.b", is the path of a field in `schema`.
bool IsFieldPath(const JSONSchemaProps& schema, std::string_view text) {
  if (!text.starts_with('.')) return false;
  const JSONSchemaProps* at = &schema;
  for (std::string_view name : Split(text.substr(1), '.')) {
    if (at->additionalProperties && at->additionalProperties->schema) {
      at = at->additionalProperties->schema.get();
      continue;
    }
    const JSONSchemaProps* next = at->properties.Get(name);
    if (next == nullptr) return false;
    at = next;
  }
  return true;
}

// Validates rules without compiling them.
void CheckRules(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  for (size_t i = 0; i < schema.xKubernetesValidations.size(); ++i) {
    const ValidationRule& rule = schema.xKubernetesValidations[i];
    const FieldPath at = path.Child("x-kubernetes-validations").Index(i);
    const std::string_view text = TrimSpace(rule.rule), message = TrimSpace(rule.message);
    const FieldPath message_path = at.Child("message");
    if (text.empty()) {
      errors->push_back(FieldError::Required(at.Child("rule"), "rule is not specified"));
    }
    if (!rule.message.empty() && message.empty()) {
      errors->push_back(FieldError::Invalid(message_path, rule.message,
                                            "message must be non-empty if specified"));
    } else if (message.find('\n') != std::string_view::npos) {
      errors->push_back(
          FieldError::Invalid(message_path, rule.message, "must not contain line breaks"));
    } else if (message.empty() && text.find('\n') != std::string_view::npos) {
      errors->push_back(FieldError::Required(
          message_path, "message must be specified if rule contains line breaks"));
    }
    if (!rule.messageExpression.empty() && TrimSpace(rule.messageExpression).empty()) {
      errors->push_back(FieldError::Required(at.Child("messageExpression"),
                                             "messageExpression must be non-empty if specified"));
    }
    if (rule.reason) {
      static constexpr std::string_view kReasons[] = {"FieldValueDuplicate", "FieldValueForbidden",
                                                      "FieldValueInvalid", "FieldValueRequired"};
      if (std::find(std::begin(kReasons), std::end(kReasons), *rule.reason) == std::end(kReasons)) {
        errors->push_back(FieldError::NotSupported(at.Child("reason"), *rule.reason, kReasons));
      }
    }
    const FieldPath field = at.Child("fieldPath");
    if (rule.fieldPath.empty()) continue;
    if (TrimSpace(rule.fieldPath).empty()) {
      errors->push_back(
          FieldError::Invalid(field, rule.fieldPath, "must be non-empty if specified"));
    } else if (!IsFieldPath(schema, rule.fieldPath)) {
      errors->push_back(FieldError::Invalid(field, rule.fieldPath, "must be a valid path"));
    }
  }
}

}  // namespace

FieldErrorList ValidateSchema(const JSONSchemaProps& schema, const FieldPath& path) {
  FieldErrorList errors;
  CheckUnsupported(schema, path, &errors);
  CheckType(schema, path, &errors);
  if (schema.additionalProperties && schema.additionalProperties->schema) {
    Append(errors, ValidateSchema(*schema.additionalProperties->schema,
                                  path.Child("additionalProperties")));
  }
  for (const auto& [name, property] : schema.properties) {
    Append(errors, ValidateSchema(property, path.Child("properties").Key(name)));
  }
  auto each = [&](const List<JSONSchemaProps>& schemas, const char* keyword) {
    for (size_t i = 0; i < schemas.size(); ++i) {
      Append(errors, ValidateSchema(schemas[i], path.Child(keyword).Index(i)));
    }
  };
  each(schema.allOf, "allOf");
  each(schema.oneOf, "oneOf");
  each(schema.anyOf, "anyOf");
  if (schema.not_) Append(errors, ValidateSchema(*schema.not_, path.Child("not")));
  if (schema.items && schema.items->schema) {
    Append(errors, ValidateSchema(*schema.items->schema, path.Child("items")));
  }
  CheckMergeKeywords(schema, path, &errors);
  CheckRules(schema, path, &errors);
  return errors;
}

std::string RegexError(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 regex(pattern, options);
  if (regex.ok()) return {};
  struct Text {
    re2::RE2::ErrorCode code;
    std::string_view text;
  };
  static constexpr Text kTexts[] = {
      {re2::RE2::ErrorBadEscape, "invalid escape sequence"},
      {re2::RE2::ErrorBadCharClass, "invalid character class"},
      {re2::RE2::ErrorBadCharRange, "invalid character class range"},
      {re2::RE2::ErrorMissingBracket, "missing closing ]"},
      {re2::RE2::ErrorMissingParen, "missing closing )"},
      {re2::RE2::ErrorUnexpectedParen, "unexpected )"},
      {re2::RE2::ErrorTrailingBackslash, "trailing backslash at end of expression"},
      {re2::RE2::ErrorRepeatArgument, "missing argument to repetition operator"},
      {re2::RE2::ErrorRepeatSize, "invalid repeat count"},
      {re2::RE2::ErrorRepeatOp, "invalid nested repetition operator"},
      {re2::RE2::ErrorBadPerlOp, "invalid or unsupported Perl syntax"},
      {re2::RE2::ErrorBadUTF8, "invalid UTF-8"},
      {re2::RE2::ErrorBadNamedCapture, "invalid named capture"},
      {re2::RE2::ErrorPatternTooLarge, "expression too large"}};
  std::string_view text = "regexp/syntax: internal error";
  for (const Text& row : kTexts) {
    if (row.code == regex.error_code()) text = row.text;
  }
  if (text == "trailing backslash at end of expression") {
    return "error parsing regexp: " + std::string(text) + ": ``";
  }
  return "error parsing regexp: " + std::string(text) + ": `" + regex.error_arg() + "`";
}

}  // namespace cox::apiserver
