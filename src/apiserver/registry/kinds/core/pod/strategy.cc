// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/strategy.h"

#include <memory>
#include <utility>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/pod/columns.h"
#include "apiserver/registry/kinds/core/pod/defaults.h"
#include "apiserver/registry/kinds/core/pod/disabled_fields.h"
#include "apiserver/registry/kinds/core/pod/new_pod.h"
#include "apiserver/registry/kinds/core/pod/update/update_validation.h"
#include "apiserver/registry/kinds/core/pod/warnings.h"
#include "apiserver/registry/unimplemented/unimplemented.h"
#include "object/core/pod_state.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::Pod;
using core::v1::PodSpec;

void BumpGeneration(Pod& pod, const Pod& old) {
  pod.metadata.generation = old.metadata.generation;
  if (!DeepEqual(pod.spec, old.spec)) ++pod.metadata.generation;
}

// The stored pod with the managedFields of the writer: for subresources that change only one part.
Pod OldWithManagedFields(const Pod& pod, const Pod& old) {
  Pod result = old;
  result.metadata.managedFields = pod.metadata.managedFields;
  result.metadata.resourceVersion = pod.metadata.resourceVersion;
  return result;
}

class PodStatusStrategy final : public UpdateStrategyOf<Pod> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"metadata.deletionTimestamp",
                                                  "metadata.ownerReferences", "spec"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, Pod& pod, const Pod& old) const override {
    pod.spec = old.spec;
    pod.metadata.deletionTimestamp.reset();
    // Kubelets, which update the status, may have outdated owner references.
    pod.metadata.ownerReferences = old.metadata.ownerReferences;
    if (pod.status.qosClass.empty()) pod.status.qosClass = old.status.qosClass;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Pod& pod, const Pod& old) const override {
    return ValidatePodStatusUpdate(pod, old);
  }
};

class PodEphemeralContainersStrategy final : public UpdateStrategyOf<Pod> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, Pod& pod, const Pod& old) const override {
    Pod changed = OldWithManagedFields(pod, old);
    changed.spec.ephemeralContainers = std::move(pod.spec.ephemeralContainers);
    pod = std::move(changed);
    DropDisabledPodFields(pod.spec, &old.spec);
    BumpGeneration(pod, old);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Pod& pod, const Pod& old) const override {
    return ValidatePodEphemeralContainersUpdate(pod, old);
  }
};

class PodResizeStrategy final : public UpdateStrategyOf<Pod> {
 public:
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }

 protected:
  void PrepareUpdate(const WriteContext&, Pod& pod, const Pod& old) const override {
    Pod changed = OldWithManagedFields(pod, old);
    TakeResources(changed.spec.containers, pod.spec.containers);
    TakeResources(changed.spec.initContainers, pod.spec.initContainers);
    changed.spec.resources = std::move(pod.spec.resources);
    pod = std::move(changed);
    BumpGeneration(pod, old);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Pod& pod, const Pod& old) const override {
    return ValidatePodResize(pod, old);
  }
  Warnings Warn(const WriteContext& w, const Pod& pod, const Pod& old) const override {
    if (pod.metadata.generation == old.metadata.generation) return {};
    return UnimplementedSubresourceWarnings(w.user, Pod::kKind, "resize");
  }

 private:
  static void TakeResources(List<Container>& to, List<Container>& from) {
    for (Container& container : to) {
      for (Container& other : from) {
        if (other.name != container.name) continue;
        container.resources = std::move(other.resources);
        container.resizePolicy = std::move(other.resizePolicy);
        break;
      }
    }
  }
};

class PodStrategy final : public StrategyOf<Pod> {
 public:
  std::string_view storage_prefix() const override { return "pods"; }
  bool ReturnsDeletedObject() const override { return true; }

  const UpdateStrategy* Subresource(std::string_view name) const override {
    if (name == "status") return &status_;
    if (name == "ephemeralcontainers") return &ephemeral_containers_;
    if (name == "resize") return &resize_;
    return nullptr;
  }

  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }

  std::span<const std::string_view> FieldNames() const override {
    static constexpr std::string_view kNames[] = {"spec.nodeName",
                                                  "spec.restartPolicy",
                                                  "spec.schedulerName",
                                                  "spec.serviceAccountName",
                                                  "spec.hostNetwork",
                                                  "status.phase",
                                                  "status.podIP",
                                                  "status.podIPs",
                                                  "status.nominatedNodeName"};
    return kNames;
  }
  // Every kubelet lists and watches the Pods of its node.
  std::string_view IndexedField() const override { return "spec.nodeName"; }

  std::span<const Column> Columns() const override { return PodColumns(); }

 protected:
  void Default(Pod& pod) const override { SetPodDefaults(pod); }

  void PrepareCreate(const WriteContext& w, Pod& pod) const override {
    DropDisabledPodFields(pod.spec, nullptr);
    PrepareNewPod(pod, w.now);
  }

  void PrepareUpdate(const WriteContext&, Pod& pod, const Pod& old) const override {
    pod.status = old.status;
    DropDisabledPodFields(pod.spec, &old.spec);
    BumpGeneration(pod, old);
  }

  FieldErrorList Check(const WriteContext&, const Pod& pod) const override {
    return ValidatePodCreate(pod);
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Pod& pod, const Pod& old) const override {
    return ValidatePodUpdate(pod, old);
  }

  // Not on updates: pods are updated often, by controllers and kubelets.
  Warnings Warn(const WriteContext&, const Pod& pod, const Pod* old) const override {
    return old == nullptr ? PodWarnings(pod) : Warnings{};
  }

  FieldPairs FieldsOf(const Pod& pod) const override {
    const PodSpec& spec = pod.spec;
    return {{"spec.nodeName", spec.nodeName},
            {"spec.restartPolicy", spec.restartPolicy},
            {"spec.schedulerName", spec.schedulerName},
            {"spec.serviceAccountName", spec.serviceAccountName},
            {"spec.hostNetwork", spec.hostNetwork ? "true" : "false"},
            {"status.phase", pod.status.phase},
            {"status.podIP", pod.status.podIPs.empty() ? "" : pod.status.podIPs[0].ip},
            // A supported field label that never has a value.
            {"status.podIPs", ""},
            {"status.nominatedNodeName", pod.status.nominatedNodeName}};
  }

  Cells RowOf(const Pod& pod, const Time& now) const override { return PodRow(pod, now); }

  bool DeletesGracefully() const override { return true; }
  int64_t GraceOf(const Pod& pod, std::optional<int64_t> requested) const override {
    // No process is running that needs a grace period.
    if (pod.spec.nodeName.empty() || core_rules::IsTerminal(pod)) return 0;
    const int64_t period =
        requested ? *requested : pod.spec.terminationGracePeriodSeconds.value_or(0);
    return period < 0 ? 1 : period;
  }

 private:
  PodStatusStrategy status_;
  PodEphemeralContainersStrategy ephemeral_containers_;
  PodResizeStrategy resize_;
};

}  // namespace

StrategyPtr NewPodStrategy() { return std::make_unique<PodStrategy>(); }

}  // namespace cox::apiserver
