// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "apiserver/registry/kinds/core/pod/update/update_validation.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/core/pod/validation/qos.h"
#include "object/core/containers.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::Pod;
using core::v1::PodSpec;
using core::v1::ResourceRequirements;

constexpr std::string_view kMutable[] = {"cpu", "memory"};

// Quantities can change but cannot be removed.
FieldErrorList CheckNotRemoved(const ResourceRequirements& now, const ResourceRequirements& old,
                               const FieldPath& path) {
  FieldErrorList errors;
  auto removed = [](const Map<Quantity>& amounts, const Map<Quantity>& before) {
    for (std::string_view name : kMutable)
      if (before.contains(name) && !amounts.contains(name)) return true;
    return false;
  };
  if (removed(now.requests, old.requests)) {
    errors.push_back(
        FieldError::Forbidden(path.Child("requests"), "resource requests cannot be removed"));
  }
  if (removed(now.limits, old.limits)) {
    errors.push_back(
        FieldError::Forbidden(path.Child("limits"), "resource limits cannot be removed"));
  }
  return errors;
}

void TakeBack(Map<Quantity>& amounts, const Map<Quantity>& old) {
  for (std::string_view name : kMutable) {
    if (const Quantity* before = old.Get(name)) {
      amounts[name] = *before;
    } else {
      amounts.erase(name);
    }
  }
}

void TakeBack(ResourceRequirements& resources, const ResourceRequirements& old) {
  TakeBack(resources.limits, old.limits);
  TakeBack(resources.requests, old.requests);
}

// Only long-running containers can be resized: of the init containers only sidecars.
bool IsResizable(const Container& container, bool init) {
  return !init || core_rules::IsSidecar(container);
}

FieldErrorList CheckContainers(const List<Container>& now, const List<Container>& old, bool init,
                               const FieldPath& path, List<Container>& changed) {
  FieldErrorList errors;
  for (size_t i = 0; i < now.size() && i < old.size(); ++i) {
    Append(errors,
           CheckNotRemoved(now[i].resources, old[i].resources, path.Index(i).Child("resources")));
    if (!IsResizable(now[i], init)) continue;
    TakeBack(changed[i].resources, old[i].resources);
    changed[i].resizePolicy = old[i].resizePolicy;
  }
  return errors;
}

}  // namespace

FieldErrorList ValidatePodResize(const Pod& pod, const Pod& old) {
  const FieldPath path("spec");
  PodValidationOptions options = PodValidationOptionsFor(&old.spec);
  options.resource_is_pod = true;
  FieldErrorList errors = ValidatePodSpec(pod.spec, &pod.metadata, path, options);
  if (pod.spec.os && pod.spec.os->name == "windows")
    errors.push_back(FieldError::Forbidden(path, "windows pods cannot be resized"));
  if (old.metadata.annotations.contains(pod::kMirrorAnnotation))
    errors.push_back(FieldError::Forbidden(FieldPath(), "static pods cannot be resized"));
  if (ComputePodQOS(pod.spec) != ComputePodQOS(old.spec)) {
    errors.push_back(FieldError::Invalid(path, old.status.qosClass,
                                         "Pod QOS Class may not change as a result of resizing"));
  }
  PodSpec changed = pod.spec;
  Append(errors, CheckContainers(pod.spec.containers, old.spec.containers, /*init=*/false,
                                 path.Child("containers"), changed.containers));
  Append(errors, CheckContainers(pod.spec.initContainers, old.spec.initContainers, /*init=*/true,
                                 path.Child("initContainers"), changed.initContainers));
  if (changed.resources && old.spec.resources) {
    Append(errors,
           CheckNotRemoved(*pod.spec.resources, *old.spec.resources, path.Child("resources")));
    TakeBack(*changed.resources, *old.spec.resources);
  }
  if (!DeepEqual(changed, old.spec))
    errors.push_back(FieldError::Forbidden(path, "only cpu and memory resources are mutable"));
  return errors;
}

}  // namespace cox::apiserver
