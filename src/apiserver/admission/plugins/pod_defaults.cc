// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/core/v1.h"
#include "api/scheduling/v1.h"
#include "apiserver/admission/plugins.h"
#include "base/strings.h"

// What a new Pod gets besides what it says: a priority, and tolerations of nodes that fail.
namespace cox::apiserver {
namespace {

// The Pod of a request that creates one, or null.
core::v1::Pod* NewPod(const AdmissionRequest& request, Object& object) {
  if (request.operation != Operation::kCreate || !request.subresource.empty()) return nullptr;
  return object.As<core::v1::Pod>();
}

// Pods stay on a node that is not ready for five minutes, unless they say otherwise.
class DefaultTolerationSeconds final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "DefaultTolerationSeconds"; }

  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    core::v1::Pod* pod = NewPod(request, object);
    if (pod == nullptr) return {};
    for (std::string_view key :
         {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
      if (Tolerates(*pod, key)) continue;
      core::v1::Toleration toleration;
      toleration.key = key;
      toleration.operator_ = core::v1::kTolerationOpExists;
      toleration.effect = core::v1::kTaintEffectNoExecute;
      toleration.tolerationSeconds = 300;
      pod->spec.tolerations.push_back(std::move(toleration));
    }
    return {};
  }

 private:
  static bool Tolerates(const core::v1::Pod& pod, std::string_view key) {
    return std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                       [&](const core::v1::Toleration& t) {
                         const bool same_key = t.key == key || t.key.empty();
                         return same_key &&
                                (t.effect == core::v1::kTaintEffectNoExecute || t.effect.empty());
                       });
  }
};

// Resolves the name of a PriorityClass to its number, and keeps the default one the only one.
class Priority final : public AdmissionPlugin {
 public:
  explicit Priority(const Registry& registry)
      : classes_(registry.Hub(scheduling::v1::PriorityClass::kKind)) {}

  std::string_view name() const override { return "Priority"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    core::v1::Pod* pod = NewPod(request, object);
    if (pod == nullptr) return {};
    int32_t value = 0;
    std::string policy = core::v1::kPreemptLowerPriority;
    if (pod->spec.priorityClassName.empty()) {
      if (std::optional<scheduling::v1::PriorityClass> fallback = GlobalDefault()) {
        pod->spec.priorityClassName = fallback->metadata.name;
        value = fallback->value;
        if (fallback->preemptionPolicy) policy = *fallback->preemptionPolicy;
      }
    } else {
      Result<Object> found =
          classes_.store().Get(ctx, "", pod->spec.priorityClassName, /*from_cache=*/true);
      if (!found.ok()) {
        if (!found.status().Is(Reason::kNotFound)) return found.status();
        return ForbiddenError(
            request.resource.resource(), request.name,
            "no PriorityClass with name " + pod->spec.priorityClassName + " was found");
      }
      const auto& priority = *found->As<scheduling::v1::PriorityClass>();
      value = priority.value;
      if (priority.preemptionPolicy) policy = *priority.preemptionPolicy;
    }
    if (pod->spec.priority && *pod->spec.priority != value) {
      return ForbiddenError(
          request.resource.resource(), request.name,
          "the integer value of priority (" + std::to_string(*pod->spec.priority) +
              ") must not be provided in pod spec; priority admission controller computed " +
              std::to_string(value) + " from the given PriorityClass name");
    }
    if (pod->spec.preemptionPolicy && *pod->spec.preemptionPolicy != policy) {
      return ForbiddenError(request.resource.resource(), request.name,
                            "the string value of PreemptionPolicy (" + *pod->spec.preemptionPolicy +
                                ") must not be provided in pod spec; priority admission "
                                "controller computed " +
                                policy + " from the given PriorityClass name");
    }
    pod->spec.priority = value;
    pod->spec.preemptionPolicy = policy;
    return {};
  }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.object == nullptr || !request.subresource.empty()) return {};
    const auto* added = request.object->As<scheduling::v1::PriorityClass>();
    if (added == nullptr || !added->globalDefault) return {};
    const std::optional<scheduling::v1::PriorityClass> known = GlobalDefault();
    if (!known) return {};
    const bool itself = known->metadata.name == added->metadata.name;
    if (request.operation == Operation::kUpdate && itself) return {};
    return ForbiddenError(request.resource.resource(), request.name,
                          "PriorityClass " + known->metadata.name +
                              " is already marked as default. Only one default can exist");
  }

 private:
  // The class for Pods that name none: of several, the lowest.
  std::optional<scheduling::v1::PriorityClass> GlobalDefault() const {
    std::optional<scheduling::v1::PriorityClass> found;
    if (classes_.store().cache() == nullptr) return found;
    storage::SnapshotPtr snapshot = classes_.store().cache()->Current();
    if (snapshot == nullptr) return found;
    snapshot->Visit(classes_.store().root_prefix(), "", [&](const storage::EntryPtr& entry) {
      Result<Object> object = classes_.store().Decode(entry->stored(), entry->revision());
      if (!object.ok()) return true;
      const auto& candidate = *object->As<scheduling::v1::PriorityClass>();
      if (candidate.globalDefault && (!found || candidate.value < found->value)) found = candidate;
      return true;
    });
    return found;
  }

  const ServedResource& classes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewDefaultTolerationSeconds(const AdmissionParts&) {
  return std::make_unique<DefaultTolerationSeconds>();
}

std::unique_ptr<const AdmissionPlugin> NewPriority(const AdmissionParts& parts) {
  return std::make_unique<Priority>(parts.registry);
}

}  // namespace cox::apiserver
