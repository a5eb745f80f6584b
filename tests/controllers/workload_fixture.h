// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "controllers/shared/pods/pod_state.h"
#include "controllers/workload/deployment/deployment_controller.h"
#include "controllers/workload/replicaset/replicaset_controller.h"
#include "coxswain/conditions.h"
#include "coxswain/controller.h"
#include "harness.h"

namespace cox::controllers {

// Simulates a kubelet: Pods become ready unless their image is "bad", and are removed when deleted.
inline Status AddFakeKubelet(Manager& manager) {
  using core::v1::Pod;
  const auto pods = manager.cache().ListerOf<Pod>();
  return ControllerFor<Pod>(manager)
      .Named("fake-kubelet")
      .With({.max_concurrent_reconciles = 4})
      .Complete([=, &manager](Context& ctx, const ObjectKey& key) -> Result<ReconcileResult> {
        const auto pod = pods.Get(key);
        if (pod == nullptr) return ReconcileResult::Done();
        if (pod->metadata.deletionTimestamp) {
          const Status gone = manager.client().Delete<Pod>(
              ctx, key, {.grace_period = std::chrono::seconds(0), .uid = pod->metadata.uid});
          if (!gone.ok() && !gone.Is(Reason::kNotFound)) return gone;
          return ReconcileResult::Done();
        }
        if (pods::IsReady(*pod) || pod->spec.containers.at(0).image == "bad") {
          return ReconcileResult::Done();
        }
        Pod running = *pod;
        running.status.phase = core::v1::kPodRunning;
        core::v1::PodCondition ready;
        ready.type = core::v1::kPodReady;
        ready.status = core::v1::kConditionTrue;
        SetCondition(running.status.conditions, ready, TimeNow(ctx.clock()));
        const Status written = manager.client().UpdateStatus(ctx, std::move(running)).status();
        if (!written.ok() && !written.Is(Reason::kNotFound)) return written;
        return ReconcileResult::Done();
      });
}

inline core::v1::PodTemplateSpec WebTemplate(std::string image) {
  core::v1::PodTemplateSpec spec;
  spec.metadata.labels = {{"app", "web"}};
  core::v1::Container container;
  container.name = "c";
  container.image = std::move(image);
  spec.spec.containers.push_back(std::move(container));
  return spec;
}

class WorkloadTest : public ControllerTest {
 protected:
  using Deployment = apps::v1::Deployment;
  using ReplicaSet = apps::v1::ReplicaSet;
  using Pod = core::v1::Pod;

  static ReplicaSet WebReplicaSet(int32_t replicas) { return Web<ReplicaSet>(replicas); }
  static Deployment WebDeployment(int32_t replicas) { return Web<Deployment>(replicas); }

  template <class T>
  T Wait(const std::string& name, const std::function<bool(const T&)>& holds) {
    auto found = testkit::WaitFor<T>(*ctx, client(), {"default", name}, holds);
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() ? *std::move(found) : T();
  }
  template <class T>
  T Change(const std::string& name, const std::function<void(T&)>& change) {
    auto changed = ChangeObject<T>(*ctx, client(), {"default", name}, [&](T& object) {
      change(object);
      return true;
    });
    EXPECT_TRUE(changed.ok()) << changed.status().ToString();
    return changed.ok() ? *std::move(changed) : T();
  }
  template <class T>
  List<T> ListObjects() {
    auto list = client().List<T>(*ctx, {.ns = "default"});
    EXPECT_TRUE(list.ok()) << list.status().ToString();
    return list.ok() ? std::move(list->items) : List<T>();
  }
  // The ReplicaSets by image.
  std::map<std::string, ReplicaSet> SetsByImage() {
    std::map<std::string, ReplicaSet> sets;
    for (ReplicaSet& set : ListObjects<ReplicaSet>()) {
      const std::string image = set.spec.template_.spec.containers.at(0).image;
      sets[image] = std::move(set);
    }
    return sets;
  }

 private:
  template <class Workload>
  static Workload Web(int32_t replicas) {
    Workload workload;
    workload.metadata.namespace_ = "default";
    workload.metadata.name = "web";
    workload.spec.replicas = replicas;
    workload.spec.selector.ensure().matchLabels = {{"app", "web"}};
    workload.spec.template_ = WebTemplate("good");
    return workload;
  }
};

}  // namespace cox::controllers
