// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "apiserver/admission/plugins/resource_quota/evaluator.h"
#include "apiserver/admission/plugins/shared/pod_resources.h"
#include "apiserver/registry/kinds/core/pod/validation/qos.h"
#include "apiserver/registry/validation/resource_names.h"
#include "base/strings.h"
#include "object/core/pod_state.h"

namespace cox::apiserver::quota {
namespace {

using core::v1::Container;
using core::v1::Pod;
using core::v1::PodAffinityTerm;

constexpr std::string_view kCount = "count/pods";
constexpr std::string_view kPods = "pods";
constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kLimits = "limits.";
// Measured with and without prefix for requests, and with prefix for limits.
constexpr std::string_view kCompute[] = {"cpu", "memory", "ephemeral-storage"};
// If a quota limits one of these, every container must specify it. Like upstream, other resources
// are not included.
constexpr std::string_view kExplicit[] = {
    "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

template <size_t N>
bool Has(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string Prefixed(std::string_view prefix, std::string_view name) {
  return std::string(prefix).append(name);
}

// Converts resources to the names that quotas use.
Amounts QuotaNames(const amounts::PodResources& resources) {
  Amounts usage;
  usage[kPods] = Quantity(1);
  for (const auto& [name, amount] : resources.requests) {
    if (Has(kCompute, name) || IsHugePageResourceName(name)) {
      usage[name] = amount;
      usage[Prefixed(kRequests, name)] = amount;
    } else if (IsExtendedResourceName(name)) {
      usage[Prefixed(kRequests, name)] = amount;
    }
  }
  for (const auto& [name, amount] : resources.limits) {
    if (Has(kCompute, name)) usage[Prefixed(kLimits, name)] = amount;
  }
  return usage;
}

// Reports whether the Pod still uses resources. A Pod whose grace period has expired is assumed to
// be stuck on a lost node and does not count, so that its replacement can be created.
bool IsAlive(const Pod& pod, const Time& now) {
  if (core_rules::IsTerminal(pod)) return false;
  const meta::v1::ObjectMeta& meta = pod.metadata;
  if (!meta.deletionTimestamp || !meta.deletionGracePeriodSeconds) return true;
  return now.unix_seconds() <=
         meta.deletionTimestamp->unix_seconds() + *meta.deletionGracePeriodSeconds;
}

template <class PodAffinity>
bool ReachesOut(const PodAffinity& affinity) {
  const auto reaches = [](const PodAffinityTerm& term) {
    return !term.namespaces.empty() || term.namespaceSelector;
  };
  const auto& required = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  const auto& preferred = affinity.preferredDuringSchedulingIgnoredDuringExecution;
  return std::any_of(required.begin(), required.end(), reaches) ||
         std::any_of(preferred.begin(), preferred.end(),
                     [&](const auto& weighted) { return reaches(weighted.podAffinityTerm); });
}

bool HasCrossNamespaceAffinity(const Pod& pod) {
  if (!pod.spec.affinity) return false;
  const core::v1::Affinity& affinity = *pod.spec.affinity;
  return (affinity.podAffinity && ReachesOut(*affinity.podAffinity)) ||
         (affinity.podAntiAffinity && ReachesOut(*affinity.podAntiAffinity));
}

class PodEvaluator final : public Evaluator {
 public:
  bool Handles(Operation operation, std::string_view subresource) const override {
    if (subresource.empty()) return operation == Operation::kCreate;
    return subresource == "resize" && operation == Operation::kUpdate;
  }

  bool Measures(std::string_view name) const override {
    if (name == kCount || name == kPods || Has(kCompute, name)) return true;
    if (name.starts_with(kLimits)) return Has(kCompute, name.substr(kLimits.size()));
    if (!name.starts_with(kRequests)) return IsHugePageResourceName(name);
    const std::string_view requested = name.substr(kRequests.size());
    return Has(kCompute, requested) || IsHugePageResourceName(requested) || !IsNativeResource(name);
  }

  bool InScope(const Scope& scope, const Object& object) const override {
    const Pod& pod = *object.As<Pod>();
    const std::string& name = scope.scopeName;
    const bool terminating = pod.spec.activeDeadlineSeconds.value_or(-1) >= 0;
    const bool best_effort = ComputePodQOS(pod.spec) == core::v1::kPodQOSBestEffort;
    if (name == "Terminating") return terminating;
    if (name == "NotTerminating") return !terminating;
    if (name == "BestEffort") return best_effort;
    if (name == "NotBestEffort") return !best_effort;
    if (name == "PriorityClass") return Accepts(scope, pod.spec.priorityClassName);
    if (name == "CrossNamespacePodAffinity") return HasCrossNamespaceAffinity(pod);
    return false;
  }

  std::string Missing(const Amounts& bounded, const Object& object) const override {
    const Pod& pod = *object.As<Pod>();
    if (amounts::HasPodLevelResources(pod)) return {};
    std::map<std::string, std::set<std::string>> containers_without;
    const auto check = [&](const Container& container) {
      const Amounts said = QuotaNames({container.resources.requests, container.resources.limits});
      for (const auto& [name, hard] : bounded) {
        if (Has(kExplicit, name) && !said.contains(name)) {
          containers_without[name].insert(container.name);
        }
      }
    };
    for (const Container& container : pod.spec.containers) check(container);
    for (const Container& container : pod.spec.initContainers) check(container);
    std::vector<std::string> missing;
    for (const auto& [name, containers] : containers_without) {
      missing.push_back(name + " for: " + Join(containers, ","));
    }
    return missing.empty() ? std::string() : "must specify " + Join(missing, "; ");
  }

  Amounts Usage(const Object& object, const Time& now) const override {
    const Pod& pod = *object.As<Pod>();
    Amounts usage;
    if (IsAlive(pod, now)) usage = QuotaNames(amounts::ResourcesOf(pod));
    // count/pods includes terminated Pods.
    usage[kCount] = Quantity(1);
    return usage;
  }
};

}  // namespace

bool Accepts(const Scope& scope, std::string_view value) {
  const bool listed =
      std::find(scope.values.begin(), scope.values.end(), value) != scope.values.end();
  if (scope.operator_ == "In") return !value.empty() && listed;
  if (scope.operator_ == "NotIn") return value.empty() || !listed;
  if (scope.operator_ == "Exists") return !value.empty();
  return scope.operator_ == "DoesNotExist" && value.empty();
}

EvaluatorPtr NewPodEvaluator() { return std::make_unique<PodEvaluator>(); }

}  // namespace cox::apiserver::quota
