// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/default_toleration_seconds/default_toleration_seconds.h"

#include <algorithm>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/shared/pod_requests.h"

namespace cox::apiserver {
namespace {

// By default, Pods tolerate a node that is not ready or unreachable for five minutes. Updates get
// these tolerations too, so that a client may replace the list without them.
class DefaultTolerationSeconds final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "DefaultTolerationSeconds"; }

  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    core::v1::Pod* pod = CreatedOrUpdatedPod(request, object);
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

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewDefaultTolerationSeconds(const AdmissionParts&) {
  return std::make_unique<DefaultTolerationSeconds>();
}

}  // namespace cox::apiserver
