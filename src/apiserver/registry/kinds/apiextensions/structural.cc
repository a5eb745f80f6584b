// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "apiserver/registry/kinds/apiextensions/schema_validation.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::JSONSchemaProps;

// The position of a schema in its parent.
enum class Level { kRoot, kField, kItem };

bool Preserves(const JSONSchemaProps& schema) {
  return schema.xKubernetesPreserveUnknownFields.value_or(false);
}

// Metadata is validated by the server; a schema may only restrict name and generateName.
bool RestrictsOnlyNames(JSONSchemaProps schema) {
  for (const auto& [name, property] : schema.properties) {
    if (name != "name" && name != "generateName") return false;
  }
  schema.properties.clear();
  schema.type.clear();
  schema.description.clear();
  schema.title.clear();
  schema.default_.reset();
  return DeepEqual(schema, JSONSchemaProps{});
}

void CheckObjectMeta(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  const FieldPath properties = path.Child("properties");
  if (const JSONSchemaProps* metadata = schema.properties.Get("metadata")) {
    const FieldPath at = properties.Key("metadata");
    if (metadata->type != "object") {
      errors->push_back(FieldError::Invalid(at.Child("type"), metadata->type, "must be object"));
    }
    if (!RestrictsOnlyNames(*metadata)) {
      errors->push_back(
          FieldError::Forbidden(at,
                                "must not specify anything other than name and generateName, but "
                                "metadata is implicitly specified"));
    }
  }
  for (const char* name : {"apiVersion", "kind"}) {
    const JSONSchemaProps* property = schema.properties.Get(name);
    if (property != nullptr && property->type != "string") {
      errors->push_back(FieldError::Invalid(properties.Key(name).Child("type"), property->type,
                                            "must be string"));
    }
  }
}

void CheckLevel(const JSONSchemaProps& schema, Level level, const FieldPath& path,
                FieldErrorList* errors) {
  const FieldPath type = path.Child("type");
  if (schema.xKubernetesIntOrString && Preserves(schema)) {
    errors->push_back(FieldError::Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), true,
                                          "must be false if x-kubernetes-int-or-string is true"));
  }
  if (schema.xKubernetesEmbeddedResource) {
    if (!Preserves(schema) && schema.properties.empty()) {
      errors->push_back(FieldError::Required(
          path.Child("properties"),
          "must not be empty if x-kubernetes-embedded-resource is true without "
          "x-kubernetes-preserve-unknown-fields"));
    }
    if (schema.type != "object") {
      const std::string detail = "must be object if x-kubernetes-embedded-resource is true";
      errors->push_back(schema.type.empty() ? FieldError::Required(type, detail)
                                            : FieldError::Invalid(type, schema.type, detail));
    }
  }
  if (level == Level::kRoot) {
    if (schema.type.empty()) {
      errors->push_back(FieldError::Required(type, "must not be empty at the root"));
    } else if (schema.type != "object") {
      errors->push_back(FieldError::Invalid(type, schema.type, "must be object at the root"));
    }
    return;
  }
  if (!schema.type.empty() || schema.xKubernetesIntOrString || Preserves(schema)) return;
  errors->push_back(FieldError::Required(
      type, level == Level::kItem ? "must not be empty for specified array items"
                                  : "must not be empty for specified object fields"));
}

// A branch of allOf, anyOf, oneOf or not, with everything that is nested in it, may only restrict
// values.
void CheckBranch(const JSONSchemaProps& branch, const FieldPath& path, FieldErrorList* errors) {
  auto forbid = [&](bool used, const char* keyword, std::string_view must) {
    if (!used) return;
    errors->push_back(FieldError::Forbidden(path.Child(keyword),
                                            "must be " + std::string(must) + " to be structural"));
  };
  forbid(!branch.type.empty(), "type", "empty");
  forbid(branch.additionalProperties.has_value(), "additionalProperties", "undefined");
  forbid(branch.default_.has_value(), "default", "undefined");
  forbid(!branch.title.empty(), "title", "empty");
  forbid(!branch.description.empty(), "description", "empty");
  forbid(branch.nullable, "nullable", "false");
  forbid(Preserves(branch), "x-kubernetes-preserve-unknown-fields", "false");
  forbid(branch.xKubernetesEmbeddedResource, "x-kubernetes-embedded-resource", "false");
  forbid(branch.xKubernetesIntOrString, "x-kubernetes-int-or-string", "false");
  forbid(!branch.xKubernetesListMapKeys.empty(), "x-kubernetes-list-map-keys", "empty");
  forbid(branch.xKubernetesListType.has_value(), "x-kubernetes-list-type", "undefined");
  forbid(branch.xKubernetesMapType.has_value(), "x-kubernetes-map-type", "undefined");
  for (const auto& [name, property] : branch.properties) {
    CheckBranch(property, path.Child("properties").Key(name), errors);
  }
  if (branch.items && branch.items->schema) {
    CheckBranch(*branch.items->schema, path.Child("items"), errors);
  }
  auto each = [&](const List<JSONSchemaProps>& schemas, const char* keyword) {
    for (size_t i = 0; i < schemas.size(); ++i) {
      CheckBranch(schemas[i], path.Child(keyword).Index(i), errors);
    }
  };
  each(branch.allOf, "allOf");
  each(branch.anyOf, "anyOf");
  each(branch.oneOf, "oneOf");
  if (branch.not_) CheckBranch(*branch.not_, path.Child("not"), errors);
}

