// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "api/storage/v1.h"
#include "apiserver/registry/kinds/core/volume/volume_source_validation.h"
#include "apiserver/registry/kinds/storage/kinds.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "base/strings.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

// The kinds that describe CSI drivers and their nodes and capacity.
namespace cox::apiserver {
namespace {

namespace sv = storage::v1;
using sv::CSIDriver;
using sv::CSINode;
using sv::CSIStorageCapacity;

constexpr int64_t kMinTokenSeconds = 10 * 60;
constexpr int64_t kMaxTokenSeconds = int64_t{1} << 32;
constexpr int64_t kMinUpdatePeriodSeconds = 10;
constexpr size_t kMaxNodeId = 256;

FieldErrorList ValidateTokenRequests(const List<sv::TokenRequest>& requests,
                                     const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string> audiences;
  for (size_t i = 0; i < requests.size(); ++i) {
    const FieldPath at = path.Index(i);
    if (!audiences.insert(requests[i].audience).second) {
      errors.push_back(FieldError::Duplicate(at.Child("audience"), requests[i].audience));
      continue;
    }
    if (!requests[i].expirationSeconds) continue;
    const int64_t seconds = *requests[i].expirationSeconds;
    if (seconds < kMinTokenSeconds) {
      errors.push_back(FieldError::Invalid(at.Child("expirationSeconds"), seconds,
                                           "may not specify a duration less than 10 minutes"));
    }
    if (seconds > kMaxTokenSeconds) {
      errors.push_back(FieldError::Invalid(at.Child("expirationSeconds"), seconds,
                                           "may not specify a duration larger than 2^32 seconds"));
    }
  }
  return errors;
}

FieldErrorList ValidateDriverSpec(const sv::CSIDriverSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  auto required = [&](const std::optional<bool>& value, std::string_view field) {
    if (!value) errors.push_back(FieldError::Required(path.Child(field)));
  };
  required(spec.attachRequired, "attachedRequired");  // upstream's spelling in errors
  required(spec.podInfoOnMount, "podInfoOnMount");
  required(spec.storageCapacity, "storageCapacity");
  const FieldPath policy = path.Child("fsGroupPolicy");
  if (!spec.fsGroupPolicy) {
    errors.push_back(FieldError::Required(policy));
  } else if (const std::string& p = *spec.fsGroupPolicy;
             p != "File" && p != "None" && p != "ReadWriteOnceWithFSType") {
    errors.push_back(
        FieldError::NotSupported(policy, p, {"File", "None", "ReadWriteOnceWithFSType"}));
  }
  Append(errors, ValidateTokenRequests(spec.tokenRequests, path.Child("tokenRequests")));
  for (const std::string& mode : spec.volumeLifecycleModes) {
    if (mode != "Persistent" && mode != "Ephemeral") {
      errors.push_back(FieldError::NotSupported(path.Child("volumeLifecycleModes"), mode,
                                                {"Persistent", "Ephemeral"}));
    }
  }
  if (spec.nodeAllocatableUpdatePeriodSeconds &&
      *spec.nodeAllocatableUpdatePeriodSeconds < kMinUpdatePeriodSeconds) {
    errors.push_back(FieldError::Invalid(path.Child("nodeAllocatableUpdatePeriodSeconds"),
                                         *spec.nodeAllocatableUpdatePeriodSeconds,
                                         "must be greater than or equal to 10 seconds"));
  }
  if (spec.serviceAccountTokenInSecrets && spec.tokenRequests.empty()) {
    errors.push_back(FieldError::Invalid(path.Child("serviceAccountTokenInSecrets"),
                                         *spec.serviceAccountTokenInSecrets,
                                         "must be unset when tokenRequests is empty"));
  }
  return errors;
}

class CsiDriverStrategy final : public StrategyOf<CSIDriver> {
 public:
  std::string_view storage_prefix() const override { return "csidrivers"; }
  bool ReturnsDeletedObject() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "AttachRequired", .type = "boolean"},
        {.name = "PodInfoOnMount", .type = "boolean"},
        {.name = "StorageCapacity", .type = "boolean"},
        {.name = "TokenRequests", .type = "string"},
        {.name = "RequiresRepublish", .type = "boolean"},
        {.name = "Modes", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  void Default(CSIDriver& object) const override {
    sv::CSIDriverSpec& spec = object.spec;
    if (!spec.attachRequired) spec.attachRequired = true;
    if (!spec.podInfoOnMount) spec.podInfoOnMount = false;
    if (!spec.storageCapacity) spec.storageCapacity = false;
    if (!spec.fsGroupPolicy) spec.fsGroupPolicy = "ReadWriteOnceWithFSType";
    if (spec.volumeLifecycleModes.empty()) spec.volumeLifecycleModes = {"Persistent"};
    if (!spec.requiresRepublish) spec.requiresRepublish = false;
    if (!spec.seLinuxMount) spec.seLinuxMount = false;
  }
  void PrepareUpdate(const WriteContext&, CSIDriver& object, const CSIDriver& old) const override {
    object.metadata.generation =
        old.metadata.generation + (DeepEqual(object.spec, old.spec) ? 0 : 1);
  }
  FieldErrorList Check(const WriteContext&, const CSIDriver& object) const override {
    return ValidateDriverSpec(object.spec, FieldPath("spec"));
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const CSIDriver& object,
                             const CSIDriver& old) const override {
    FieldErrorList errors = Check(w, object);
    if (object.spec.attachRequired != old.spec.attachRequired) {
      errors.push_back(validation::ImmutableField(FieldPath("spec").Child("attachedRequired"),
                                                  object.spec.attachRequired.value_or(false)));
    }
    if (object.spec.volumeLifecycleModes != old.spec.volumeLifecycleModes) {
      errors.push_back(validation::ImmutableField(FieldPath("spec").Child("volumeLifecycleModes"),
                                                  object.spec.volumeLifecycleModes));
    }
    return errors;
  }
  Warnings Warn(const WriteContext&, const CSIDriver& object, const CSIDriver*) const override {
    if (object.spec.tokenRequests.empty() || object.spec.serviceAccountTokenInSecrets) return {};
    return {
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true "
        "to prevent possible logging of tokens in volume attributes"};
  }
  Cells RowOf(const CSIDriver& object, const Time& now) const override {
    List<std::string> audiences;
    for (const auto& request : object.spec.tokenRequests) audiences.push_back(request.audience);
    return {object.metadata.name,
            object.spec.attachRequired.value_or(true),
            object.spec.podInfoOnMount.value_or(false),
            object.spec.storageCapacity.value_or(false),
            audiences.empty() ? "<unset>" : Join(audiences, ","),
            object.spec.requiresRepublish.value_or(false),
            object.spec.volumeLifecycleModes.empty() ? "<none>"
                                                     : Join(object.spec.volumeLifecycleModes, ","),
            Age(object.metadata.creationTimestamp, now)};
  }
};

FieldErrorList ValidateNodeDriver(const sv::CSINodeDriver& driver, std::set<std::string>* names,
                                  const FieldPath& path) {
  FieldErrorList errors = ValidateCsiDriverName(driver.name, path.Child("name"));
  const FieldPath id = path.Child("nodeID");
  if (driver.nodeID.empty()) {
    errors.push_back(FieldError::Required(id));
  } else if (driver.nodeID.size() > kMaxNodeId) {
    errors.push_back(FieldError::Invalid(
        id, driver.nodeID, "must be " + std::to_string(kMaxNodeId) + " characters or less"));
  }
  if (driver.allocatable && driver.allocatable->count) {
    Append(errors, validation::ValidateNonnegativeField(*driver.allocatable->count,
                                                        path.Child("allocatable").Child("count")));
  }
  if (!names->insert(driver.name).second) {
    errors.push_back(FieldError::Duplicate(path.Child("name"), driver.name));
  }
  std::set<std::string> keys;
  for (const std::string& key : driver.topologyKeys) {
    if (key.empty()) errors.push_back(FieldError::Required(path));
    if (!keys.insert(key).second) errors.push_back(FieldError::Duplicate(path, key));
    AppendInvalid(errors, path, key, validation::IsQualifiedName(key));
  }
  return errors;
}

class CsiNodeStrategy final : public StrategyOf<CSINode> {
 public:
  std::string_view storage_prefix() const override { return "csinodes"; }
  bool ReturnsDeletedObject() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Drivers", .type = "integer"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const CSINode& object) const override {
    FieldErrorList errors;
    std::set<std::string> names;
    const FieldPath drivers = FieldPath("spec").Child("drivers");
    for (size_t i = 0; i < object.spec.drivers.size(); ++i) {
      Append(errors, ValidateNodeDriver(object.spec.drivers[i], &names, drivers.Index(i)));
    }
    return errors;
  }
  // Drivers can be added and removed. Of an existing driver only the allocatable count may change.
  FieldErrorList CheckUpdate(const WriteContext& w, const CSINode& object,
                             const CSINode& old) const override {
    FieldErrorList errors = Check(w, object);
    for (const sv::CSINodeDriver& before : old.spec.drivers) {
      for (const sv::CSINodeDriver& driver : object.spec.drivers) {
        if (driver.name != before.name) continue;
        sv::CSINodeDriver compared = driver;
        compared.allocatable = before.allocatable;
        if (!DeepEqual(compared, before)) {
          errors.push_back(validation::ImmutableField(FieldPath("spec").Child("drivers"),
                                                      InternalValue(driver)));
        }
      }
    }
    return errors;
  }
  Cells RowOf(const CSINode& object, const Time& now) const override {
    return {object.metadata.name, static_cast<int64_t>(object.spec.drivers.size()),
            Age(object.metadata.creationTimestamp, now)};
  }
};

class CsiStorageCapacityStrategy final : public StrategyOf<CSIStorageCapacity> {
 public:
  std::string_view storage_prefix() const override { return "csistoragecapacities"; }
  bool AllowUnconditionalUpdate() const override { return false; }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn, {.name = "Created At", .type = "date"}};
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const CSIStorageCapacity& object) const override {
    FieldErrorList errors =
        ValidateLabelSelector(object.nodeTopology.get(), FieldPath("nodeTopology"));
    AppendInvalid(errors, FieldPath("storageClassName"), object.storageClassName,
                  validation::NameIsDNSSubdomain(object.storageClassName, false));
    if (object.capacity && object.capacity->Sign() < 0) {
      errors.push_back(FieldError::Invalid(FieldPath("capacity"), object.capacity->ToString(),
                                           "must be greater than or equal to 0"));
    }
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const CSIStorageCapacity& object,
                             const CSIStorageCapacity& old) const override {
    FieldErrorList errors = Check(w, object);
    const bool same_topology =
        object.nodeTopology.has_value() == old.nodeTopology.has_value() &&
        (!object.nodeTopology || DeepEqual(*object.nodeTopology, *old.nodeTopology));
    if (!same_topology) {
      errors.push_back(validation::ImmutableField(
          FieldPath("nodeTopology"),
          object.nodeTopology ? InternalValue(*object.nodeTopology) : FieldValue(nullptr)));
    }
    if (object.storageClassName != old.storageClassName) {
      errors.push_back(
          validation::ImmutableField(FieldPath("storageClassName"), object.storageClassName));
    }
    return errors;
  }
  Cells RowOf(const CSIStorageCapacity& object, const Time&) const override {
    return {object.metadata.name, object.metadata.creationTimestamp.ToString()};
  }
};

}  // namespace

StrategyPtr NewCsiDriverStrategy() { return std::make_unique<CsiDriverStrategy>(); }
StrategyPtr NewCsiNodeStrategy() { return std::make_unique<CsiNodeStrategy>(); }
StrategyPtr NewCsiStorageCapacityStrategy() {
  return std::make_unique<CsiStorageCapacityStrategy>();
}

}  // namespace cox::apiserver
