// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "apiserver/registry/validation/resource_names.h"
#include "object/core/pod_amounts.h"

namespace cox::apiserver {
namespace pod {
namespace {

using core::v1::ResourceRequirements;
using Amounts = Map<Quantity>;

constexpr std::string_view kHugePagesPrefix = "hugepages-";

bool IsComputeName(std::string_view name) { return name == "cpu" || name == "memory"; }

// Hugepage quantities must be multiples of the page size: hugepages-2Mi in multiples of 2Mi.
bool IsWholePages(std::string_view name, const Quantity& amount) {
  Result<Quantity> page = Quantity::Parse(name.substr(kHugePagesPrefix.size()));
  if (!page.ok() || page->Sign() <= 0) return true;
  return amount.Value() % page->Value() == 0;
}

FieldErrorList CheckAmount(std::string_view name, const Quantity& amount, const FieldPath& path,
                           const PodValidationOptions& options) {
  FieldErrorList errors = ValidateContainerResourceName(name, path);
  Append(errors, ValidateResourceQuantityValue(name, amount, path));
  if (IsHugePageResourceName(name) && !options.allow_indivisible_huge_pages &&
      !IsWholePages(name, amount)) {
    errors.push_back(
        FieldError::Invalid(path, amount.ToString(), "must be integer multiple of page size"));
  }
  return errors;
}

// Compares a request with the limit of the same name. Resources that cannot be overcommitted need a
// limit that equals the request.
FieldErrorList CheckRequestAgainstLimit(std::string_view name, const Quantity& request,
                                        const Amounts& limits, const FieldPath& path) {
  const Quantity* limit = limits.Get(name);
  if (limit == nullptr) {
    if (IsOvercommitAllowed(name)) return {};
    return {FieldError::Required(path.Child("limits"),
                                 "Limit must be set for non overcommitable resources")};
  }
  std::string rule;
  if (!IsOvercommitAllowed(name)) {
    if (request.Cmp(*limit) != 0) rule = "must be equal to ";
  } else if (request.Cmp(*limit) > 0) {
    rule = "must be less than or equal to ";
  }
  if (rule.empty()) return {};
  rule.append(name).append(" limit of ").append(limit->ToString());
  return {FieldError::Invalid(path.Child("requests"), request.ToString(), std::move(rule))};
}

FieldErrorList CheckClaimNames(const List<core::v1::ResourceClaim>& claims,
                               const std::vector<std::string>& pod_claims, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string> seen;
  for (size_t i = 0; i < claims.size(); ++i) {
    const core::v1::ResourceClaim& claim = claims[i];
    const FieldPath at = path.Index(i);
    if (claim.name.empty()) {
      errors.push_back(FieldError::Required(at));
      continue;
    }
    // Several requests of a claim can be used, but the claim as a whole only once.
    std::string key = claim.request.empty() ? claim.name : claim.name + "/" + claim.request;
    if (seen.contains(key) || seen.contains(claim.name)) {
      errors.push_back(FieldError::Duplicate(at, key));
    } else {
      seen.insert(std::move(key));
    }
    if (std::find(pod_claims.begin(), pod_claims.end(), claim.name) != pod_claims.end()) continue;
    FieldError missing = FieldError::NotFound(at, claim.name);
    missing.detail = "must be one of the names in pod.spec.resourceClaims";
    if (pod_claims.empty()) missing.detail += " which is empty";
    errors.push_back(std::move(missing));
  }
  return errors;
}

bool Names(const Amounts& amounts, bool (*test)(std::string_view)) {
  return std::any_of(amounts.begin(), amounts.end(),
                     [&](const auto& entry) { return test(entry.first); });
}

bool IsPodLevelResource(std::string_view name) {
  return IsComputeName(name) || IsHugePageResourceName(name);
}

FieldErrorList CheckPodAmounts(const Amounts& amounts, const FieldPath& path) {
  FieldErrorList errors;
  for (const auto& [name, amount] : amounts) {
    const FieldPath at = path.Key(name);
    FieldErrorList of_name = ValidateResourceName(name, at);
    const bool bad_name = !of_name.empty();
    Append(errors, std::move(of_name));
    if (bad_name) continue;
    if (!IsPodLevelResource(name)) {
      errors.push_back(FieldError::NotSupported(at, name, {"cpu", "hugepages-", "memory"}));
    }
    Append(errors, ValidateResourceQuantityValue(name, amount, at));
  }
  return errors;
}

// The total requests of the containers: of those that run at the same time, or of a larger init
// container.
Amounts AggregateRequests(const PodSpec& spec) {
  const auto add = [](Amounts& to, const Amounts& amounts) {
    for (const auto& [name, amount] : amounts)
      if (IsPodLevelResource(name)) to[name].Add(amount);
  };
  const auto raise = [](Amounts& to, const Amounts& amounts) {
    for (const auto& [name, amount] : amounts)
      if (amount.Cmp(to[name]) > 0) to[name] = amount;
  };
  const auto of = [&](const Container& container, bool) {
    Amounts amounts;
    add(amounts, container.resources.requests);
    return amounts;
  };
  return core_rules::AggregateContainerResources(spec, of, add, raise);
}

FieldErrorList CheckContainersFit(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath requests = path.Child("resources").Child("requests");
  for (const auto& [name, needed] : AggregateRequests(spec)) {
    const Quantity* granted = spec.resources->requests.Get(name);
    if (granted == nullptr || needed.Cmp(*granted) <= 0) continue;
    errors.push_back(FieldError::Invalid(
        requests.Key(name), granted->ToString(),
        "must be greater than or equal to aggregate container requests of " + needed.ToString()));
  }
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    const FieldPath limits = path.Child("containers").Index(i).Child("resources").Child("limits");
    for (const auto& [name, limit] : spec.containers[i].resources.limits) {
      const Quantity* granted = spec.resources->limits.Get(name);
      if (granted == nullptr || limit.Cmp(*granted) <= 0) continue;
      errors.push_back(FieldError::Invalid(
          limits.Key(name), limit.ToString(),
          "must be less than or equal to pod limits of " + granted->ToString()));
    }
  }
  return errors;
}

}  // namespace

FieldErrorList CheckPodResources(const PodSpec& spec, const FieldPath& path,
                                 const PodValidationOptions&) {
  if (!spec.resources) return {};
  const ResourceRequirements& resources = *spec.resources;
  const FieldPath at = path.Child("resources");
  FieldErrorList errors;
  if (!resources.claims.empty()) {
    errors.push_back(FieldError::Forbidden(at.Child("claims"),
                                           "claims cannot be set for Resources at pod-level"));
  }
  Append(errors, CheckPodAmounts(resources.limits, at.Child("limits")));
  Append(errors, CheckPodAmounts(resources.requests, at.Child("requests")));
  for (const auto& [name, request] : resources.requests) {
    if (IsPodLevelResource(name))
      Append(errors, CheckRequestAgainstLimit(name, request, resources.limits, at));
  }
  if (errors.empty()) Append(errors, CheckContainersFit(spec, path));
  return errors;
}

FieldErrorList CheckResourceClaims(const List<core::v1::PodResourceClaim>& claims,
                                   const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> names;
  for (size_t i = 0; i < claims.size(); ++i) {
    const core::v1::PodResourceClaim& claim = claims[i];
    const FieldPath at = path.Index(i);
    if (claim.name.empty()) {
      errors.push_back(FieldError::Required(at.Child("name")));
    } else if (!names.insert(claim.name).second) {
      errors.push_back(FieldError::Duplicate(at.Child("name"), claim.name));
    } else {
      Append(errors, CheckDnsLabel(claim.name, at.Child("name")));
    }
    if (claim.resourceClaimName && claim.resourceClaimTemplateName) {
      errors.push_back(FieldError::Invalid(
          at, InternalValue(claim),
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"));
    } else if (!claim.resourceClaimName && !claim.resourceClaimTemplateName) {
      errors.push_back(FieldError::Invalid(
          at, InternalValue(claim),
          "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
    if (claim.resourceClaimName) {
      Append(errors, CheckDnsSubdomain(*claim.resourceClaimName, at.Child("resourceClaimName")));
    }
    if (claim.resourceClaimTemplateName) {
      Append(errors, CheckDnsSubdomain(*claim.resourceClaimTemplateName,
                                       at.Child("resourceClaimTemplateName")));
    }
  }
  return errors;
}

FieldErrorList CheckResizePolicy(const List<core::v1::ContainerResizePolicy>& policies,
                                 std::string_view restart_policy, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> resources;
  for (size_t i = 0; i < policies.size(); ++i) {
    const core::v1::ContainerResizePolicy& policy = policies[i];
    if (!resources.insert(policy.resourceName).second)
      errors.push_back(FieldError::Duplicate(path.Index(i), policy.resourceName));
    Append(errors, CheckEnum(policy.resourceName, path, {"cpu", "memory"}));
    Append(errors, CheckEnum(policy.restartPolicy, path, {"NotRequired", "RestartContainer"}));
    if (restart_policy == "Never" && policy.restartPolicy == "RestartContainer") {
      errors.push_back(FieldError::Invalid(
          path, policy.restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    }
  }
  return errors;
}

}  // namespace pod

FieldErrorList ValidateResourceRequirements(const core::v1::ResourceRequirements& resources,
                                            const std::vector<std::string>* pod_claims,
                                            const FieldPath& path,
                                            const PodValidationOptions& options) {
  FieldErrorList errors;
  for (const auto& [name, amount] : resources.limits)
    Append(errors, pod::CheckAmount(name, amount, path.Child("limits").Key(name), options));
  for (const auto& [name, amount] : resources.requests) {
    Append(errors, pod::CheckAmount(name, amount, path.Child("requests").Key(name), options));
    Append(errors, pod::CheckRequestAgainstLimit(name, amount, resources.limits, path));
  }
  // Hugepages alone would make the pod BestEffort, although the pages cannot be reclaimed.
  const bool pages = pod::Names(resources.limits, IsHugePageResourceName) ||
                     pod::Names(resources.requests, IsHugePageResourceName);
  const bool compute = pod::Names(resources.limits, pod::IsComputeName) ||
                       pod::Names(resources.requests, pod::IsComputeName);
  if (pages && !compute) {
    errors.push_back(FieldError::Forbidden(path, "HugePages require cpu or memory"));
  }
  if (pod_claims != nullptr) {
    Append(errors, pod::CheckClaimNames(resources.claims, *pod_claims, path.Child("claims")));
  }
  return errors;
}

}  // namespace cox::apiserver
