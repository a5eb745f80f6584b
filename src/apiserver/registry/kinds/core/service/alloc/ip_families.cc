// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/ip_families.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/service/alloc/ip_range.h"
#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "apiserver/registry/kinds/core/service/service_validation.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using cv::Service;

std::string OtherFamily(std::string_view family) { return family == "IPv4" ? "IPv6" : "IPv4"; }

Status Refuse(const Service& service, FieldErrorList errors) {
  return NewInvalid("", "Service", service.metadata.name, errors);
}

Status RejectPolicy(const Service& service, std::string detail) {
  const auto& policy = service.spec.ipFamilyPolicy;
  return Refuse(service, {FieldError::Invalid(FieldPath("spec").Child("ipFamilyPolicy"),
                                              policy ? FieldValue(*policy) : FieldValue(nullptr),
                                              std::move(detail))});
}

// Without a selector the endpoints are unknown: they may be of both families, whatever the families
// of the cluster are.
void InitHeadlessWithoutSelector(cv::ServiceSpec& spec, const std::string& first) {
  if (!spec.ipFamilyPolicy) {
    spec.ipFamilyPolicy = spec.ipFamilies.size() == 1 ? "SingleStack" : "RequireDualStack";
  }
  if (spec.ipFamilies.empty()) spec.ipFamilies.push_back(first);
  if (*spec.ipFamilyPolicy != "SingleStack" && spec.ipFamilies.size() == 1) {
    spec.ipFamilies.push_back(OtherFamily(spec.ipFamilies[0]));
  }
}

// A change to "SingleStack" removes the secondary values that the client did not change.
void TrimToSingleStack(cv::ServiceSpec& spec, const cv::ServiceSpec& old) {
  if (spec.ipFamilyPolicy.value_or("") != "SingleStack") return;
  if (spec.clusterIPs.size() == 2 && spec.clusterIPs == old.clusterIPs) spec.clusterIPs.resize(1);
  if (spec.ipFamilies.size() == 2 && spec.ipFamilies == old.ipFamilies) spec.ipFamilies.resize(1);
}

Status CheckConfigured(const Service& service, std::span<const std::string> configured) {
  FieldErrorList errors;
  const FieldPath path = FieldPath("spec").Child("ipFamilies");
  for (size_t i = 0; i < service.spec.ipFamilies.size(); ++i) {
    const std::string& family = service.spec.ipFamilies[i];
    if (std::find(configured.begin(), configured.end(), family) == configured.end()) {
      errors.push_back(
          FieldError::Invalid(path.Index(i), family, "not configured on this cluster"));
    }
  }
  return errors.empty() ? Status() : Refuse(service, std::move(errors));
}

// Infers families from the requested addresses.
Status InferFromAddresses(Service& service, std::span<const std::string> configured) {
  cv::ServiceSpec& spec = service.spec;
  for (size_t i = spec.ipFamilies.size(); i < spec.clusterIPs.size(); ++i) {
    if (spec.clusterIPs[i] == kClusterIpNone) break;
    const auto ip = validation::ParseIpSloppy(spec.clusterIPs[i]);
    if (!ip) break;  // already validated
    const std::string family(FamilyOf(*ip));
    if (std::find(configured.begin(), configured.end(), family) == configured.end()) {
      return Refuse(service, {FieldError::Invalid(FieldPath("spec").Child("clusterIPs").Index(i),
                                                  spec.clusterIPs,
                                                  family + " is not configured on this cluster")});
    }
    spec.ipFamilies.push_back(family);
  }
  return {};
}

}  // namespace

void NormalizeClusterIps(Service& service, const Service* old) {
  cv::ServiceSpec& spec = service.spec;
  if (old == nullptr) {
    if (!spec.clusterIP.empty() && spec.clusterIPs.empty()) spec.clusterIPs = {spec.clusterIP};
    return;
  }
  if (spec.clusterIP == old->spec.clusterIP) return;
  // A client that uses only clusterIP has changed or cleared it.
  if (spec.clusterIPs != old->spec.clusterIPs && !spec.clusterIPs.empty()) return;
  spec.clusterIPs.clear();
  if (!spec.clusterIP.empty()) spec.clusterIPs.push_back(spec.clusterIP);
}

