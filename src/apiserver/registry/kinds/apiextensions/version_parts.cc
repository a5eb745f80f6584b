// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/apiextensions/version_parts.h"

#include <set>

#include "apiserver/registry/kinds/apiextensions/schema_validation.h"
#include "apiserver/registry/validation/internal_value.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::CustomResourceColumnDefinition;
using apiextensions::v1::CustomResourceDefinitionVersion;
using apiextensions::v1::CustomResourceSubresources;
using apiextensions::v1::CustomResourceSubresourceScale;
using apiextensions::v1::CustomResourceValidation;
using apiextensions::v1::JSONSchemaProps;
using apiextensions::v1::SelectableField;

constexpr size_t kMaxSelectableFields = 8;

// A path such as ".spec.replicas".
bool CheckSimplePath(const std::string& text, const FieldPath& path, FieldErrorList* errors) {
  if (text.starts_with('.')) return true;
  errors->push_back(FieldError::Invalid(path, text, "must be a simple json path starting with ."));
  return false;
}

void CheckScale(const CustomResourceSubresourceScale& scale, const FieldPath& path,
                FieldErrorList* errors) {
  const FieldPath spec = path.Child("specReplicasPath");
  if (scale.specReplicasPath.empty()) {
    errors->push_back(FieldError::Required(spec));
  } else if (CheckSimplePath(scale.specReplicasPath, spec, errors) &&
             !scale.specReplicasPath.starts_with(".spec.")) {
    errors->push_back(
        FieldError::Invalid(spec, scale.specReplicasPath, "should be a json path under .spec"));
  }
  const FieldPath status = path.Child("statusReplicasPath");
  if (scale.statusReplicasPath.empty()) {
    errors->push_back(FieldError::Required(status));
  } else if (CheckSimplePath(scale.statusReplicasPath, status, errors) &&
             !scale.statusReplicasPath.starts_with(".status.")) {
    errors->push_back(FieldError::Invalid(status, scale.statusReplicasPath,
                                          "should be a json path under .status"));
  }
  if (!scale.labelSelectorPath || scale.labelSelectorPath->empty()) return;
  const FieldPath selector = path.Child("labelSelectorPath");
  if (CheckSimplePath(*scale.labelSelectorPath, selector, errors) &&
      !scale.labelSelectorPath->starts_with(".spec.") &&
      !scale.labelSelectorPath->starts_with(".status.")) {
    errors->push_back(FieldError::Invalid(selector, *scale.labelSelectorPath,
                                          "should be a json path under either .spec or .status"));
  }
}

void CheckColumn(const CustomResourceColumnDefinition& column, const FieldPath& path,
                 FieldErrorList* errors) {
  constexpr std::string_view kTypes = "boolean,date,integer,number,string";
  constexpr std::string_view kFormats = "byte,date,date-time,double,float,int32,int64,password";
  auto among = [](std::string_view list, std::string_view item) {
    for (const std::string_view name : Split(list, ',')) {
      if (name == item) return true;
    }
    return false;
  };
  if (column.name.empty()) errors->push_back(FieldError::Required(path.Child("name")));
  const std::string types = "must be one of " + std::string(kTypes);
  if (column.type.empty()) {
    errors->push_back(FieldError::Required(path.Child("type"), types));
  } else if (!among(kTypes, column.type)) {
    errors->push_back(FieldError::Invalid(path.Child("type"), column.type, types));
  }
  if (!column.format.empty() && !among(kFormats, column.format)) {
    errors->push_back(FieldError::Invalid(path.Child("format"), column.format,
                                          "must be one of " + std::string(kFormats)));
  }
  const FieldPath json_path = path.Child("JSONPath");
  if (column.jsonPath.empty()) {
    errors->push_back(FieldError::Required(json_path));
  } else {
    CheckSimplePath(column.jsonPath, json_path, errors);
  }
}

// The reason why `text` is not the path of a selectable field in `schema`; empty if it is.
std::string SelectableProblem(const JSONSchemaProps* schema, std::string_view text) {
  if (!text.starts_with('.')) {
    const size_t end = text.find_first_of(".[");
    return "is an invalid path: expected [ or . but got: " + std::string(text.substr(0, end));
  }
  for (const std::string_view name : Split(text.substr(1), '.')) {
    // Metadata has its own selectable fields.
    const bool metadata = text.starts_with(".metadata");
    schema = schema == nullptr || metadata ? nullptr : schema->properties.Get(name);
    if (schema == nullptr) return "is an invalid path: does not refer to a valid field";
  }
  if (schema->type != "string" && schema->type != "boolean" && schema->type != "integer") {
    return "must point to a field of type string, boolean or integer. Enum string fields and "
           "strings with formats are allowed.";
  }
  return {};
}

