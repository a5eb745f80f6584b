// SPDX-License-Identifier: Apache-2.0
#include "object/validation/object_meta.h"

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace cox::validation {
namespace {

FieldValue TimeValue(const std::optional<Time>& time) {
  if (!time || time->IsZero()) return nullptr;
  return time->ToString();
}

void CheckName(const ObjectMetaView& meta, NameRule rule, const FieldPath& path,
               FieldErrorList& out) {
  if (!meta.generate_name.empty()) {
    for (std::string& message : rule(meta.generate_name, true)) {
      out.push_back(
          FieldError::Invalid(path.Child("generateName"), meta.generate_name, std::move(message)));
    }
  }
  // The caller has already generated the name.
  if (meta.name.empty()) {
    out.push_back(FieldError::Required(path.Child("name"), "name or generateName is required"));
    return;
  }
  for (std::string& message : rule(meta.name, false)) {
    out.push_back(FieldError::Invalid(path.Child("name"), meta.name, std::move(message)));
  }
}

void CheckNamespace(const ObjectMetaView& meta, bool namespaced, const FieldPath& path,
                    FieldErrorList& out) {
  if (!namespaced) {
    if (!meta.namespace_.empty()) {
      out.push_back(FieldError::Forbidden(path, "not allowed on this type"));
    }
    return;
  }
  if (meta.namespace_.empty()) {
    out.push_back(FieldError::Required(path));
    return;
  }
  for (std::string& message : NameIsDNSLabel(meta.namespace_, false)) {
    out.push_back(FieldError::Invalid(path, meta.namespace_, std::move(message)));
  }
}

void CheckImmutable(const ObjectMetaView& meta, const ObjectMetaView& old, const FieldPath& path,
                    FieldErrorList& out) {
  if (meta.name != old.name) out.push_back(ImmutableField(path.Child("name"), meta.name));
  if (meta.namespace_ != old.namespace_) {
    out.push_back(ImmutableField(path.Child("namespace"), meta.namespace_));
  }
  if (meta.uid != old.uid) out.push_back(ImmutableField(path.Child("uid"), meta.uid));
  if (meta.creation_timestamp != old.creation_timestamp) {
    out.push_back(
        ImmutableField(path.Child("creationTimestamp"), TimeValue(meta.creation_timestamp)));
  }
  if (meta.deletion_timestamp != old.deletion_timestamp) {
    out.push_back(
        ImmutableField(path.Child("deletionTimestamp"), TimeValue(meta.deletion_timestamp)));
  }
  if (meta.deletion_grace_period_seconds != old.deletion_grace_period_seconds) {
    out.push_back(ImmutableField(path.Child("deletionGracePeriodSeconds"),
                                 meta.deletion_grace_period_seconds
                                     ? FieldValue(*meta.deletion_grace_period_seconds)
                                     : FieldValue(nullptr)));
  }
}

}  // namespace

FieldErrorList ValidateObjectMeta(const ObjectMetaView& meta, bool namespaced, NameRule name_rule,
                                  const FieldPath& path) {
  FieldErrorList out;
  CheckName(meta, name_rule, path, out);
  CheckNamespace(meta, namespaced, path.Child("namespace"), out);
  Append(out, ValidateNonnegativeField(meta.generation, path.Child("generation")));
  Append(out, ValidateLabels(meta.labels, path.Child("labels")));
  Append(out, ValidateAnnotations(meta.annotations, path.Child("annotations")));
  Append(out, ValidateOwnerReferences(meta.owner_references, path.Child("ownerReferences")));
  Append(out, ValidateFinalizers(meta.finalizers, path.Child("finalizers")));
  Append(out, ValidateManagedFields(meta.managed_fields, path.Child("managedFields")));
  return out;
}

FieldErrorList ValidateObjectMetaUpdate(const ObjectMetaView& meta, const ObjectMetaView& old,
                                        const FieldPath& path) {
  FieldErrorList out;
  if (old.deletion_timestamp) {
    Append(out, ValidateNoNewFinalizers(meta.finalizers, old.finalizers, path.Child("finalizers")));
  }
  if (meta.resource_version.empty()) {
    out.push_back(FieldError::Invalid(path.Child("resourceVersion"), meta.resource_version,
                                      "must be specified for an update"));
  }
  if (meta.generation < old.generation) {
    out.push_back(
        FieldError::Invalid(path.Child("generation"), meta.generation, "must not be decremented"));
  }
  CheckImmutable(meta, old, path, out);
  Append(out, ValidateLabels(meta.labels, path.Child("labels")));
  Append(out, ValidateAnnotations(meta.annotations, path.Child("annotations")));
  Append(out, ValidateOwnerReferences(meta.owner_references, path.Child("ownerReferences")));
  Append(out, ValidateManagedFields(meta.managed_fields, path.Child("managedFields")));
  return out;
}

FieldErrorList ValidateLabelName(std::string_view key, const FieldPath& path) {
  FieldErrorList out;
  for (std::string& message : IsLabelKey(key)) {
    out.push_back(
        FieldError::Invalid(path, key, std::move(message)).WithOrigin("format=k8s-label-key"));
  }
  return out;
}

FieldErrorList ValidateLabels(StringPairs labels, const FieldPath& path) {
  FieldErrorList out;
  for (const auto& [key, value] : labels) {
    Append(out, ValidateLabelName(key, path));
    for (std::string& message : IsValidLabelValue(value)) {
      out.push_back(FieldError::Invalid(path, value, std::move(message))
                        .WithOrigin("format=k8s-label-value"));
    }
  }
  return out;
}

FieldErrorList ValidateAnnotations(StringPairs annotations, const FieldPath& path) {
  FieldErrorList out;
  size_t total = 0;
  for (const auto& [key, value] : annotations) {
    total += key.size() + value.size();
    // Upper case is accepted in the prefix, because annotations are older than the rule.
    std::string lower(key);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    for (std::string& message : IsQualifiedName(lower)) {
      out.push_back(
          FieldError::Invalid(path, key, std::move(message)).WithOrigin("format=k8s-label-key"));
    }
  }
  if (total > kTotalAnnotationSizeLimit) {
    out.push_back(FieldError::TooLong(path, static_cast<int64_t>(kTotalAnnotationSizeLimit)));
  }
  return out;
}

FieldErrorList ValidateFinalizerName(std::string_view name, const FieldPath& path) {
  FieldErrorList out;
  for (std::string& message : IsQualifiedName(name)) {
    out.push_back(FieldError::Invalid(path, name, std::move(message)));
  }
  return out;
}

FieldErrorList ValidateFinalizers(std::span<const std::string> finalizers, const FieldPath& path) {
  FieldErrorList out;
  bool orphan = false, foreground = false;
  for (const std::string& finalizer : finalizers) {
    Append(out, ValidateFinalizerName(finalizer, path));
    orphan = orphan || finalizer == "orphan";
    foreground = foreground || finalizer == "foregroundDeletion";
  }
  if (orphan && foreground) {
    out.push_back(FieldError::Invalid(
        path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return out;
}

FieldErrorList ValidateNoNewFinalizers(std::span<const std::string> finalizers,
                                       std::span<const std::string> old, const FieldPath& path) {
  std::set<std::string_view> added(finalizers.begin(), finalizers.end());
  for (const std::string& finalizer : old) added.erase(finalizer);
  if (added.empty()) return {};
  std::string list;
  for (std::string_view finalizer : added) {
    if (!list.empty()) list += ", ";
    AppendQuoted(list, finalizer);
  }
  return {FieldError::Forbidden(path,
                                "no new finalizers can be added if the object is being deleted, "
                                "found new finalizers []string{" +
                                    list + "}")};
}

FieldErrorList ValidateManagedFields(std::span<const ManagedFieldsEntryView> entries,
                                     const FieldPath& path) {
  FieldErrorList out;
  for (size_t i = 0; i < entries.size(); ++i) {
    const ManagedFieldsEntryView& entry = entries[i];
    const FieldPath at = path.Index(i);
    if (entry.operation != "Apply" && entry.operation != "Update") {
      out.push_back(FieldError::Invalid(at.Child("operation"), entry.operation,
                                        "must be `Apply` or `Update`"));
    }
    if (!entry.fields_type.empty() && entry.fields_type != "FieldsV1") {
      out.push_back(
          FieldError::Invalid(at.Child("fieldsType"), entry.fields_type, "must be `FieldsV1`"));
    }
    Append(out, ValidateFieldManager(entry.manager, at.Child("manager")));
    if (entry.subresource.size() > kSubresourceMaxLength) {
      out.push_back(FieldError::TooLong(at.Child("subresource"),
                                        static_cast<int64_t>(kSubresourceMaxLength)));
    }
  }
  return out;
}

FieldErrorList ValidateFieldManager(std::string_view manager, const FieldPath& path) {
  FieldErrorList out;
  // The limit is in bytes, because the server stores them.
  if (manager.size() > kFieldManagerMaxLength) {
    out.push_back(FieldError::TooLong(path, static_cast<int64_t>(kFieldManagerMaxLength)));
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (size_t at = 0; at < manager.size();) {
    const Rune rune = DecodeRune(manager.substr(at));
    if (rune.valid && !IsPrintable(rune.value)) {
      std::string digits;
      for (uint32_t rest = rune.value; rest != 0 || digits.size() < 4; rest >>= 4) {
        digits.insert(digits.begin(), kHex[rest & 15]);
      }
      out.push_back(FieldError::Invalid(
          path, manager,
          "invalid character U+" + digits + " (at position " + std::to_string(at) + ")"));
    }
    at += rune.size;
  }
  return out;
}

FieldErrorList ValidateNonnegativeField(int64_t value, const FieldPath& path) {
  if (value >= 0) return {};
  return {
      FieldError::Invalid(path, value, "must be greater than or equal to 0").WithOrigin("minimum")};
}

FieldError ImmutableField(const FieldPath& path, FieldValue value) {
  return FieldError::Invalid(path, std::move(value), "field is immutable");
}

}  // namespace cox::validation
