// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/resource_quota/check.h"

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace cox::apiserver::quota {
namespace {

using core::v1::ResourceQuota;

Status Refused(const AdmissionRequest& request, const std::string& why) {
  return ForbiddenError(request.resource.resource(), request.name, why);
}

List<Scope> ScopesOf(const ResourceQuota& quota) {
  List<Scope> scopes;
  for (const std::string& name : quota.spec.scopes) {
    Scope scope;
    scope.scopeName = name;
    scope.operator_ = core::v1::kScopeSelectorOpExists;
    scopes.push_back(std::move(scope));
  }
  if (quota.spec.scopeSelector) {
    const List<Scope>& more = quota.spec.scopeSelector->matchExpressions;
    scopes.insert(scopes.end(), more.begin(), more.end());
  }
  return scopes;
}

// "[{PriorityClass In [high low]}]"
std::string ToText(const List<Scope>& scopes) {
  std::vector<std::string> parts;
  for (const Scope& scope : scopes) {
    parts.push_back("{" + scope.scopeName + " " + scope.operator_ + " [" + Join(scope.values, " ") +
                    "]}");
  }
  return "[" + Join(parts, " ") + "]";
}

std::string NamesOf(const Amounts& amounts) {
  std::vector<std::string> names;
  for (const auto& [name, amount] : amounts) names.push_back(name);
  return Join(names, ",");
}

// The quotas of the namespace that apply to one object.
struct Coverage {
  std::vector<size_t> pertinent;  // indexes of the matching quotas
  std::set<std::string> bounded;  // resources that a matching quota limits
  std::set<std::string> scopes;   // scopes of all quotas that contain the object
};

Result<Coverage> CoverageOf(const AdmissionRequest& request, const Evaluator& evaluator,
                            const std::vector<OpenQuota>& quotas) {
  Coverage coverage;
  for (size_t i = 0; i < quotas.size(); ++i) {
    const ResourceQuota& quota = quotas[i].quota;
    bool in_all_scopes = true;
    for (const Scope& scope : ScopesOf(quota)) {
      if (evaluator.InScope(scope, *request.object)) {
        coverage.scopes.insert(scope.scopeName);
      } else {
        in_all_scopes = false;
      }
    }
    Amounts bounds;
    for (const auto& [name, hard] : quota.status.hard) {
      if (evaluator.Measures(name)) bounds[name] = hard;
    }
    if (!in_all_scopes || bounds.empty()) continue;
    if (const std::string missing = evaluator.Missing(bounds, *request.object); !missing.empty()) {
      return Refused(request, "failed quota: " + quota.metadata.name + ": " + missing);
    }
    // The quota controller has not calculated the usage yet, so nothing can be charged.
    if (Masked(quotas[i].used, bounds).size() != bounds.size()) {
      return Refused(request, "status unknown for quota: " + quota.metadata.name +
                                  ", resources: " + NamesOf(bounds));
    }
    coverage.pertinent.push_back(i);
    for (const auto& [name, hard] : bounds) coverage.bounded.insert(name);
  }
  return coverage;
}

// Checks that a quota covers the resources that are limited by default.
Status CheckCovered(const AdmissionRequest& request, const Evaluator& evaluator,
                    const LimitedResources& limited, const Amounts& usage,
                    const Coverage& coverage) {
  std::set<std::string> uncovered;
  List<Scope> uncovered_scopes;
  const Resource resource = request.resource.resource();
  for (const LimitedResource& limit : limited) {
    if (limit.group == resource.group && limit.resource == resource.name) {
      for (const auto& [name, amount] : usage) {
        const bool matches = std::any_of(
            limit.match_contains.begin(), limit.match_contains.end(),
            [&name = name](const std::string& part) { return name.find(part) != name.npos; });
        if (matches && !coverage.bounded.contains(name)) uncovered.insert(name);
      }
    }
    for (const Scope& scope : limit.match_scopes) {
      if (evaluator.InScope(scope, *request.object) && !coverage.scopes.contains(scope.scopeName)) {
        uncovered_scopes.push_back(scope);
      }
    }
  }
  if (!uncovered.empty()) {
    return Refused(request, "insufficient quota to consume: " + Join(uncovered, ","));
  }
  if (!uncovered_scopes.empty()) {
    return Refused(request,
                   "insufficient quota to match these scopes: " + ToText(uncovered_scopes));
  }
  return {};
}

// Returns the usage of a quota after the request. Errors: Forbidden if the quota is exceeded.
Result<Amounts> Charge(const AdmissionRequest& request, const OpenQuota& open,
                       const Amounts& wanted) {
  const Amounts& hard = open.quota.status.hard;
  const Amounts requested = Masked(wanted, hard);
  Amounts used = open.used;
  Add(used, requested);
  Amounts exceeded;
  for (const auto& [name, amount] : requested) {
    if (*used.Get(name) > *hard.Get(name)) exceeded[name] = amount;
  }
  if (exceeded.empty()) return used;
  return Refused(request, "exceeded quota: " + open.quota.metadata.name +
                              ", requested: " + quota::ToText(exceeded) +
                              ", used: " + quota::ToText(Masked(open.used, exceeded)) +
                              ", limited: " + quota::ToText(Masked(hard, exceeded)));
}

}  // namespace

Result<Charges> CheckRequest(const AdmissionRequest& request, const Evaluator& evaluator,
                             const LimitedResources& limited, const Time& now,
                             const std::vector<OpenQuota>& quotas) {
  COX_ASSIGN_OR_RETURN(const Coverage coverage, CoverageOf(request, evaluator, quotas));
  Charges charges;
  for (const OpenQuota& quota : quotas) charges.push_back(quota.used);

  const Amounts usage = evaluator.Usage(*request.object, now);
  Amounts negative;
  for (const auto& [name, amount] : usage) {
    if (amount.Sign() < 0) negative[name] = amount;
  }
  if (!negative.empty()) {
    return Refused(request, "quota usage is negative for resource(s): " + NamesOf(negative));
  }
  const bool updates = request.operation == Operation::kUpdate && request.old != nullptr;
  const Amounts wanted = Increase(usage, updates ? evaluator.Usage(*request.old, now) : Amounts());
  if (wanted.empty()) return charges;

  COX_RETURN_IF_ERROR(CheckCovered(request, evaluator, limited, usage, coverage));
  for (size_t index : coverage.pertinent) {
    COX_ASSIGN_OR_RETURN(charges[index], Charge(request, quotas[index], wanted));
  }
  return charges;
}

}  // namespace cox::apiserver::quota
