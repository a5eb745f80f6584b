// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/runtime_class/runtime_class.h"

#include <algorithm>

#include "api/core/v1.h"
#include "api/node/v1.h"
#include "apiserver/admission/stored_objects.h"
#include "base/strings.h"
#include "object/type/equal.h"

// Applies the overhead and the scheduling constraints of a RuntimeClass to the Pods that use it.
namespace cox::apiserver {
namespace {

using core::v1::Pod;
using node::v1::RuntimeClass;

class RuntimeClassPlugin final : public AdmissionPlugin {
 public:
  explicit RuntimeClassPlugin(const Registry& registry)
      : classes_(registry.Hub(RuntimeClass::kKind)) {}

  std::string_view name() const override { return "RuntimeClass"; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    if (!CreatesPod(request)) return {};
    Pod& pod = *object.As<Pod>();
    COX_ASSIGN_OR_RETURN(const std::optional<RuntimeClass> found, ClassOf(ctx, request, pod));
    if (!found) return {};
    if (found->overhead) {
      const Map<Quantity>& overhead = found->overhead->podFixed;
      if (!pod.spec.overhead.empty() && !SameOverhead(pod, *found)) {
        return Rejected(request, "Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      }
      pod.spec.overhead = overhead;
    }
    return found->scheduling ? Schedule(request, *found->scheduling, pod) : Status();
  }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (!CreatesPod(request)) return {};
    const Pod& pod = *request.object->As<Pod>();
    COX_ASSIGN_OR_RETURN(const std::optional<RuntimeClass> found, ClassOf(ctx, request, pod));
    const bool defines = found && found->overhead;
    if (!defines && !pod.spec.overhead.empty()) {
      return Rejected(request,
                      "Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    return {};
  }

 private:
  static bool CreatesPod(const AdmissionRequest& request) {
    return request.operation == Operation::kCreate && request.subresource.empty() &&
           &request.resource.kind() == &Pod::kKind;
  }

  static Status Rejected(const AdmissionRequest& request, const std::string& why) {
    return ForbiddenError(request.resource.resource(), request.name, "pod rejected: " + why);
  }

  static bool SameOverhead(const Pod& pod, const RuntimeClass& wanted) {
    // Compare amounts, not their text.
    const Map<Quantity>& a = pod.spec.overhead;
    const Map<Quantity>& b = wanted.overhead->podFixed;
    return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& entry) {
             const Quantity* other = b.Get(entry.first);
             return other != nullptr && entry.second == *other;
           });
  }

  // Returns nullopt if the Pod has no RuntimeClass.
  Result<std::optional<RuntimeClass>> ClassOf(Context& ctx, const AdmissionRequest& request,
                                              const Pod& pod) const {
    if (!pod.spec.runtimeClassName || pod.spec.runtimeClassName->empty()) {
      return std::optional<RuntimeClass>();
    }
    const std::string& name = *pod.spec.runtimeClassName;
    const Result<Object> found = FindObject(ctx, classes_.store(), "", name);
    if (found.status().Is(Reason::kNotFound)) {
      return Rejected(request, "RuntimeClass " + Quote(name) + " not found");
    }
    if (!found.ok()) return found.status();
    return std::optional<RuntimeClass>(*found->As<RuntimeClass>());
  }

  // Adds the node selector and tolerations of the class to those of the Pod.
  static Status Schedule(const AdmissionRequest& request, const node::v1::Scheduling& scheduling,
                         Pod& pod) {
    for (const auto& [key, value] : scheduling.nodeSelector) {
      const std::string* own = pod.spec.nodeSelector.Get(key);
      if (own != nullptr && *own != value) {
        return ForbiddenError(request.resource.resource(), request.name,
                              "conflict: runtimeClass.scheduling.nodeSelector[" + key + "] = " +
                                  value + "; pod.spec.nodeSelector[" + key + "] = " + *own);
      }
    }
    for (const auto& [key, value] : scheduling.nodeSelector) pod.spec.nodeSelector[key] = value;
    for (const core::v1::Toleration& toleration : scheduling.tolerations) {
      auto& own = pod.spec.tolerations;
      const bool there = std::any_of(own.begin(), own.end(), [&](const core::v1::Toleration& t) {
        return DeepEqual(t, toleration);
      });
      if (!there) own.push_back(toleration);
    }
    return {};
  }

  const ServedResource& classes_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewRuntimeClass(const AdmissionParts& parts) {
  return std::make_unique<RuntimeClassPlugin>(parts.registry);
}

}  // namespace cox::apiserver
