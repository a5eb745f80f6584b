// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/new_pod.h"

#include <string_view>

#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "apiserver/registry/kinds/core/pod/validation/qos.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::Pod;

// Adds requirements to `selector`: In or NotIn the values that this pod has for `keys`.
void CompleteSelector(Box<meta::v1::LabelSelector>& selector, const List<std::string>& keys,
                      std::string_view op, const Map<std::string>& labels) {
  if (!selector) return;
  for (const std::string& key : keys) {
    const std::string* value = labels.Get(key);
    if (value == nullptr) continue;
    meta::v1::LabelSelectorRequirement term;
    term.key = key;
    term.operator_ = op;
    term.values = {*value};
    selector->matchExpressions.push_back(std::move(term));
  }
}

template <class PodTerms>
void CompleteTerms(Box<PodTerms>& affinity, const Map<std::string>& labels) {
  if (!affinity) return;
  auto complete = [&](core::v1::PodAffinityTerm& term) {
    CompleteSelector(term.labelSelector, term.matchLabelKeys, "In", labels);
    CompleteSelector(term.labelSelector, term.mismatchLabelKeys, "NotIn", labels);
  };
  for (auto& term : affinity->requiredDuringSchedulingIgnoredDuringExecution) complete(term);
  for (auto& weighted : affinity->preferredDuringSchedulingIgnoredDuringExecution)
    complete(weighted.podAffinityTerm);
}

void CompleteSelectors(Pod& pod) {
  const Map<std::string>& labels = pod.metadata.labels;
  if (pod.spec.affinity) {
    CompleteTerms(pod.spec.affinity->podAffinity, labels);
    CompleteTerms(pod.spec.affinity->podAntiAffinity, labels);
  }
  for (core::v1::TopologySpreadConstraint& constraint : pod.spec.topologySpreadConstraints)
    CompleteSelector(constraint.labelSelector, constraint.matchLabelKeys, "In", labels);
}

// "localhost/<name>" and the two fixed names; null for other text.
Box<core::v1::AppArmorProfile> AppArmorFromAnnotation(std::string_view text) {
  constexpr std::string_view kLocalhost = "localhost/";
  core::v1::AppArmorProfile profile;
  if (text == "runtime/default") {
    profile.type = "RuntimeDefault";
  } else if (text == "unconfined") {
    profile.type = "Unconfined";
  } else if (text.starts_with(kLocalhost) && text.size() > kLocalhost.size()) {
    profile.type = "Localhost";
    profile.localhostProfile = std::string(text.substr(kLocalhost.size()));
  } else {
    return nullptr;
  }
  return profile;
}

// Sets AppArmor fields from the annotations that preceded them.
void TakeOverAppArmor(Pod& pod) {
  if (pod.spec.os && pod.spec.os->name == "windows") return;
  for (auto* containers : {&pod.spec.initContainers, &pod.spec.containers}) {
    for (Container& container : *containers) {
      const std::string* text =
          pod.metadata.annotations.Get(std::string(pod::kAppArmorPrefix) + container.name);
      if (text == nullptr) continue;
      if (container.securityContext && container.securityContext->appArmorProfile) continue;
      if (Box<core::v1::AppArmorProfile> profile = AppArmorFromAnnotation(*text))
        container.securityContext.ensure().appArmorProfile = std::move(profile);
    }
  }
}

}  // namespace

void PrepareNewPod(Pod& pod, const Time& now) {
  pod.metadata.generation = 1;
  pod.status = {};
  pod.status.phase = "Pending";
  pod.status.qosClass = ComputePodQOS(pod.spec);
  if (!pod.spec.schedulingGates.empty()) {
    core::v1::PodCondition gated;
    gated.type = "PodScheduled";
    gated.status = "False";
    gated.lastTransitionTime = now;
    gated.reason = "SchedulingGated";
    gated.message = "Scheduling is blocked due to non-empty scheduling gates";
    pod.status.conditions.push_back(std::move(gated));
  }
  CompleteSelectors(pod);
  TakeOverAppArmor(pod);
}

}  // namespace cox::apiserver