void KeepAllocatedValues(Service& service, const Service& old) {
  cv::ServiceSpec& spec = service.spec;
  if (NeedsClusterIp(old) && NeedsClusterIp(service)) {
    if (spec.clusterIP.empty()) spec.clusterIP = old.spec.clusterIP;
    if (spec.clusterIPs.empty() && spec.clusterIP == old.spec.clusterIP) {
      spec.clusterIPs = old.spec.clusterIPs;
    }
  }
  if (NeedsNodePort(old) && NeedsNodePort(service)) {
    std::set<int32_t> used;
    for (const cv::ServicePort& port : spec.ports) used.insert(port.nodePort);
    std::map<std::string, int32_t> by_name;
    for (const cv::ServicePort& port : old.spec.ports) by_name[port.name] = port.nodePort;
    for (cv::ServicePort& port : spec.ports) {
      const auto known = by_name.find(port.name);
      if (port.nodePort != 0 || known == by_name.end()) continue;
      if (used.insert(known->second).second) port.nodePort = known->second;
    }
  }
  if (NeedsHealthCheckNodePort(old) && NeedsHealthCheckNodePort(service) &&
      spec.healthCheckNodePort == 0) {
    spec.healthCheckNodePort = old.spec.healthCheckNodePort;
  }
}

bool KeepsPreferDualStack(const Service& service, const Service* old) {
  if (old == nullptr || !NeedsClusterIp(service) || !NeedsClusterIp(*old)) return false;
  return service.spec.ipFamilyPolicy.value_or("") == "PreferDualStack" &&
         old->spec.ipFamilyPolicy.value_or("") == "PreferDualStack" &&
         service.spec.clusterIPs == old->spec.clusterIPs &&
         service.spec.ipFamilies == old->spec.ipFamilies;
}

Status InitIpFamilies(Service& service, const Service* old,
                      std::span<const std::string> configured) {
  cv::ServiceSpec& spec = service.spec;
  if (spec.type == "ExternalName" || KeepsPreferDualStack(service, old)) return {};
  if (old != nullptr) TrimToSingleStack(spec, old->spec);
  if (FieldErrorList errors = ValidateClusterIpFields(service, old); !errors.empty()) {
    return Refuse(service, std::move(errors));
  }
  if (IsHeadless(service) && spec.selector.empty()) {
    InitHeadlessWithoutSelector(spec, configured.front());
    return {};
  }
  if (!spec.ipFamilyPolicy) spec.ipFamilyPolicy = "SingleStack";
  if (*spec.ipFamilyPolicy == "SingleStack") {
    constexpr std::string_view kMust = "must be 'RequireDualStack' or 'PreferDualStack' when ";
    if (spec.clusterIPs.size() == 2) {
      return RejectPolicy(service, std::string(kMust) + "multiple cluster IPs are specified");
    }
    if (spec.ipFamilies.size() == 2) {
      return RejectPolicy(service, std::string(kMust) + "multiple IP families are specified");
    }
  }
  if (*spec.ipFamilyPolicy == "RequireDualStack" && configured.size() < 2) {
    return RejectPolicy(service, "this cluster is not configured for dual-stack services");
  }
  COX_RETURN_IF_ERROR(CheckConfigured(service, configured));
  COX_RETURN_IF_ERROR(InferFromAddresses(service, configured));
  if (spec.ipFamilies.empty()) spec.ipFamilies.push_back(configured.front());
  if (*spec.ipFamilyPolicy != "SingleStack" && spec.ipFamilies.size() == 1 &&
      configured.size() == 2) {
    spec.ipFamilies.push_back(OtherFamily(spec.ipFamilies[0]));
  }
  return {};
}

}  // namespace cox::apiserver
