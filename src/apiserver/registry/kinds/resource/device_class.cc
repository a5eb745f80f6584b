// SPDX-License-Identifier: Apache-2.0
#include "api/resource/v1.h"
#include "apiserver/registry/kinds/resource/device_rules.h"
#include "apiserver/registry/kinds/resource/strategy.h"
#include "apiserver/registry/validation/resource_names.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using resource::v1::DeviceClass;

class DeviceClassStrategy final : public StrategyOf<DeviceClass> {
 public:
  std::string_view storage_prefix() const override { return "deviceclasses"; }
  bool ReturnsDeletedObject() const override { return true; }

 protected:
  void PrepareCreate(const WriteContext&, DeviceClass& dc) const override {
    dc.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, DeviceClass& dc, const DeviceClass& old) const override {
    if (!DeepEqual(dc.spec, old.spec)) dc.metadata.generation = old.metadata.generation + 1;
  }
  FieldErrorList Check(const WriteContext&, const DeviceClass& dc) const override {
    FieldPath path("spec");
    FieldErrorList errors = devices::ValidateSelectors(dc.spec.selectors, path.Child("selectors"));
    devices::CheckEach(errors, dc.spec.config, devices::kMaxConfigs, path.Child("config"),
                       [](const auto& config, const FieldPath& at) {
                         return devices::ValidateConfiguration(config.deviceConfiguration, at);
                       });
    const std::optional<std::string>& name = dc.spec.extendedResourceName;
    if (name && !IsExtendedResourceName(*name)) {
      errors.push_back(FieldError::Invalid(path.Child("extendedResourceName"), *name,
                                           "must be a valid extended resource name"));
    }
    return errors;
  }
  Warnings Warn(const WriteContext&, const DeviceClass& dc, const DeviceClass*) const override {
    Warnings warnings;
    FieldPath path = FieldPath("spec").Child("config");
    for (size_t i = 0; i < dc.spec.config.size(); ++i) {
      const auto& opaque = dc.spec.config[i].deviceConfiguration.opaque;
      if (!opaque) continue;
      devices::WarnOnDriverName(warnings, opaque->driver,
                                path.Index(i).Child("opaque").Child("driver"));
    }
    return warnings;
  }
};

}  // namespace

StrategyPtr NewDeviceClassStrategy() { return std::make_unique<DeviceClassStrategy>(); }

}  // namespace cox::apiserver
