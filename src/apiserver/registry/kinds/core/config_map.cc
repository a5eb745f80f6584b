// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/registry/validation/field_checks.h"

namespace cox::apiserver {
namespace {

using core::v1::ConfigMap;

constexpr const char* kImmutable = "field is immutable when `immutable` is set";

FieldErrorList CheckData(const ConfigMap& config) {
  FieldErrorList errors;
  size_t total = 0;
  FieldPath data("data"), binary("binaryData");
  for (const auto& [key, value] : config.data) {
    AppendInvalid(errors, data.Key(key), key, validation::IsConfigMapKey(key));
    if (config.binaryData.contains(key)) {
      errors.push_back(
          FieldError::Invalid(data.Key(key), key, "duplicate of key present in binaryData"));
    }
    total += value.size();
  }
  for (const auto& [key, value] : config.binaryData) {
    AppendInvalid(errors, binary.Key(key), key, validation::IsConfigMapKey(key));
    total += value.size();
  }
  if (total > kMaxDataBytes) {
    // The object as a whole is too long: upstream's error contains no field.
    errors.push_back(FieldError::TooLong(FieldPath(""), kMaxDataBytes));
  }
  return errors;
}

class ConfigMapStrategy final : public StrategyOf<ConfigMap> {
 public:
  std::string_view storage_prefix() const override { return "configmaps"; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn, {.name = "Data", .type = "string"}, kAgeColumn};
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const ConfigMap& config) const override {
    return CheckData(config);
  }

  FieldErrorList CheckUpdate(const WriteContext&, const ConfigMap& config,
                             const ConfigMap& old) const override {
    // Metadata is validated once more than for other kinds, as upstream's errors show.
    FieldErrorList errors = ValidateMeta(config.metadata, /*namespaced=*/true, name_rule());
    if (old.immutable.value_or(false)) {
      if (!config.immutable.value_or(false)) {
        errors.push_back(FieldError::Forbidden(FieldPath("immutable"), kImmutable));
      }
      if (config.data != old.data) {
        errors.push_back(FieldError::Forbidden(FieldPath("data"), kImmutable));
      }
      if (config.binaryData != old.binaryData) {
        errors.push_back(FieldError::Forbidden(FieldPath("binaryData"), kImmutable));
      }
    }
    Append(errors, CheckData(config));
    return errors;
  }

  Cells RowOf(const ConfigMap& config, const Time& now) const override {
    return {config.metadata.name,
            static_cast<int64_t>(config.data.size() + config.binaryData.size()),
            Age(config.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewConfigMapStrategy() { return std::make_unique<ConfigMapStrategy>(); }

}  // namespace cox::apiserver
