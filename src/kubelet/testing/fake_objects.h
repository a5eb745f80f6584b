// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "base/strings.h"
#include "kubelet/objects/object_source.h"

// In-memory config maps and secrets for tests.
namespace cox::kubelet::testing {

class FakeObjects final : public ObjectSource {
 public:
  void Put(core::v1::ConfigMap map) {
    const ObjectKey key = KeyOf(map);
    maps_[key] = std::make_shared<const core::v1::ConfigMap>(std::move(map));
  }
  void Put(core::v1::Secret secret) {
    const ObjectKey key = KeyOf(secret);
    secrets_[key] = std::make_shared<const core::v1::Secret>(std::move(secret));
  }
  void PutConfigMap(const std::string& name, Map<std::string> data) {
    core::v1::ConfigMap map;
    map.metadata.namespace_ = "default";
    map.metadata.name = name;
    map.data = std::move(data);
    Put(std::move(map));
  }
  void PutSecret(const std::string& name, Map<std::string> data) {
    core::v1::Secret secret;
    secret.metadata.namespace_ = "default";
    secret.metadata.name = name;
    secret.data = std::move(data);
    Put(std::move(secret));
  }
  void Clear() {
    maps_.clear();
    secrets_.clear();
  }

  Result<std::shared_ptr<const core::v1::ConfigMap>> GetConfigMap(Context&,
                                                                  const ObjectKey& key) override {
    const auto found = maps_.find(key);
    if (found != maps_.end()) return found->second;
    return Status::NotFound("configmap " + Quote(key.name) + " not found");
  }
  Result<std::shared_ptr<const core::v1::Secret>> GetSecret(Context&,
                                                            const ObjectKey& key) override {
    const auto found = secrets_.find(key);
    if (found != secrets_.end()) return found->second;
    return Status::NotFound("secret " + Quote(key.name) + " not found");
  }

 private:
  std::map<ObjectKey, std::shared_ptr<const core::v1::ConfigMap>> maps_;
  std::map<ObjectKey, std::shared_ptr<const core::v1::Secret>> secrets_;
};

}  // namespace cox::kubelet::testing
