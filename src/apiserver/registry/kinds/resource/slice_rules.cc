// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/resource/slice_rules.h"

#include <string>

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/resource/device_rules.h"
#include "apiserver/registry/validation/field_checks.h"
#include "base/strings.h"

namespace cox::apiserver::devices {
namespace {

using resource::v1::Device;
using resource::v1::DeviceAttribute;
using resource::v1::ResourceSliceSpec;

// The attribute as errors contain it, with Go's field names.
FieldValue AttributeValue(const DeviceAttribute& attribute) {
  std::string text = "{\"IntValue\":";
  text += attribute.int_ ? std::to_string(*attribute.int_) : "null";
  text += ",\"BoolValue\":";
  text += attribute.bool_ ? (*attribute.bool_ ? "true" : "false") : "null";
  auto string = [&text](std::string_view name, const std::optional<std::string>& value) {
    text.append(",\"").append(name).append("\":");
    value ? AppendJsonString(text, *value) : void(text.append("null"));
  };
  string("StringValue", attribute.string);
  string("VersionValue", attribute.version);
  text += ",\"IntValues\":null,\"BoolValues\":null,\"StringValues\":null,\"VersionValues\":null}";
  return FieldValue::Json(std::move(text));
}

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Dot-separated identifiers of a pre-release or of build metadata. Numbers of a pre-release, which
// are compared, have no leading zeros.
bool AreIdentifiers(std::string_view text, bool compared) {
  constexpr std::string_view kAllowed =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";
  for (std::string_view part : Split(text, '.')) {
    if (part.empty() || part.find_first_not_of(kAllowed) != std::string_view::npos) return false;
    if (compared && IsDigits(part) && part.size() > 1 && part[0] == '0') return false;
  }
  return true;
}

// semver.org, version 2.0.0.
bool IsSemver(std::string_view text) {
  CutResult build = Cut(text, '+');
  if (build.found && !AreIdentifiers(build.after, false)) return false;
  CutResult release = Cut(build.before, '-');
  if (release.found && !AreIdentifiers(release.after, true)) return false;
  int numbers = 0;
  for (std::string_view part : Split(release.before, '.')) {
    if (!IsDigits(part) || (part.size() > 1 && part[0] == '0')) return false;
    ++numbers;
  }
  return numbers == 3;
}

void CheckAttribute(FieldErrorList& errors, const DeviceAttribute& attribute,
                    const FieldPath& path) {
  int values = 0;
  if (attribute.int_) ++values;
  if (attribute.bool_) ++values;
  if (attribute.string) {
    ++values;
    if (attribute.string->size() > kMaxAttributeValue) {
      errors.push_back(FieldError::TooLong(path.Child("string"), kMaxAttributeValue));
    }
  }
  if (attribute.version) {
    ++values;
    FieldPath at = path.Child("version");
    if (!IsSemver(*attribute.version)) {
      errors.push_back(FieldError::Invalid(
          at, *attribute.version, "must be a string compatible with semver.org spec 2.0.0"));
    }
    if (attribute.version->size() > kMaxAttributeValue) {
      errors.push_back(FieldError::TooLong(at, kMaxAttributeValue));
    }
  }
  if (values == 1) return;
  errors.push_back(FieldError::Invalid(path,
                                       values == 0 ? FieldValue("") : AttributeValue(attribute),
                                       "exactly one value must be specified"));
}

void CheckNodeName(FieldErrorList& errors, const std::string& name, const FieldPath& path) {
  if (name.empty()) {
    errors.push_back(
        FieldError::Invalid(path, name, "must be either unset or set to a non-empty string"));
  } else {
    AppendInvalid(errors, path, name, validation::NameIsDNSSubdomain(name, false));
  }
}

void CheckTrue(FieldErrorList& errors, bool value, const FieldPath& path) {
  if (value) return;
  errors.push_back(FieldError::Invalid(path, value, "must be either unset or set to true"));
}

void CheckNodeSelector(FieldErrorList& errors, const core::v1::NodeSelector& selector,
                       const FieldPath& path) {
  Append(errors, ValidateNodeSelector(selector, path));
  if (selector.nodeSelectorTerms.size() > 1) {
    // The scheduler merges it with other selectors, which requires a single term.
    errors.push_back(FieldError::Invalid(path.Child("nodeSelectorTerms"), FieldValue::Omit(),
                                         "must have exactly one node selector term"));
  }
}

// Exactly one field for the location of devices must be set. `fields` are the fields that are set,
// `all` is the text with all of them.
void CheckOneOf(FieldErrorList& errors, const std::vector<std::string_view>& fields,
                std::string_view all, std::string_view when, const FieldPath& path) {
  std::string text = "exactly one of " + std::string(all) + " is required" + std::string(when);
  if (fields.empty()) {
    errors.push_back(FieldError::Required(path, std::move(text)));
  } else if (fields.size() > 1) {
    std::string set;
    for (std::string_view field : fields) {
      set.append(set.empty() ? "{`" : ", `").append(field).append("`");
    }
    errors.push_back(FieldError::Invalid(path, set + "}", text + ", but multiple fields are set"));
  }
}

void CheckSlicePlacement(FieldErrorList& errors, const ResourceSliceSpec& spec,
                         const FieldPath& path) {
  std::vector<std::string_view> fields;
  if (spec.nodeName) {
    fields.push_back("nodeName");
    CheckNodeName(errors, *spec.nodeName, path.Child("nodeName"));
  }
  if (spec.nodeSelector) {
    fields.push_back("nodeSelector");
    CheckNodeSelector(errors, *spec.nodeSelector, path.Child("nodeSelector"));
  }
  if (spec.allNodes) {
    fields.push_back("allNodes");
    CheckTrue(errors, *spec.allNodes, path.Child("allNodes"));
  }
  if (spec.perDeviceNodeSelection) {
    fields.push_back("perDeviceNodeSelection");
    CheckTrue(errors, *spec.perDeviceNodeSelection, path.Child("perDeviceNodeSelection"));
  }
  CheckOneOf(errors, fields, "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`", "",
             path);
}

void CheckDevicePlacement(FieldErrorList& errors, const Device& device, bool per_device,
                          const FieldPath& path) {
  std::vector<std::string_view> fields;
  if (device.nodeName) fields.push_back("nodeName");
  if (device.nodeSelector) fields.push_back("nodeSelector");
  if (device.allNodes) fields.push_back("allNodes");
  if (!per_device) {
    for (std::string_view field : fields) {
      errors.push_back(FieldError::Invalid(
          path.Child(field), FieldValue::Omit(),
          std::string(field) + " can only be specified when `perDeviceNodeSelection` is set to "
                               "true in ResourceSliceSpec"));
    }
    return;
  }
  if (device.nodeName) CheckNodeName(errors, *device.nodeName, path.Child("nodeName"));
  if (device.nodeSelector) {
    CheckNodeSelector(errors, *device.nodeSelector, path.Child("nodeSelector"));
  }
  if (device.allNodes) CheckTrue(errors, *device.allNodes, path.Child("allNodes"));
  CheckOneOf(errors, fields, "`nodeName`, `nodeSelector`, or `allNodes`",
             " when `perDeviceNodeSelection` is set to true in the ResourceSlice spec", path);
}

void CheckProperties(FieldErrorList& errors, const Device& device, const FieldPath& path) {
  FieldPath attributes = path.Child("attributes"), capacity = path.Child("capacity");
  for (const auto& [name, attribute] : device.attributes) {
    Append(errors, ValidateQualifiedName(name, attributes));
    CheckAttribute(errors, attribute, attributes.Key(name));
  }
  for (const auto& [name, amount] : device.capacity) {
    Append(errors, ValidateQualifiedName(name, capacity));
  }
  size_t properties = device.attributes.size() + device.capacity.size();
  if (properties > kMaxProperties) {
    errors.push_back(
        FieldError::Invalid(path, static_cast<int64_t>(properties),
                            "the total number of attributes and capacities must not exceed " +
                                std::to_string(kMaxProperties)));
  }
}

// Validates counters by name; at least one is required.
void CheckCounters(FieldErrorList& errors, const Map<resource::v1::Counter>& counters,
                   const FieldPath& path) {
  if (counters.empty()) errors.push_back(FieldError::Required(path));
  for (const auto& [name, counter] : counters) Append(errors, ValidateLabel(name, path));
}

void CheckBindingConditions(FieldErrorList& errors, const Device& device, const FieldPath& path) {
  auto check = [](const std::string& type, const FieldPath& at) {
    FieldErrorList found;
    AppendInvalid(found, at, type, validation::IsQualifiedName(type));
    return found;
  };
  auto key = [](const std::string& type) { return type; };
  FieldPath success = path.Child("bindingConditions"),
            failure = path.Child("bindingFailureConditions");
  CheckSet(errors, device.bindingConditions, kMaxBindingConditions, success, key, check);
  CheckSet(errors, device.bindingFailureConditions, kMaxBindingConditions, failure, key, check);
  if (!device.bindingConditions.empty() && device.bindingFailureConditions.empty()) {
    errors.push_back(
        FieldError::Invalid(failure, device.bindingFailureConditions,
                            "bindingFailureConditions are required to use bindingConditions"));
  }
  if (device.bindingConditions.empty() && !device.bindingFailureConditions.empty()) {
    errors.push_back(
        FieldError::Invalid(success, device.bindingConditions,
                            "bindingConditions are required to use bindingFailureConditions"));
  }
}

FieldErrorList CheckDevice(const Device& device, bool per_device, const FieldPath& path) {
  FieldErrorList errors = ValidateLabel(device.name, path.Child("name"));
  CheckProperties(errors, device, path);
  CheckEach(errors, device.taints, kMaxTaints, path.Child("taints"), ValidateTaint);
  CheckSet(
      errors, device.consumesCounters, kMaxCounterSets, path.Child("consumesCounters"),
      [](const auto& consumption) { return consumption.counterSet; },
      [](const auto& consumption, const FieldPath& at) {
        FieldErrorList found;
        if (consumption.counterSet.empty()) {
          found.push_back(FieldError::Required(at.Child("counterSet")));
        }
        CheckCounters(found, consumption.counters, at.Child("counters"));
        return found;
      });
  CheckDevicePlacement(errors, device, per_device, path);
  CheckBindingConditions(errors, device, path);
  return errors;
}

void CheckPool(FieldErrorList& errors, const resource::v1::ResourcePool& pool,
               const FieldPath& path) {
  Append(errors, ValidatePoolName(pool.name, path.Child("name")));
  if (pool.resourceSliceCount <= 0) {
    errors.push_back(FieldError::Invalid(path.Child("resourceSliceCount"), pool.resourceSliceCount,
                                         "must be greater than zero"));
  }
  if (pool.generation < 0) {
    errors.push_back(FieldError::Invalid(path.Child("generation"), pool.generation,
                                         "must be greater than or equal to zero"));
  }
}

}  // namespace

FieldErrorList ValidateSliceSpec(const ResourceSliceSpec& spec, const FieldPath& path) {
  FieldErrorList errors = ValidateDriverName(spec.driver, path.Child("driver"));
  CheckPool(errors, spec.pool, path.Child("pool"));
  CheckSlicePlacement(errors, spec, path);
  bool per_device = spec.perDeviceNodeSelection.value_or(false);
  CheckSet(
      errors, spec.devices, kMaxDevices, path.Child("devices"),
      [](const Device& device) { return device.name; },
      [per_device](const Device& device, const FieldPath& at) {
        return CheckDevice(device, per_device, at);
      });
  CheckSet(
      errors, spec.sharedCounters, kMaxCounterSets, path.Child("sharedCounters"),
      [](const auto& set) { return set.name; },
      [](const auto& set, const FieldPath& at) {
        FieldErrorList found = ValidateLabel(set.name, at.Child("name"));
        CheckCounters(found, set.counters, at.Child("counters"));
        return found;
      });
  return errors;
}

}  // namespace cox::apiserver::devices
