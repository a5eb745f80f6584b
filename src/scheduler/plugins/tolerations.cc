// SPDX-License-Identifier: Apache-2.0
#include "scheduler/plugins/tolerations.h"

#include <algorithm>

#include "object/core/tolerations.h"

namespace cox::scheduler {

using core::v1::Taint;
using core::v1::Toleration;

const Taint* FirstUntolerated(const List<Toleration>& tolerations, const List<Taint>& taints) {
  for (const Taint& taint : taints) {
    const bool keeps_off = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if (keeps_off && core_rules::FindToleration(tolerations, taint) == nullptr) return &taint;
  }
  return nullptr;
}

int64_t CountUntoleratedPreferences(const List<Toleration>& tolerations,
                                    const List<Taint>& taints) {
  return std::count_if(taints.begin(), taints.end(), [&](const Taint& taint) {
    if (taint.effect != "PreferNoSchedule") return false;
    // Tolerations of other effects do not apply.
    return std::none_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
      return (toleration.effect.empty() || toleration.effect == "PreferNoSchedule") &&
             core_rules::Tolerates(toleration, taint);
    });
  });
}

void SignTolerations(const core::v1::Pod& pod, Signature& signature) {
  signature.Add(static_cast<int64_t>(pod.spec.tolerations.size()));
  for (const Toleration& toleration : pod.spec.tolerations) {
    signature.Add(toleration.key);
    signature.Add(toleration.operator_);
    signature.Add(toleration.value);
    signature.Add(toleration.effect);
  }
}

}  // namespace cox::scheduler
