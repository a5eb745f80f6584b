// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "api/storage/v1.h"
#include "apiserver/registry/kinds/core/volume/persistent_volume_validation.h"
#include "apiserver/registry/kinds/core/volume/volume_source_validation.h"
#include "apiserver/registry/kinds/storage/kinds.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace sv = storage::v1;
using sv::VolumeAttachment;

constexpr size_t kMaxMetadataBytes = 256 * 1024;
constexpr size_t kMaxErrorBytes = 1024;
constexpr std::string_view kExactlyOne =
    "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

FieldErrorList ValidateSource(const sv::VolumeAttachmentSource& source, const FieldPath& path) {
  if (!source.inlineVolumeSpec && !source.persistentVolumeName) {
    return {FieldError::Required(path, std::string(kExactlyOne))};
  }
  if (source.inlineVolumeSpec && source.persistentVolumeName) {
    return {FieldError::Forbidden(path, std::string(kExactlyOne))};
  }
  if (source.inlineVolumeSpec) {
    return ValidatePersistentVolumeSpec(*source.inlineVolumeSpec, VolumeSpecPlace::kInline,
                                        path.Child("inlineVolumeSpec"));
  }
  FieldErrorList errors;
  const FieldPath name = path.Child("persistentVolumeName");
  if (source.persistentVolumeName->empty()) {
    errors.push_back(FieldError::Required(name, "must specify non empty persistentVolumeName"));
  }
  AppendInvalid(errors, name, *source.persistentVolumeName,
                validation::NameIsDNSSubdomain(*source.persistentVolumeName, false));
  return errors;
}

FieldErrorList ValidateStatus(const sv::VolumeAttachmentStatus& status, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath metadata = path.Child("attachmentMetadata");
  size_t bytes = 0;
  for (const auto& [key, value] : status.attachmentMetadata) {
    if (key.empty()) {
      errors.push_back(FieldError::Invalid(metadata, key, "field can not be empty."));
    }
    bytes += key.size() + value.size();
  }
  if (bytes > kMaxMetadataBytes) {
    errors.push_back(FieldError::TooLong(metadata, kMaxMetadataBytes));
  }
  auto check_error = [&](const Box<sv::VolumeError>& error, std::string_view field) {
    if (error && error->message.size() > kMaxErrorBytes) {
      errors.push_back(FieldError::TooLong(path.Child(field).Child("message"), kMaxErrorBytes));
    }
  };
  check_error(status.attachError, "attachError");
  check_error(status.detachError, "detachError");
  return errors;
}

FieldErrorList ValidateAttachment(const VolumeAttachment& object) {
  const FieldPath spec("spec");
  FieldErrorList errors = ValidateCsiDriverName(object.spec.attacher, spec.Child("attacher"));
  Append(errors, ValidateSource(object.spec.source, spec.Child("source")));
  AppendInvalid(errors, spec.Child("nodeName"), object.spec.nodeName,
                validation::NameIsDNSSubdomain(object.spec.nodeName, false));
  Append(errors, ValidateStatus(object.status, FieldPath("status")));
  return errors;
}

FieldErrorList ValidateAttachmentUpdate(const VolumeAttachment& object,
                                        const VolumeAttachment& old) {
  FieldErrorList errors = ValidateAttachment(object);
  if (!DeepEqual(object.spec, old.spec)) {
    errors.push_back(validation::ImmutableField(FieldPath("spec"), InternalValue(object.spec)));
  }
  return errors;
}

// Attachers update only the status, not even labels.
class VolumeAttachmentStatusStrategy final : public UpdateStrategyOf<VolumeAttachment> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"metadata", "spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, VolumeAttachment& object,
                     const VolumeAttachment& old) const override {
    object.spec = old.spec;
    meta::v1::ObjectMeta& meta = object.metadata;
    meta.deletionTimestamp = old.metadata.deletionTimestamp;
    meta.generation = old.metadata.generation;
    meta.labels = old.metadata.labels;
    meta.annotations = old.metadata.annotations;
    meta.finalizers = old.metadata.finalizers;
    meta.ownerReferences = old.metadata.ownerReferences;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const VolumeAttachment& object,
                             const VolumeAttachment& old) const override {
    return ValidateAttachmentUpdate(object, old);
  }
};

class VolumeAttachmentStrategy final
    : public SpecAndStatusStrategy<VolumeAttachment, VolumeAttachmentStatusStrategy,
                                   Generation::kNone> {
 public:
  std::string_view storage_prefix() const override { return "volumeattachments"; }
  bool ReturnsDeletedObject() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Attacher", .type = "string", .format = "name"},
        {.name = "PV", .type = "string"},
        {.name = "Node", .type = "string"},
        {.name = "Attached", .type = "boolean"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const VolumeAttachment& object) const override {
    return ValidateAttachment(object);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const VolumeAttachment& object,
                             const VolumeAttachment& old) const override {
    return ValidateAttachmentUpdate(object, old);
  }
  Cells RowOf(const VolumeAttachment& object, const Time& now) const override {
    return {object.metadata.name,
            object.spec.attacher,
            object.spec.source.persistentVolumeName.value_or(""),
            object.spec.nodeName,
            object.status.attached,
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewVolumeAttachmentStrategy() { return std::make_unique<VolumeAttachmentStrategy>(); }

}  // namespace cox::apiserver
