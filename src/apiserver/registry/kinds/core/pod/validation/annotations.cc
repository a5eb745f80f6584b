// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::apiserver::pod {
namespace {

// Names of seccomp profiles in annotations: "runtime/default", "localhost/<profile>", ...
FieldErrorList CheckSeccompName(std::string_view profile, const FieldPath& path) {
  if (profile == "runtime/default" || profile == "docker/default" || profile == "unconfined")
    return {};
  constexpr std::string_view kLocalhost = "localhost/";
  if (profile.starts_with(kLocalhost))
    return CheckLocalDescendingPath(profile.substr(kLocalhost.size()), path);
  return {FieldError::Invalid(path, profile, "must be a valid seccomp profile")};
}

FieldErrorList CheckSeccompAnnotations(const Map<std::string>& annotations, const FieldPath& path) {
  FieldErrorList errors;
  if (const std::string* profile = annotations.Get(kSeccompPodAnnotation))
    Append(errors, CheckSeccompName(*profile, path.Child(kSeccompPodAnnotation)));
  for (const auto& [key, value] : annotations) {
    if (key.starts_with(kSeccompContainerPrefix))
      Append(errors, CheckSeccompName(value, path.Child(key)));
  }
  return errors;
}

bool HasContainer(const PodSpec& spec, std::string_view name) {
  for (const Container& container : spec.initContainers)
    if (container.name == name) return true;
  for (const Container& container : spec.containers)
    if (container.name == name) return true;
  for (const EphemeralContainer& container : spec.ephemeralContainers)
    if (container.ephemeralContainerCommon.name == name) return true;
  return false;
}

FieldErrorList CheckAppArmorAnnotations(const Map<std::string>& annotations, const PodSpec& spec,
                                        const FieldPath& path) {
  FieldErrorList errors;
  for (const auto& [key, profile] : annotations) {
    if (!key.starts_with(kAppArmorPrefix)) continue;
    std::string_view container = std::string_view(key).substr(kAppArmorPrefix.size());
    if (!HasContainer(spec, container))
      errors.push_back(FieldError::Invalid(path.Key(key), container, "container not found"));
    if (!profile.empty() && profile != "runtime/default" && profile != "unconfined" &&
        !profile.starts_with("localhost/")) {
      errors.push_back(FieldError::Invalid(path.Key(key), profile,
                                           "invalid AppArmor profile name: " + Quote(profile)));
    }
  }
  return errors;
}

FieldErrorList CheckTolerationsAnnotation(const std::string& text, const FieldPath& path) {
  Result<Value> value = json::Parse(text);
  if (!value.ok()) {
    return {
        FieldError::Invalid(path, kTolerationsAnnotation, std::string(value.status().message()))};
  }
  List<core::v1::Toleration> tolerations;
  if (value->is_array()) {
    for (const Value& item : value->as_array()) {
      Result<core::v1::Toleration> toleration = json::FromValue<core::v1::Toleration>(item);
      if (!toleration.ok()) {
        return {FieldError::Invalid(path, kTolerationsAnnotation,
                                    std::string(toleration.status().message()))};
      }
      tolerations.push_back(*std::move(toleration));
    }
  }
  return ValidateTolerations(tolerations, path.Child(kTolerationsAnnotation));
}

bool IsInt32(std::string_view text) {
  int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && text != "-0";
}

}  // namespace

FieldErrorList CheckPodAnnotations(const meta::v1::ObjectMeta& meta, const PodSpec& spec,
                                   const FieldPath& path, const PodValidationOptions& options) {
  FieldErrorList errors;
  const Map<std::string>& annotations = meta.annotations;
  if (const std::string* mirror = annotations.Get(kMirrorAnnotation);
      mirror != nullptr && spec.nodeName.empty()) {
    errors.push_back(FieldError::Invalid(path.Key(kMirrorAnnotation), *mirror,
                                         "must set spec.nodeName if mirror pod annotation is set"));
  }
  if (const std::string* tolerations = annotations.Get(kTolerationsAnnotation);
      tolerations != nullptr && !tolerations->empty()) {
    Append(errors, CheckTolerationsAnnotation(*tolerations, path));
  }
  if (const std::string* cost = annotations.Get(kDeletionCostAnnotation);
      cost != nullptr && !options.allow_any_deletion_cost && !IsInt32(*cost)) {
    errors.push_back(
        FieldError::Invalid(path.Key(kDeletionCostAnnotation), *cost, "must be a 32bit integer"));
  }
  Append(errors, CheckSeccompAnnotations(annotations, path));
  Append(errors, CheckAppArmorAnnotations(annotations, spec, path));
  return errors;
}

}  // namespace cox::apiserver::pod