// Whether the branches are the two that x-kubernetes-int-or-string allows: integer and string.
bool IsIntOrStringPair(const List<JSONSchemaProps>& schemas) {
  auto only = [](JSONSchemaProps schema, const char* type) {
    const bool same = schema.type == type;
    schema.type.clear();
    return same && DeepEqual(schema, JSONSchemaProps{});
  };
  return schemas.size() == 2 && only(schemas[0], "integer") && only(schemas[1], "string");
}

void CheckBranches(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  const bool int_or_string = schema.xKubernetesIntOrString;
  for (size_t i = 0; i < schema.allOf.size(); ++i) {
    if (int_or_string && IsIntOrStringPair(schema.allOf[i].anyOf)) continue;
    CheckBranch(schema.allOf[i], path.Child("allOf").Index(i), errors);
  }
  if (!(int_or_string && IsIntOrStringPair(schema.anyOf))) {
    for (size_t i = 0; i < schema.anyOf.size(); ++i) {
      CheckBranch(schema.anyOf[i], path.Child("anyOf").Index(i), errors);
    }
  }
  for (size_t i = 0; i < schema.oneOf.size(); ++i) {
    CheckBranch(schema.oneOf[i], path.Child("oneOf").Index(i), errors);
  }
  if (schema.not_) CheckBranch(*schema.not_, path.Child("not"), errors);
}

void Check(const JSONSchemaProps& schema, Level level, const FieldPath& path,
           FieldErrorList* errors) {
  CheckLevel(schema, level, path, errors);
  if (level == Level::kRoot || schema.xKubernetesEmbeddedResource) {
    CheckObjectMeta(schema, path, errors);
  }
  CheckBranches(schema, path, errors);
  if (schema.items && schema.items->schema) {
    Check(*schema.items->schema, Level::kItem, path.Child("items"), errors);
  }
  for (const auto& [name, property] : schema.properties) {
    const bool metadata = level == Level::kRoot && name == "metadata";
    if (!metadata) Check(property, Level::kField, path.Child("properties").Key(name), errors);
  }
  if (schema.additionalProperties && schema.additionalProperties->schema) {
    Check(*schema.additionalProperties->schema, Level::kField, path.Child("additionalProperties"),
          errors);
  }
}

// Every field in a branch must also be declared outside of it.
void CheckDeclared(const JSONSchemaProps& declared, const JSONSchemaProps& branch,
                   const FieldPath& declared_path, const FieldPath& branch_path,
                   FieldErrorList* errors) {
  for (const auto& [name, property] : branch.properties) {
    const JSONSchemaProps* next = declared.properties.Get(name);
    const FieldPath at = declared_path.Child("properties").Key(name);
    const FieldPath from = branch_path.Child("properties").Key(name);
    if (next == nullptr) {
      errors->push_back(FieldError::Required(at, "because it is defined in " + from.ToString()));
      continue;
    }
    CheckDeclared(*next, property, at, from, errors);
  }
  if (branch.items && branch.items->schema) {
    const FieldPath at = declared_path.Child("items"), from = branch_path.Child("items");
    if (!declared.items || !declared.items->schema) {
      errors->push_back(FieldError::Required(at, "because it is defined in " + from.ToString()));
    } else {
      CheckDeclared(*declared.items->schema, *branch.items->schema, at, from, errors);
    }
  }
  auto each = [&](const List<JSONSchemaProps>& schemas, const char* keyword) {
    for (size_t i = 0; i < schemas.size(); ++i) {
      CheckDeclared(declared, schemas[i], declared_path, branch_path.Child(keyword).Index(i),
                    errors);
    }
  };
  each(branch.allOf, "allOf");
  each(branch.anyOf, "anyOf");
  each(branch.oneOf, "oneOf");
  if (branch.not_) {
    CheckDeclared(declared, *branch.not_, declared_path, branch_path.Child("not"), errors);
  }
}

void CheckComplete(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  JSONSchemaProps branches;
  branches.allOf = schema.allOf;
  branches.anyOf = schema.anyOf;
  branches.oneOf = schema.oneOf;
  branches.not_ = schema.not_;
  CheckDeclared(schema, branches, path, path, errors);
  for (const auto& [name, property] : schema.properties) {
    CheckComplete(property, path.Child("properties").Key(name), errors);
  }
  if (schema.items && schema.items->schema) {
    CheckComplete(*schema.items->schema, path.Child("items"), errors);
  }
  if (schema.additionalProperties && schema.additionalProperties->schema) {
    CheckComplete(*schema.additionalProperties->schema, path.Child("additionalProperties"), errors);
  }
}

}  // namespace

FieldErrorList ValidateStructural(const JSONSchemaProps& schema, const FieldPath& path) {
  FieldErrorList errors;
  Check(schema, Level::kRoot, path, &errors);
  if (errors.empty()) CheckComplete(schema, path, &errors);
  return errors;
}

}  // namespace cox::apiserver
