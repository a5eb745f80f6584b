// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kubelet/podworkers/pod_manager.h"

namespace cox::kubelet {

// A PodManager without behaviour, for tests of its users. Set the members before use.
class TestPods final : public PodManager {
 public:
  void OnPod(std::shared_ptr<const core::v1::Pod> pod) override { pods.push_back(*pod); }
  void OnPodDeleted(std::shared_ptr<const core::v1::Pod> /*last*/) override {}
  void OnPodsSynced() override {}
  void Resync() override {}
  Status Run(Context& ctx) override {
    static_cast<void>(ctx.Sleep(std::chrono::hours(1000)));
    return {};
  }
  Status EndPod(const std::string& /*uid*/, PodEnd /*end*/) override { return {}; }
  List<core::v1::Pod> Pods() const override { return pods; }
  std::shared_ptr<const core::v1::Pod> FindPod(const ObjectKey& key,
                                               const std::string& /*uid*/) const override {
    for (const core::v1::Pod& pod : pods) {
      if (KeyOf(pod) == key) return std::make_shared<const core::v1::Pod>(pod);
    }
    return nullptr;
  }
  Result<ContainerRef> FindContainer(Context& /*ctx*/, const ObjectKey& pod,
                                     const std::string& /*uid*/, const std::string& container,
                                     bool previous) override {
    const auto found = containers.find(pod.ToString() + "/" + container + (previous ? "-1" : ""));
    if (found == containers.end()) return Status::NotFound("pod does not exist");
    return found->second;
  }
  Result<std::string> SandboxOf(Context& /*ctx*/, const ObjectKey& /*pod*/,
                                const std::string& /*uid*/) override {
    if (sandbox.empty()) return Status::NotFound("pod does not exist");
    return sandbox;
  }
  Status Ready() const override { return ready; }

  List<core::v1::Pod> pods;
  std::map<std::string, ContainerRef> containers;  // "default/web/main"; previous instance: "...-1"
  std::string sandbox;
  Status ready;
};

}  // namespace cox::kubelet
