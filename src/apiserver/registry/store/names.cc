// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/store/names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

// Characters that cannot form words: no vowels, no digits that look like letters.
constexpr std::string_view kSafeCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kSuffixLength = 5;
constexpr size_t kMaxNameLength = 63;

template <size_t N>
std::array<uint8_t, N> RandomBytes() {
  std::array<uint8_t, N> bytes;
  FillRandom(bytes);
  return bytes;
}

// A view of a meta, with the arrays that the view refers to.
struct MetaView {
  explicit MetaView(const meta::v1::ObjectMeta& meta) {
    for (const auto& [key, value] : meta.labels) labels.emplace_back(key, value);
    for (const auto& [key, value] : meta.annotations) annotations.emplace_back(key, value);
    for (const meta::v1::OwnerReference& owner : meta.ownerReferences) {
      owners.push_back({.api_version = owner.apiVersion,
                        .kind = owner.kind,
                        .name = owner.name,
                        .uid = owner.uid,
                        .controller = owner.controller,
                        .block_owner_deletion = owner.blockOwnerDeletion});
    }
    for (const meta::v1::ManagedFieldsEntry& entry : meta.managedFields) {
      managers.push_back({.manager = entry.manager,
                          .operation = entry.operation,
                          .fields_type = entry.fieldsType,
                          .subresource = entry.subresource});
    }
    view = {.name = meta.name,
            .generate_name = meta.generateName,
            .namespace_ = meta.namespace_,
            .uid = meta.uid,
            .resource_version = meta.resourceVersion,
            .generation = meta.generation,
            .creation_timestamp = meta.creationTimestamp,
            .deletion_timestamp = meta.deletionTimestamp,
            .deletion_grace_period_seconds = meta.deletionGracePeriodSeconds,
            .labels = labels,
            .annotations = annotations,
            .owner_references = owners,
            .finalizers = meta.finalizers,
            .managed_fields = managers};
  }

  std::vector<validation::StringPair> labels, annotations;
  std::vector<validation::OwnerReferenceView> owners;
  std::vector<validation::ManagedFieldsEntryView> managers;
  validation::ObjectMetaView view;
};

}  // namespace

std::string NewUid() {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<uint8_t, 16> bytes = RandomBytes<16>();
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);  // the RFC's variant
  std::string uid;
  uid.reserve(36);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uid += '-';
    uid += kHex[bytes[i] >> 4];
    uid += kHex[bytes[i] & 15];
  }
  return uid;
}

std::string GenerateName(std::string_view prefix) {
  std::string name(prefix.substr(0, kMaxNameLength - kSuffixLength));
  for (const uint8_t byte : RandomBytes<kSuffixLength>()) {
    name += kSafeCharacters[byte % kSafeCharacters.size()];
  }
  return name;
}

FieldErrorList ValidateMeta(const meta::v1::ObjectMeta& meta, bool namespaced,
                            validation::NameRule name_rule) {
  return validation::ValidateObjectMeta(MetaView(meta).view, namespaced, name_rule,
                                        FieldPath("metadata"));
}

FieldErrorList ValidateFinalizersQualified(const meta::v1::ObjectMeta& meta) {
  static constexpr std::string_view kStandard[] = {"kubernetes", "orphan", "foregroundDeletion"};
  FieldErrorList errors;
  const FieldPath path = FieldPath("metadata").Child("finalizers");
  for (size_t i = 0; i < meta.finalizers.size(); ++i) {
    const std::string& name = meta.finalizers[i];
    const bool standard = std::ranges::find(kStandard, name) != std::end(kStandard);
    if (standard || name.find('/') != std::string::npos) continue;
    errors.push_back(
        FieldError::Invalid(path.Index(i), name,
                            "name is neither a standard finalizer name nor is it fully qualified"));
  }
  return errors;
}

FieldErrorList ValidateMetaUpdate(const meta::v1::ObjectMeta& meta,
                                  const meta::v1::ObjectMeta& old) {
  return validation::ValidateObjectMetaUpdate(MetaView(meta).view, MetaView(old).view,
                                              FieldPath("metadata"));
}

}  // namespace cox::apiserver
