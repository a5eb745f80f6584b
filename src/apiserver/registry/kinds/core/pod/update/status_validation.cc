// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "apiserver/registry/kinds/core/pod/update/update_validation.h"
#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/field_checks.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

using core::v1::ContainerStatus;
using core::v1::Pod;
using core::v1::PodStatus;

// System condition types have no prefix; other types must be qualified names.
FieldErrorList CheckConditions(const PodStatus& status, const FieldPath& path) {
  static constexpr std::array<std::string_view, 4> kSystem = {"PodScheduled", "Ready",
                                                              "Initialized", "ContainersReady"};
  FieldErrorList errors;
  for (size_t i = 0; i < status.conditions.size(); ++i) {
    const std::string& type = status.conditions[i].type;
    if (std::find(kSystem.begin(), kSystem.end(), type) != kSystem.end()) continue;
    Append(errors, pod::CheckQualifiedName(type, path.Index(i).Child("Type")));
  }
  return errors;
}

// Terminated containers of pods that do not restart must stay terminated.
FieldErrorList CheckTransitions(const List<ContainerStatus>& now, const List<ContainerStatus>& old,
                                std::string_view restart_policy, const FieldPath& path) {
  FieldErrorList errors;
  if (restart_policy == "Always") return errors;
  for (size_t i = 0; i < old.size(); ++i) {
    if (!old[i].state.terminated) continue;
    if (restart_policy == "OnFailure" && old[i].state.terminated->exitCode != 0) continue;
    auto same = std::find_if(now.begin(), now.end(), [&](const ContainerStatus& status) {
      return status.name == old[i].name;
    });
    if (same == now.end() || same->state.terminated) continue;
    const size_t index = static_cast<size_t>(same - now.begin());
    errors.push_back(FieldError::Forbidden(path.Index(index).Child("state"),
                                           "may not be transitioned to non-terminated state"));
  }
  return errors;
}

// At most one address per family.
template <class AnyIP>
FieldErrorList CheckAddresses(const List<AnyIP>& addresses, const List<AnyIP>& old,
                              const FieldPath& path) {
  FieldErrorList errors;
  std::vector<std::string_view> known;
  for (const AnyIP& address : old) known.push_back(address.ip);
  int v4 = 0, v6 = 0;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::string& ip = addresses[i].ip;
    Append(errors, validation::IsValidIPForLegacyField(path.Index(i), ip, /*strict=*/true, known));
    if (auto parsed = validation::ParseIpSloppy(ip)) ++(parsed->IsIpv4() ? v4 : v6);
    if (!seen.insert(ip).second) errors.push_back(FieldError::Duplicate(path.Index(i), ip));
  }
  if (addresses.size() < 2) return errors;
  if (v4 > 1 || v6 > 1) {
    std::vector<std::string> all;
    for (const AnyIP& address : addresses) all.push_back(address.ip);
    errors.push_back(
        FieldError::Invalid(path, all, "may specify no more than one IP for each IP family"));
  }
  return errors;
}

FieldErrorList CheckClaimStatuses(const Pod& pod, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < pod.status.resourceClaimStatuses.size(); ++i) {
    const core::v1::PodResourceClaimStatus& status = pod.status.resourceClaimStatuses[i];
    const FieldPath at = path.Index(i);
    const bool known = std::any_of(
        pod.spec.resourceClaims.begin(), pod.spec.resourceClaims.end(),
        [&](const core::v1::PodResourceClaim& claim) { return claim.name == status.name; });
    if (!known) {
      errors.push_back(FieldError::Invalid(at.Child("name"), status.name,
                                           "must match the name of an entry in "
                                           "`spec.resourceClaims`"));
    }
    if (!seen.insert(status.name).second)
      errors.push_back(FieldError::Duplicate(at.Child("name"), status.name));
    if (status.resourceClaimName) {
      Append(errors,
             pod::CheckDnsSubdomain(*status.resourceClaimName, at.Child("resourceClaimName")));
    }
  }
  return errors;
}

}  // namespace

FieldErrorList ValidatePodStatusUpdate(const Pod& pod, const Pod& old) {
  const FieldPath path("status");
  const PodStatus& status = pod.status;
  FieldErrorList errors = CheckConditions(status, path.Child("conditions"));
  if (!status.nominatedNodeName.empty()) {
    Append(errors,
           pod::CheckDnsSubdomain(status.nominatedNodeName, path.Child("nominatedNodeName")));
  }
  if (status.observedGeneration < 0) {
    errors.push_back(FieldError::Invalid(path.Child("observedGeneration"),
                                         status.observedGeneration,
                                         "must be greater than or equal to 0"));
  }
  const std::string& restart = old.spec.restartPolicy;
  Append(errors, CheckTransitions(status.containerStatuses, old.status.containerStatuses, restart,
                                  path.Child("containerStatuses")));
  // With restartPolicy OnFailure, init containers run again when the sandbox is recreated.
  if (restart == "Never") {
    Append(errors, CheckTransitions(status.initContainerStatuses, old.status.initContainerStatuses,
                                    restart, path.Child("initContainerStatuses")));
  }
  Append(errors,
         CheckTransitions(status.ephemeralContainerStatuses, old.status.ephemeralContainerStatuses,
                          "Never", path.Child("ephemeralContainerStatuses")));
  Append(errors, CheckClaimStatuses(pod, path.Child("resourceClaimStatuses")));
  Append(errors, CheckAddresses(status.podIPs, old.status.podIPs, path.Child("podIPs")));
  Append(errors, CheckAddresses(status.hostIPs, old.status.hostIPs, path.Child("hostIPs")));
  if (!status.hostIPs.empty() && status.hostIPs[0].ip != status.hostIP) {
    errors.push_back(FieldError::Invalid(path.Child("hostIPs").Index(0).Child("ip"),
                                         status.hostIPs[0].ip, "must be equal to `hostIP`"));
  }
  return errors;
}

}  // namespace cox::apiserver
