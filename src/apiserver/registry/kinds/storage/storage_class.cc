// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <string>

#include "api/storage/v1.h"
#include "apiserver/registry/kinds/core/volume/node_affinity_validation.h"
#include "apiserver/registry/kinds/core/volume/volume_source_validation.h"
#include "apiserver/registry/kinds/storage/kinds.h"
#include "apiserver/registry/validation/field_messages.h"
#include "object/codec/json/json.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using storage::v1::StorageClass;
using storage::v1::VolumeAttributesClass;

constexpr size_t kMaxParameters = 512;
constexpr size_t kMaxParameterBytes = 256 * 1024;

std::string ToLower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

FieldValue ParametersValue(const Map<std::string>& parameters) {
  if (parameters.empty()) return nullptr;
  std::string json = "{";
  for (const auto& [key, value] : parameters) {
    if (json.size() > 1) json += ',';
    json::WriteString(key, &json);
    json += ':';
    json::WriteString(value, &json);
  }
  return FieldValue::Json(json + "}");
}

FieldErrorList ValidateTopologyTerm(const cv::TopologySelectorTerm& term, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string> keys;
  for (size_t i = 0; i < term.matchLabelExpressions.size(); ++i) {
    const cv::TopologySelectorLabelRequirement& expression = term.matchLabelExpressions[i];
    const FieldPath at = path.Child("matchLabelExpressions").Index(i);
    if (expression.values.empty()) errors.push_back(FieldError::Required(at.Child("values")));
    std::set<std::string> values;
    for (size_t j = 0; j < expression.values.size(); ++j) {
      if (!values.insert(expression.values[j]).second) {
        errors.push_back(FieldError::Duplicate(at.Child("values").Index(j), expression.values[j]));
      }
    }
    Append(errors, validation::ValidateLabelName(expression.key, at.Child("key")));
    if (!keys.insert(expression.key).second) {
      errors.push_back(FieldError::Duplicate(at.Child("key"), expression.key));
    }
  }
  return errors;
}

FieldErrorList ValidateTopologies(const List<cv::TopologySelectorTerm>& terms,
                                  const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < terms.size(); ++i) {
    Append(errors, ValidateTopologyTerm(terms[i], path.Index(i)));
    for (size_t j = 0; j < i; ++j) {
      if (DeepEqual(terms[i], terms[j])) {
        errors.push_back(FieldError::Duplicate(path.Index(i), ""));
        break;
      }
    }
  }
  return errors;
}

