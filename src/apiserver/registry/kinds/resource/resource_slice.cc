// SPDX-License-Identifier: Apache-2.0
#include "api/resource/v1.h"
#include "apiserver/registry/kinds/resource/device_rules.h"
#include "apiserver/registry/kinds/resource/slice_rules.h"
#include "apiserver/registry/kinds/resource/strategy.h"
#include "apiserver/registry/validation/field_checks.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using resource::v1::ResourceSlice;
using resource::v1::ResourceSliceSpec;

// List attributes are not enabled by default.
void DropListAttributes(ResourceSlice& slice) {
  for (resource::v1::Device& device : slice.spec.devices) {
    for (auto& [name, attribute] : device.attributes) {
      attribute.ints.clear();
      attribute.bools.clear();
      attribute.strings.clear();
      attribute.versions.clear();
    }
  }
}

class ResourceSliceStrategy final : public StrategyOf<ResourceSlice> {
 public:
  std::string_view storage_prefix() const override { return "resourceslices"; }
  bool ReturnsDeletedObject() const override { return true; }

  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"spec.nodeName", "spec.driver"};
    return kNames;
  }
  Status UnknownField(const KindInfo& as, std::string_view field) const override {
    return Status::BadRequest("field label not supported for " + std::string(as.group) + "/" +
                              std::string(as.version) + ", Kind=" + std::string(as.kind) + ": " +
                              std::string(field));
  }
  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn,
                                          {.name = "Node", .type = "string"},
                                          {.name = "Driver", .type = "string"},
                                          {.name = "Pool", .type = "string"},
                                          kAgeColumn};
    return kColumns;
  }

 protected:
  void PrepareCreate(const WriteContext&, ResourceSlice& slice) const override {
    slice.metadata.generation = 1;
    DropListAttributes(slice);
  }
  void PrepareUpdate(const WriteContext&, ResourceSlice& slice,
                     const ResourceSlice& old) const override {
    DropListAttributes(slice);
    if (!DeepEqual(slice.spec, old.spec)) slice.metadata.generation = old.metadata.generation + 1;
  }
  FieldErrorList Check(const WriteContext&, const ResourceSlice& slice) const override {
    return devices::ValidateSliceSpec(slice.spec, FieldPath("spec"));
  }
  // The node, driver and pool of a slice are immutable.
  FieldErrorList CheckUpdate(const WriteContext& w, const ResourceSlice& slice,
                             const ResourceSlice& old) const override {
    FieldErrorList errors = Check(w, slice);
    FieldPath path("spec");
    const ResourceSliceSpec &now = slice.spec, &before = old.spec;
    if (now.nodeName != before.nodeName) {
      errors.push_back(validation::ImmutableField(
          path.Child("nodeName"), now.nodeName ? FieldValue(*now.nodeName) : FieldValue(nullptr)));
    }
    if (now.driver != before.driver) {
      errors.push_back(validation::ImmutableField(path.Child("driver"), now.driver));
    }
    if (now.pool.name != before.pool.name) {
      errors.push_back(validation::ImmutableField(path.Child("pool").Child("name"), now.pool.name));
    }
    return errors;
  }
  Warnings Warn(const WriteContext&, const ResourceSlice& slice,
                const ResourceSlice*) const override {
    Warnings warnings;
    devices::WarnOnDriverName(warnings, slice.spec.driver, FieldPath("spec").Child("driver"));
    return warnings;
  }

  FieldPairs FieldsOf(const ResourceSlice& slice) const override {
    return {{"spec.nodeName", slice.spec.nodeName.value_or("")},
            {"spec.driver", slice.spec.driver}};
  }
  Cells RowOf(const ResourceSlice& slice, const Time& now) const override {
    return {slice.metadata.name, slice.spec.nodeName.value_or(""), slice.spec.driver,
            slice.spec.pool.name, Age(slice.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewResourceSliceStrategy() { return std::make_unique<ResourceSliceStrategy>(); }

}  // namespace cox::apiserver
