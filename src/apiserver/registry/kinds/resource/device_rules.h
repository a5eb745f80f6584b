// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource/v1.h"
#include "apiserver/registry/store/strategy.h"
#include "object/validation/field_error.h"

// Rules for claims, classes and slices. All functions are pure; errors are at `path` or below.
namespace cox::apiserver::devices {

// Maximum numbers.
inline constexpr size_t kMaxSelectors = 32;
inline constexpr size_t kMaxConfigs = 32;
inline constexpr size_t kMaxRequests = 32;
inline constexpr size_t kMaxConstraints = 32;
inline constexpr size_t kMaxSubRequests = 8;
inline constexpr size_t kMaxTolerations = 16;
inline constexpr size_t kMaxTaints = 16;
inline constexpr size_t kMaxResults = 32;
inline constexpr size_t kMaxConsumers = 256;
inline constexpr size_t kMaxDevices = 128;
inline constexpr size_t kMaxProperties = 32;  // attributes and capacities of a device
inline constexpr size_t kMaxCounterSets = 8;
inline constexpr size_t kMaxBindingConditions = 4;
// Maximum lengths, in bytes.
inline constexpr size_t kMaxExpression = 10 * 1024;
inline constexpr size_t kMaxRawBytes = 10 * 1024;
inline constexpr size_t kMaxDriverName = 63;
inline constexpr size_t kMaxPoolName = 253;
inline constexpr size_t kMaxIdentifier = 32;
inline constexpr size_t kMaxAttributeValue = 64;

// Names.
FieldErrorList ValidateDriverName(std::string_view name, const FieldPath& path);
FieldErrorList ValidatePoolName(std::string_view name, const FieldPath& path);
FieldErrorList ValidateLabel(std::string_view name, const FieldPath& path);  // devices, requests
FieldErrorList ValidateSubdomain(std::string_view name, const FieldPath& path);  // required
// [domain/]identifier: the name of an attribute or a capacity.
FieldErrorList ValidateQualifiedName(std::string_view name, const FieldPath& path);
// domain/identifier.
FieldErrorList ValidateFullyQualifiedName(std::string_view name, const FieldPath& path);

// Validates only the length of CEL expressions and rejects empty ones.
FieldErrorList ValidateSelectors(const List<resource::v1::DeviceSelector>& selectors,
                                 const FieldPath& path);
FieldErrorList ValidateConfiguration(const resource::v1::DeviceConfiguration& configuration,
                                     const FieldPath& path);
FieldErrorList ValidateToleration(const resource::v1::DeviceToleration& toleration,
                                  const FieldPath& path);
FieldErrorList ValidateTaint(const resource::v1::DeviceTaint& taint, const FieldPath& path);
// A JSON object of limited size, to be interpreted by a driver.
FieldErrorList ValidateRawObject(const RawJson& raw, const FieldPath& path);

// Upper case is allowed for old drivers, with a warning.
void WarnOnDriverName(Warnings& warnings, std::string_view name, const FieldPath& path);

// Validates each item with `check`, and the number of items.
template <class T, class Check>
void CheckEach(FieldErrorList& errors, const List<T>& items, size_t max, const FieldPath& path,
               Check&& check) {
  for (size_t i = 0; i < items.size(); ++i) Append(errors, check(items[i], path.Index(i)));
  if (items.size() > max) {
    errors.push_back(
        FieldError::TooMany(path, static_cast<int64_t>(items.size()), static_cast<int64_t>(max)));
  }
}

// The same for items that must be unique by `key`.
template <class T, class Key, class Check>
void CheckSet(FieldErrorList& errors, const List<T>& items, size_t max, const FieldPath& path,
              Key&& key, Check&& check) {
  CheckEach(errors, items, max, path, check);
  std::set<std::string> seen;
  for (size_t i = 0; i < items.size(); ++i) {
    std::string name(key(items[i]));
    if (!seen.insert(name).second) errors.push_back(FieldError::Duplicate(path.Index(i), name));
  }
}

}  // namespace cox::apiserver::devices
