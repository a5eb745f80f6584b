// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/node_restriction/labels.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace cox::apiserver {
namespace {

// Labels that kubelets set on their own Node.
constexpr std::string_view kKubeletLabels[] = {
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
};

// The part before the slash; empty if there is none.
std::string_view PrefixOf(std::string_view label) {
  const size_t slash = label.find('/');
  return slash == label.npos ? std::string_view() : label.substr(0, slash);
}

// Reports whether `prefix` is one of the domains or a subdomain of one.
bool IsUnder(std::string_view prefix, std::initializer_list<std::string_view> domains) {
  return std::any_of(domains.begin(), domains.end(), [&](std::string_view domain) {
    if (!prefix.ends_with(domain)) return false;
    return prefix.size() == domain.size() || prefix[prefix.size() - domain.size() - 1] == '.';
  });
}

bool IsForbidden(std::string_view label) {
  const std::string_view prefix = PrefixOf(label);
  if (IsUnder(prefix, {"node-restriction.kubernetes.io"})) return true;
  if (!IsUnder(prefix, {"kubernetes.io", "k8s.io"})) return false;
  return !IsUnder(prefix, {"kubelet.kubernetes.io", "node.kubernetes.io"}) &&
         std::find(std::begin(kKubeletLabels), std::end(kKubeletLabels), label) ==
             std::end(kKubeletLabels);
}

}  // namespace

std::vector<std::string> ForbiddenLabelChanges(const Map<std::string>& before,
                                               const Map<std::string>& after) {
  std::vector<std::string> forbidden;
  for (const auto& [label, value] : after) {
    const std::string* old = before.Get(label);
    if ((old == nullptr || *old != value) && IsForbidden(label)) forbidden.push_back(label);
  }
  for (const auto& [label, value] : before) {
    if (after.Get(label) == nullptr && IsForbidden(label)) forbidden.push_back(label);
  }
  std::sort(forbidden.begin(), forbidden.end());
  return forbidden;
}

}  // namespace cox::apiserver
