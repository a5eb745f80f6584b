// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/resource/device_rules.h"

#include "apiserver/registry/validation/field_checks.h"
#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::apiserver::devices {
namespace {

// The CEL compiler's error for an empty expression.
constexpr const char* kEmptyExpression =
    "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting "
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}";

constexpr std::string_view kExists = "Exists", kEqual = "Equal";
constexpr std::string_view kEffects[] = {"NoExecute", "NoSchedule", "None"};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

FieldErrorList ValidateIdentifier(std::string_view id, const FieldPath& path) {
  FieldErrorList errors;
  if (id.size() > kMaxIdentifier) errors.push_back(FieldError::TooLong(path, kMaxIdentifier));
  AppendInvalid(errors, path, id, validation::IsCIdentifier(id));
  return errors;
}

FieldErrorList ValidateSelector(const resource::v1::DeviceSelector& selector,
                                const FieldPath& path) {
  if (!selector.cel) return {FieldError::Required(path.Child("cel"))};
  FieldPath at = path.Child("cel").Child("expression");
  const std::string& expression = selector.cel->expression;
  if (expression.size() > kMaxExpression) return {FieldError::TooLong(at, kMaxExpression)};
  if (expression.empty()) return {FieldError::Invalid(at, "", kEmptyExpression)};
  return {};
}

void CheckEffect(FieldErrorList& errors, std::string_view effect, const FieldPath& path) {
  if (std::find(std::begin(kEffects), std::end(kEffects), effect) != std::end(kEffects)) return;
  errors.push_back(FieldError::NotSupported(path, effect, kEffects));
}

}  // namespace

FieldErrorList ValidateDriverName(std::string_view name, const FieldPath& path) {
  if (name.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  if (name.size() > kMaxDriverName) errors.push_back(FieldError::TooLong(path, kMaxDriverName));
  AppendInvalid(errors, path, name, validation::IsDNS1123Subdomain(Lower(name)));
  return errors;
}

FieldErrorList ValidatePoolName(std::string_view name, const FieldPath& path) {
  if (name.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  if (name.size() > kMaxPoolName) errors.push_back(FieldError::TooLong(path, kMaxPoolName));
  for (std::string_view part : Split(name, '/')) {
    AppendInvalid(errors, path, part, validation::IsDNS1123Subdomain(part));
  }
  return errors;
}

FieldErrorList ValidateLabel(std::string_view name, const FieldPath& path) {
  FieldErrorList errors;
  AppendInvalid(errors, path, name, validation::IsDNS1123Label(name));
  return errors;
}

FieldErrorList ValidateSubdomain(std::string_view name, const FieldPath& path) {
  if (name.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  AppendInvalid(errors, path, name, validation::IsDNS1123Subdomain(name));
  return errors;
}

FieldErrorList ValidateQualifiedName(std::string_view name, const FieldPath& path) {
  if (name.empty()) return {FieldError::Required(path, "name required")};
  CutResult cut = Cut(name, '/');
  if (!cut.found) return ValidateIdentifier(name, path);
  FieldErrorList errors;
  if (cut.before.empty()) {
    errors.push_back(FieldError::Required(path, "the domain must not be empty"));
  } else {
    Append(errors, ValidateDriverName(cut.before, path));
  }
  if (cut.after.empty()) {
    errors.push_back(FieldError::Required(path, "the name must not be empty"));
  } else {
    Append(errors, ValidateIdentifier(cut.after, path));
  }
  return errors;
}

FieldErrorList ValidateFullyQualifiedName(std::string_view name, const FieldPath& path) {
  if (std::count(name.begin(), name.end(), '/') != 1) {
    return {FieldError::Invalid(
        path, name, "a fully qualified name must be a domain and a name separated by a slash")};
  }
  return ValidateQualifiedName(name, path);
}

FieldErrorList ValidateSelectors(const List<resource::v1::DeviceSelector>& selectors,
                                 const FieldPath& path) {
  FieldErrorList errors;
  CheckEach(errors, selectors, kMaxSelectors, path, ValidateSelector);
  return errors;
}

FieldErrorList ValidateRawObject(const RawJson& raw, const FieldPath& path) {
  constexpr const char* kOmitted = "<value omitted>";
  if (raw.raw.empty()) return {FieldError::Required(path)};
  if (raw.raw.size() > kMaxRawBytes) return {FieldError::TooLong(path, kMaxRawBytes)};
  Result<Value> value = json::Parse(raw.raw);
  if (!value.ok()) {
    return {FieldError::Invalid(
        path, kOmitted, "error parsing data as JSON: " + std::string(value.status().message()))};
  }
  if (value->is_null()) return {FieldError::Required(path)};
  if (!value->is_object()) {
    return {FieldError::Invalid(path, kOmitted, "must be a valid JSON object")};
  }
  return {};
}

FieldErrorList ValidateConfiguration(const resource::v1::DeviceConfiguration& configuration,
                                     const FieldPath& path) {
  FieldPath opaque = path.Child("opaque");
  if (!configuration.opaque) return {FieldError::Required(opaque)};
  FieldErrorList errors = ValidateDriverName(configuration.opaque->driver, opaque.Child("driver"));
  Append(errors, ValidateRawObject(configuration.opaque->parameters, opaque.Child("parameters")));
  return errors;
}

FieldErrorList ValidateToleration(const resource::v1::DeviceToleration& toleration,
                                  const FieldPath& path) {
  FieldErrorList errors;
  FieldPath op = path.Child("operator");
  if (!toleration.key.empty()) {
    Append(errors, validation::ValidateLabelName(toleration.key, path.Child("key")));
  } else if (toleration.operator_ != kExists) {
    errors.push_back(FieldError::Invalid(op, toleration.operator_,
                                         "operator must be Exists when `key` is empty, which "
                                         "means \"match all values and all keys\""));
  }
  FieldPath value = path.Child("value");
  if (toleration.operator_ == kExists) {
    if (!toleration.value.empty()) {
      errors.push_back(
          FieldError::Invalid(value, toleration.value, "must be empty for operator `Exists`"));
    }
  } else if (toleration.operator_ == kEqual) {
    AppendInvalid(errors, value, toleration.value, validation::IsValidLabelValue(toleration.value));
  } else if (toleration.operator_.empty()) {
    errors.push_back(FieldError::Required(op));
  } else {
    errors.push_back(FieldError::NotSupported(op, toleration.operator_, {kEqual, kExists}));
  }
  if (!toleration.effect.empty()) CheckEffect(errors, toleration.effect, path.Child("effect"));
  return errors;
}

FieldErrorList ValidateTaint(const resource::v1::DeviceTaint& taint, const FieldPath& path) {
  FieldErrorList errors = validation::ValidateLabelName(taint.key, path.Child("key"));
  AppendInvalid(errors, path.Child("value"), taint.value,
                validation::IsValidLabelValue(taint.value));
  if (taint.effect.empty()) {
    errors.push_back(FieldError::Required(path.Child("effect")));
  } else {
    CheckEffect(errors, taint.effect, path.Child("effect"));
  }
  return errors;
}

void WarnOnDriverName(Warnings& warnings, std::string_view name, const FieldPath& path) {
  if (Lower(name) == name) return;
  warnings.push_back(path.ToString() + ": driver names should be lowercase; " + Quote(name) +
                     " contains uppercase characters");
}

}  // namespace cox::apiserver::devices
