// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/always_pull_images/always_pull_images.h"

#include <algorithm>
#include <set>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/shared/pod_requests.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::Pod;

// The Pod of a request that writes one, or null. Ephemeral containers are written by a subresource.
template <class ObjectRef>
auto* WrittenPod(const AdmissionRequest& request, ObjectRef& object) {
  const bool itself = request.subresource.empty() || request.subresource == "ephemeralcontainers";
  return IsWrite(request) && itself ? object.template As<Pod>() : nullptr;
}

// The fields that all types of containers have.
Container& Common(Container& container) { return container; }
const Container& Common(const Container& container) { return container; }
core::v1::EphemeralContainerCommon& Common(core::v1::EphemeralContainer& container) {
  return container.ephemeralContainerCommon;
}
const core::v1::EphemeralContainerCommon& Common(const core::v1::EphemeralContainer& container) {
  return container.ephemeralContainerCommon;
}

// Sets imagePullPolicy to Always, so that private images need credentials. Otherwise a node would
// start a cached image for any Pod.
class AlwaysPullImages final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "AlwaysPullImages"; }

  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    Pod* pod = WrittenPod(request, object);
    if (pod == nullptr || HasNoNewImages(request, *pod)) return {};
    const auto pull = [](auto& containers) {
      for (auto& container : containers) Common(container).imagePullPolicy = core::v1::kPullAlways;
    };
    pull(pod->spec.initContainers);
    pull(pod->spec.containers);
    pull(pod->spec.ephemeralContainers);
    for (core::v1::Volume& volume : pod->spec.volumes) {
      if (volume.volumeSource.image) volume.volumeSource.image->pullPolicy = core::v1::kPullAlways;
    }
    return {};
  }

  Status Validate(Context&, const AdmissionRequest& request) const override {
    if (request.object == nullptr) return {};
    const Pod* pod = WrittenPod(request, *request.object);
    if (pod == nullptr || HasNoNewImages(request, *pod)) return {};
    const FieldPath spec("spec");
    COX_RETURN_IF_ERROR(Check(request, pod->spec.initContainers, spec.Child("initContainers")));
    COX_RETURN_IF_ERROR(Check(request, pod->spec.containers, spec.Child("containers")));
    return Check(request, pod->spec.ephemeralContainers, spec.Child("ephemeralContainers"));
  }

 private:
  static std::set<std::string> ImagesOf(const Pod& pod) {
    std::set<std::string> images;
    for (const auto& container : pod.spec.initContainers) images.insert(container.image);
    for (const auto& container : pod.spec.containers) images.insert(container.image);
    for (const auto& container : pod.spec.ephemeralContainers) {
      images.insert(Common(container).image);
    }
    for (const core::v1::Volume& volume : pod.spec.volumes) {
      if (volume.volumeSource.image) images.insert(volume.volumeSource.image->reference);
    }
    return images;
  }

  // Pods from before the plugin was enabled can still be updated.
  static bool HasNoNewImages(const AdmissionRequest& request, const Pod& pod) {
    if (request.operation != Operation::kUpdate || request.old == nullptr) return false;
    const std::set<std::string> old = ImagesOf(*request.old->As<Pod>()), now = ImagesOf(pod);
    return std::includes(old.begin(), old.end(), now.begin(), now.end());
  }

  template <class Containers>
  static Status Check(const AdmissionRequest& request, const Containers& containers,
                      const FieldPath& path) {
    for (size_t i = 0; i < containers.size(); ++i) {
      const std::string& policy = Common(containers[i]).imagePullPolicy;
      if (policy == core::v1::kPullAlways) continue;
      return ForbiddenError(request.resource.resource(), request.name,
                            FieldError::NotSupported(path.Index(i).Child("imagePullPolicy"), policy,
                                                     {core::v1::kPullAlways})
                                .ToString());
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewAlwaysPullImages(const AdmissionParts&) {
  return std::make_unique<AlwaysPullImages>();
}

}  // namespace cox::apiserver
