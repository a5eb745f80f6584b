// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "object/scalar/time.h"
#include "object/validation/field_error.h"
#include "object/validation/names.h"

// Validation of metadata, the same for every kind.
namespace cox::validation {

// The entries of a map, sorted by key, which is the order of the errors.
using StringPair = std::pair<std::string_view, std::string_view>;
using StringPairs = std::span<const StringPair>;

struct OwnerReferenceView {
  std::string_view api_version, kind, name, uid;
  std::optional<bool> controller, block_owner_deletion;
};

struct ManagedFieldsEntryView {
  std::string_view manager, operation, fields_type, subresource;
};

// The validated fields, borrowed from an ObjectMeta or from JSON that outlives the call.
struct ObjectMetaView {
  std::string_view name, generate_name, namespace_, uid, resource_version;  // NOLINT: a keyword
  int64_t generation = 0;
  Time creation_timestamp;
  std::optional<Time> deletion_timestamp;
  std::optional<int64_t> deletion_grace_period_seconds;
  StringPairs labels, annotations;
  std::span<const OwnerReferenceView> owner_references;
  std::span<const std::string> finalizers;
  std::span<const ManagedFieldsEntryView> managed_fields;
};

inline constexpr size_t kTotalAnnotationSizeLimit = 256 * 1024;  // bytes of all keys and values
inline constexpr size_t kFieldManagerMaxLength = 128;
inline constexpr size_t kSubresourceMaxLength = 256;

// Validates a new object. An object of a cluster-scoped kind (`namespaced` false) must not have a
// namespace.
FieldErrorList ValidateObjectMeta(const ObjectMetaView& meta, bool namespaced, NameRule name_rule,
                                  const FieldPath& path);
// Validates an object that replaces `old`: first immutable fields, then the common rules.
FieldErrorList ValidateObjectMetaUpdate(const ObjectMetaView& meta, const ObjectMetaView& old,
                                        const FieldPath& path);

// Validation of single fields.
FieldErrorList ValidateLabelName(std::string_view key, const FieldPath& path);
FieldErrorList ValidateLabels(StringPairs labels, const FieldPath& path);
FieldErrorList ValidateAnnotations(StringPairs annotations, const FieldPath& path);
FieldErrorList ValidateOwnerReferences(std::span<const OwnerReferenceView> references,
                                       const FieldPath& path);
FieldErrorList ValidateFinalizerName(std::string_view name, const FieldPath& path);
FieldErrorList ValidateFinalizers(std::span<const std::string> finalizers, const FieldPath& path);
// While an object is being deleted, finalizers can only be removed.
FieldErrorList ValidateNoNewFinalizers(std::span<const std::string> finalizers,
                                       std::span<const std::string> old, const FieldPath& path);
FieldErrorList ValidateManagedFields(std::span<const ManagedFieldsEntryView> entries,
                                     const FieldPath& path);
FieldErrorList ValidateFieldManager(std::string_view manager, const FieldPath& path);

FieldErrorList ValidateNonnegativeField(int64_t value, const FieldPath& path);
// The error for a changed immutable field; `value` is the new value.
FieldError ImmutableField(const FieldPath& path, FieldValue value);

}  // namespace cox::validation