void CheckSelectableFields(const List<SelectableField>& fields,
                           const CustomResourceValidation* validation, const FieldPath& path,
                           FieldErrorList* errors) {
  if (fields.size() > kMaxSelectableFields) {
    errors->push_back(FieldError::TooMany(path, static_cast<int64_t>(fields.size()),
                                          static_cast<int64_t>(kMaxSelectableFields)));
  }
  const JSONSchemaProps* schema =
      validation != nullptr ? validation->openAPIV3Schema.get() : nullptr;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < fields.size(); ++i) {
    const FieldPath at = path.Index(i).Child("jsonPath");
    const std::string& text = fields[i].jsonPath;
    if (text.empty()) {
      errors->push_back(FieldError::Required(at));
      continue;
    }
    const std::string problem = SelectableProblem(schema, text);
    if (!problem.empty()) {
      errors->push_back(FieldError::Invalid(at, text, problem));
    } else if (!seen.insert(text).second) {
      errors->push_back(FieldError::Duplicate(at, text));
    }
  }
}

void CheckSchema(const JSONSchemaProps& schema, const FieldPath& path, FieldErrorList* errors) {
  FieldErrorList found = ValidateSchema(schema, path);
  // Each step requires that the previous one found no error.
  if (found.empty()) found = ValidateStructural(schema, path);
  if (found.empty()) found = ValidateSchemaDefaults(schema, path);
  Append(*errors, std::move(found));
}

// The path of each part, and whether it is validated.
struct Places {
  FieldPath schema, subresources, columns, selectable_fields;
  CommonParts parts;
};

FieldErrorList Validate(const CustomResourceDefinitionVersion& version, const Places& places) {
  FieldErrorList errors;
  if (places.parts.schema && version.schema && version.schema->openAPIV3Schema) {
    CheckSchema(*version.schema->openAPIV3Schema, places.schema.Child("openAPIV3Schema"), &errors);
  }
  if (places.parts.subresources && version.subresources && version.subresources->scale) {
    CheckScale(*version.subresources->scale, places.subresources.Child("scale"), &errors);
  }
  if (places.parts.columns) {
    for (size_t i = 0; i < version.additionalPrinterColumns.size(); ++i) {
      CheckColumn(version.additionalPrinterColumns[i], places.columns.Index(i), &errors);
    }
  }
  if (places.parts.selectable_fields) {
    CheckSelectableFields(version.selectableFields, version.schema.get(), places.selectable_fields,
                          &errors);
  }
  return errors;
}

}  // namespace

CommonParts FindCommonParts(const List<CustomResourceDefinitionVersion>& versions) {
  if (versions.empty()) return {};
  const CustomResourceDefinitionVersion& first = versions.front();
  CommonParts common{true, true, true, true};
  for (const CustomResourceDefinitionVersion& version : versions) {
    common.schema = common.schema && version.schema == first.schema;
    common.subresources = common.subresources && version.subresources == first.subresources;
    common.columns =
        common.columns && version.additionalPrinterColumns == first.additionalPrinterColumns;
    common.selectable_fields =
        common.selectable_fields && version.selectableFields == first.selectableFields;
  }
  return common;
}

FieldErrorList ValidateVersionParts(const CustomResourceDefinitionVersion& version,
                                    const CommonParts& common, const FieldPath& path) {
  return Validate(version, {.schema = path.Child("schema"),
                            .subresources = path.Child("subresources"),
                            .columns = path.Child("additionalPrinterColumns"),
                            .selectable_fields = path.Child("selectableFields"),
                            .parts = {!common.schema, !common.subresources, !common.columns,
                                      !common.selectable_fields}});
}

FieldErrorList ValidateCommonParts(const List<CustomResourceDefinitionVersion>& versions,
                                   const CommonParts& common, const FieldPath& spec) {
  if (versions.empty()) return {};
  return Validate(versions.front(), {.schema = spec.Child("validation"),
                                     .subresources = spec.Child("subresources"),
                                     .columns = spec.Child("additionalPrinterColumns"),
                                     .selectable_fields = spec.Child("selectableFields"),
                                     .parts = common});
}

FieldValue InternalVersions(List<CustomResourceDefinitionVersion> versions,
                            const CommonParts& common) {
  std::string text = "[";
  for (CustomResourceDefinitionVersion& version : versions) {
    if (common.schema) version.schema = nullptr;
    if (common.subresources) version.subresources = nullptr;
    if (common.columns) version.additionalPrinterColumns.clear();
    if (common.selectable_fields) version.selectableFields.clear();
    if (text.size() > 1) text += ",";
    text += InternalValue(version).text();
  }
  return FieldValue::Json(text + "]");
}

}  // namespace cox::apiserver