class StorageClassStrategy final : public StrategyOf<StorageClass> {
 public:
  std::string_view storage_prefix() const override { return "storageclasses"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Provisioner", .type = "string"},
        {.name = "ReclaimPolicy", .type = "string"},
        {.name = "VolumeBindingMode", .type = "string"},
        {.name = "AllowVolumeExpansion", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(StorageClass& object) const override {
    if (!object.reclaimPolicy) object.reclaimPolicy = "Delete";
    if (!object.volumeBindingMode) object.volumeBindingMode = "Immediate";
  }
  FieldErrorList Check(const WriteContext&, const StorageClass& object) const override {
    FieldErrorList errors;
    const FieldPath provisioner("provisioner");
    if (object.provisioner.empty()) {
      errors.push_back(FieldError::Required(provisioner));
    } else {
      AppendInvalid(errors, provisioner, object.provisioner,
                    validation::IsQualifiedName(ToLower(object.provisioner)));
    }
    Append(errors, ValidateClassParameters(object.parameters, true, FieldPath("parameters")));
    if (object.reclaimPolicy && *object.reclaimPolicy != "Delete" &&
        *object.reclaimPolicy != "Retain") {
      errors.push_back(FieldError::NotSupported(FieldPath("reclaimPolicy"), *object.reclaimPolicy,
                                                {"Delete", "Retain"}));
    }
    const FieldPath binding("volumeBindingMode");
    if (!object.volumeBindingMode) {
      errors.push_back(FieldError::Required(binding));
    } else if (*object.volumeBindingMode != "Immediate" &&
               *object.volumeBindingMode != "WaitForFirstConsumer") {
      errors.push_back(FieldError::NotSupported(binding, *object.volumeBindingMode,
                                                {"Immediate", "WaitForFirstConsumer"}));
    }
    Append(errors, ValidateTopologies(object.allowedTopologies, FieldPath("allowedTopologies")));
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const StorageClass& object,
                             const StorageClass& old) const override {
    FieldErrorList errors = Check(w, object);
    auto immutable = [&](bool same, std::string_view field, const FieldValue& value) {
      if (!same) errors.push_back(validation::ImmutableField(FieldPath(field), value));
    };
    immutable(object.parameters == old.parameters, "parameters",
              ParametersValue(object.parameters));
    immutable(object.provisioner == old.provisioner, "provisioner", object.provisioner);
    immutable(object.reclaimPolicy == old.reclaimPolicy, "reclaimPolicy",
              object.reclaimPolicy.value_or(""));
    immutable(object.volumeBindingMode == old.volumeBindingMode, "volumeBindingMode",
              object.volumeBindingMode.value_or(""));
    return errors;
  }
  Warnings Warn(const WriteContext&, const StorageClass& object,
                const StorageClass*) const override {
    Warnings warnings;
    for (size_t i = 0; i < object.allowedTopologies.size(); ++i) {
      const auto& expressions = object.allowedTopologies[i].matchLabelExpressions;
      for (size_t j = 0; j < expressions.size(); ++j) {
        const std::string_view message = DeprecatedNodeLabel(expressions[j].key);
        if (message.empty()) continue;
        const FieldPath key = FieldPath("allowedTopologies")
                                  .Index(i)
                                  .Child("matchLabelExpressions")
                                  .Index(j)
                                  .Child("key");
        warnings.push_back(key.ToString() + ": " + expressions[j].key + " is " +
                           std::string(message));
      }
    }
    return warnings;
  }
  Cells RowOf(const StorageClass& object, const Time& now) const override {
    std::string name = object.metadata.name;
    for (std::string_view annotation : {"storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class"}) {
      const std::string* value = object.metadata.annotations.Get(annotation);
      if (value != nullptr && *value == "true") {
        name += " (default)";
        break;
      }
    }
    return {name,
            object.provisioner,
            object.reclaimPolicy.value_or("Delete"),
            object.volumeBindingMode.value_or("<unset>"),
            object.allowVolumeExpansion.value_or(false),
            Age(object.metadata.creationTimestamp, now)};
  }
};

class VolumeAttributesClassStrategy final : public StrategyOf<VolumeAttributesClass> {
 public:
  std::string_view storage_prefix() const override { return "volumeattributesclasses"; }
  bool ReturnsDeletedObject() const override { return true; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "DriverName", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const VolumeAttributesClass& object) const override {
    FieldErrorList errors = ValidateCsiDriverName(object.driverName, FieldPath("driverName"));
    Append(errors, ValidateClassParameters(object.parameters, false, FieldPath("parameters")));
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const VolumeAttributesClass& object,
                             const VolumeAttributesClass& old) const override {
    FieldErrorList errors = Check(w, object);
    if (object.driverName != old.driverName) {
      errors.push_back(validation::ImmutableField(FieldPath("driverName"), object.driverName));
    }
    if (object.parameters != old.parameters) {
      errors.push_back(
          validation::ImmutableField(FieldPath("parameters"), ParametersValue(object.parameters)));
    }
    return errors;
  }
  Cells RowOf(const VolumeAttributesClass& object, const Time& now) const override {
    std::string name = object.metadata.name;
    const std::string* is_default = object.metadata.annotations.Get(
        "volumeattributesclass.alpha.kubernetes.io/is-default-class");
    if (is_default != nullptr && *is_default == "true") name += " (default)";
    return {name, object.driverName, Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

FieldErrorList ValidateClassParameters(const Map<std::string>& parameters, bool allow_empty,
                                       const FieldPath& path) {
  if (parameters.empty() && !allow_empty) {
    return {FieldError::Required(path, "must contain at least one key/value pair")};
  }
  FieldErrorList errors;
  if (parameters.size() > kMaxParameters) {
    errors.push_back(FieldError::TooLong(path, kMaxParameters));
    return errors;
  }
  size_t bytes = 0;
  for (const auto& [key, value] : parameters) {
    if (key.empty()) {
      errors.push_back(FieldError::Invalid(path, key, "field can not be empty."));
    }
    bytes += key.size() + value.size();
  }
  if (bytes > kMaxParameterBytes) errors.push_back(FieldError::TooLong(path, kMaxParameterBytes));
  return errors;
}

StrategyPtr NewStorageClassStrategy() { return std::make_unique<StorageClassStrategy>(); }
StrategyPtr NewVolumeAttributesClassStrategy() {
  return std::make_unique<VolumeAttributesClassStrategy>();
}

}  // namespace cox::apiserver
