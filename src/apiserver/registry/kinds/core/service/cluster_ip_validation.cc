// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/cluster_ip_validation.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "apiserver/registry/kinds/core/service/service_validation.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

using core::v1::Service;

bool IsIpv6(std::string_view ip) {
  const auto parsed = validation::ParseIpSloppy(ip);
  return parsed && parsed->written_as_ipv6;
}

FieldErrorList ValidateFamilies(const Service& service, const FieldPath& spec) {
  FieldErrorList errors;
  const FieldPath path = spec.Child("ipFamilies");
  std::set<std::string> seen;
  for (size_t i = 0; i < service.spec.ipFamilies.size(); ++i) {
    const std::string& family = service.spec.ipFamilies[i];
    if (family != "IPv4" && family != "IPv6") {
      errors.push_back(FieldError::NotSupported(path.Index(i), family, {"IPv4", "IPv6"}));
    }
    if (!seen.insert(family).second) {
      errors.push_back(FieldError::Duplicate(path.Index(i), family));
    }
  }
  const auto& policy = service.spec.ipFamilyPolicy;
  if (policy && *policy != "SingleStack" && *policy != "PreferDualStack" &&
      *policy != "RequireDualStack") {
    errors.push_back(
        FieldError::NotSupported(spec.Child("ipFamilyPolicy"), *policy,
                                 {"PreferDualStack", "RequireDualStack", "SingleStack"}));
  }
  return errors;
}

// Validates each address. Sets `usable` to whether the addresses can be validated together.
FieldErrorList ValidateAddresses(const Service& service, const Service* old, const FieldPath& path,
                                 bool* usable) {
  FieldErrorList errors;
  const List<std::string>& ips = service.spec.clusterIPs;
  std::vector<std::string_view> known;
  if (old != nullptr) known.assign(old->spec.clusterIPs.begin(), old->spec.clusterIPs.end());
  *usable = true;
  for (size_t i = 0; i < ips.size(); ++i) {
    if (i == 0 && ips[i] == kClusterIpNone) {
      if (ips.size() == 1) continue;
      *usable = false;
      errors.push_back(FieldError::Invalid(path, ips, "'None' must be the first and only value"));
      break;
    }
    FieldErrorList faults = validation::IsValidIPForLegacyField(path.Index(i), ips[i], true, known);
    *usable = *usable && faults.empty();
    Append(errors, std::move(faults));
  }
  if (ips.size() > 2) {
    errors.push_back(FieldError::Invalid(path, ips, "may only hold up to 2 values"));
  }
  return errors;
}

// The first entry of the lists of addresses and families is the primary one.
FieldErrorList ValidateListUpdate(const List<std::string>& now, const List<std::string>& before,
                                  const Service& service, std::string_view list,
                                  std::string_view noun) {
  FieldErrorList errors;
  const FieldPath path = FieldPath("spec").Child(list);
  auto changed = [&](size_t i) {
    if (now[i] == before[i]) return;
    errors.push_back(FieldError::Invalid(path.Index(i), now, "may not change once set"));
  };
  if (now.size() == before.size()) {
    for (size_t i = 0; i < now.size(); ++i) changed(i);
    return errors;
  }
  if (now.size() > before.size()) {
    if (!before.empty()) changed(0);
    return errors;
  }
  if (now.empty()) {
    return {FieldError::Invalid(path.Index(0), now,
                                "primary " + std::string(noun) + " can not be unset")};
  }
  changed(0);
  const auto& policy = service.spec.ipFamilyPolicy;
  if (policy.value_or("") != "SingleStack") {
    errors.push_back(FieldError::Invalid(
        FieldPath("spec").Child("ipFamilyPolicy"),
        policy ? FieldValue(*policy) : FieldValue(nullptr),
        "must be set to 'SingleStack' when releasing the secondary " + std::string(noun)));
  }
  return errors;
}

}  // namespace

FieldErrorList ValidateClusterIpFields(const Service& service, const Service* old) {
  FieldErrorList errors;
  if (service.spec.type == "ExternalName") return errors;  // ValidateService forbids these fields
  const FieldPath spec("spec"), path = spec.Child("clusterIPs");
  const List<std::string>& ips = service.spec.clusterIPs;
  const std::string& first = service.spec.clusterIP;
  if (first.empty() && !ips.empty()) {
    errors.push_back(
        FieldError::Invalid(path, ips, "must be empty when `clusterIP` is not specified"));
  } else if (!first.empty() && ips.empty()) {
    errors.push_back(FieldError::Required(path));
  } else if (!first.empty() && ips[0] != first) {
    errors.push_back(FieldError::Invalid(path, ips, "first value must match `clusterIP`"));
  }
  Append(errors, ValidateFamilies(service, spec));
  bool usable = true;
  Append(errors, ValidateAddresses(service, old, path, &usable));
  if (!usable) return errors;  // further errors would be redundant
  if (ips.size() > 1 && IsIpv6(ips[0]) == IsIpv6(ips[1])) {
    errors.push_back(
        FieldError::Invalid(path, ips, "may specify no more than one IP for each IP family"));
  }
  if (IsHeadless(service)) return errors;
  for (size_t i = 0; i < ips.size() && i < service.spec.ipFamilies.size(); ++i) {
    const std::string& family = service.spec.ipFamilies[i];
    if ((family == "IPv4" && IsIpv6(ips[i])) || (family == "IPv6" && !IsIpv6(ips[i]))) {
      errors.push_back(FieldError::Invalid(path.Index(i), ips[i],
                                           "expected an " + family +
                                               " value as indicated by `ipFamilies[" +
                                               std::to_string(i) + "]`"));
    }
  }
  return errors;
}

FieldErrorList ValidateClusterIpFieldsUpdate(const Service& service, const Service& old) {
  if (service.spec.type == "ExternalName" || old.spec.type == "ExternalName") return {};
  FieldErrorList errors = ValidateListUpdate(service.spec.clusterIPs, old.spec.clusterIPs, service,
                                             "clusterIPs", "clusterIP");
  Append(errors, ValidateListUpdate(service.spec.ipFamilies, old.spec.ipFamilies, service,
                                    "ipFamilies", "ipFamily"));
  return errors;
}

}  // namespace cox::apiserver
