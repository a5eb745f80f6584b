// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/priority/priority.h"

#include <algorithm>

#include "api/core/v1.h"
#include "api/scheduling/v1.h"
#include "apiserver/admission/plugins/shared/pod_requests.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

// Resolves the PriorityClass name of Pods, and rejects a second global default class.
class Priority final : public AdmissionPlugin {
 public:
  explicit Priority(const Registry& registry)
      : classes_(registry.Hub(scheduling::v1::PriorityClass::kKind)) {}

  std::string_view name() const override { return "Priority"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    core::v1::Pod* pod = CreatedOrUpdatedPod(request, object);
    if (pod == nullptr) return {};
    if (request.operation == Operation::kUpdate) {
      KeepPriority(request, pod);
      return {};
    }
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
  // An update may omit the fields that were computed when the Pod was created. Validation rejects
  // any other change.
  static void KeepPriority(const AdmissionRequest& request, core::v1::Pod* pod) {
    const auto* old = request.old == nullptr ? nullptr : request.old->As<core::v1::Pod>();
    if (old == nullptr) return;
    if (!pod->spec.priority) pod->spec.priority = old->spec.priority;
    if (!pod->spec.preemptionPolicy) pod->spec.preemptionPolicy = old->spec.preemptionPolicy;
  }

  // The default class for Pods; if there are several, the one with the lowest value.
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

std::unique_ptr<const AdmissionPlugin> NewPriority(const AdmissionParts& parts) {
  return std::make_unique<Priority>(parts.registry);
}

}  // namespace cox::apiserver
