// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/limit_ranger/limits.h"

#include <algorithm>

#include "apiserver/admission/plugins/shared/pod_resources.h"
#include "base/strings.h"

namespace cox::apiserver::limit_ranger {
namespace {

using amounts::Amounts;
using core::v1::Container;
using core::v1::LimitRange;
using core::v1::LimitRangeItem;
using core::v1::Pod;

// Sets missing amounts and returns their names.
std::vector<std::string_view> Fill(Amounts& amounts, const Amounts& defaults) {
  std::vector<std::string_view> filled;
  for (const auto& [name, amount] : defaults) {
    if (amounts.contains(name)) continue;
    amounts[name] = amount;
    filled.push_back(name);
  }
  return filled;
}

void FillContainers(List<Container>& containers, std::string_view what,
                    const core::v1::ResourceRequirements& defaults,
                    std::vector<std::string>& notes) {
  for (Container& container : containers) {
    auto note = [&](const std::vector<std::string_view>& filled, std::string_view kind) {
      if (filled.empty()) return;
      std::string text = Join(filled, ", ");
      text.append(" ").append(kind).append(" for ").append(what).append(" ");
      notes.push_back(text + container.name);
    };
    note(Fill(container.resources.requests, defaults.requests), "request");
    note(Fill(container.resources.limits, defaults.limits), "limit");
  }
}

// Checks the resources of a container or Pod against one item of a LimitRange.
class LimitChecker {
 public:
  LimitChecker(const LimitRangeItem& item, Violations& out) : item_(item), out_(out) {}

  void Check(const Amounts& requests, const Amounts& limits) {
    for (const auto& [name, min] : item_.min) CheckMin(name, min, requests, limits);
    for (const auto& [name, max] : item_.max) {
      const Quantity* limit = limits.Get(name);
      if (limit == nullptr) {
        AddViolation("maximum ", name, max, ".  No limit is specified");
      } else if (!CheckMax(name, max, *limit, "limit")) {
        if (const Quantity* request = requests.Get(name)) CheckMax(name, max, *request, "request");
      }
    }
    for (const auto& [name, ratio] : item_.maxLimitRequestRatio) {
      CheckRatio(name, ratio, requests.Get(name), limits.Get(name));
    }
  }

  // Claims have only requests.
  void CheckRequests(const Amounts& requests) {
    for (const auto& [name, min] : item_.min) CheckMin(name, min, requests, {});
    for (const auto& [name, max] : item_.max) {
      if (const Quantity* request = requests.Get(name)) {
        CheckMax(name, max, *request, "request");
      } else {
        AddViolation("maximum ", name, max, ".  No request is specified");
      }
    }
  }

 private:
  void AddViolation(std::string_view bound, std::string_view name, const Quantity& enforced,
                    std::string_view why) {
    std::string text(bound);
    text.append(name).append(" usage per ").append(item_.type).append(" is ");
    out_.push_back(text.append(enforced.ToString()).append(why));
  }

  void CheckMin(std::string_view name, const Quantity& min, const Amounts& requests,
                const Amounts& limits) {
    const Quantity* request = requests.Get(name);
    const Quantity* limit = limits.Get(name);
    if (request == nullptr) {
      AddViolation("minimum ", name, min, ".  No request is specified");
    } else if (*request < min) {
      AddViolation("minimum ", name, min, ", but request is " + request->ToString());
    } else if (limit != nullptr && *limit < min) {
      AddViolation("minimum ", name, min, ", but limit is " + limit->ToString());
    }
  }

  // Returns true if the maximum is exceeded.
  bool CheckMax(std::string_view name, const Quantity& max, const Quantity& amount,
                const std::string& what) {
    if (amount <= max) return false;
    AddViolation("maximum ", name, max, ", but " + what + " is " + amount.ToString());
    return true;
  }

  void CheckRatio(std::string_view name, const Quantity& ratio, const Quantity* request,
                  const Quantity* limit) {
    std::string text(name);
    text.append(" max limit to request ratio per ").append(item_.type).append(" is ");
    text += ratio.ToString();
    if (request == nullptr || request->IsZero()) {
      out_.push_back(text + ", but no request is specified or request is 0");
    } else if (limit == nullptr || limit->IsZero()) {
      out_.push_back(text + ", but no limit is specified or limit is 0");
    } else if (const double got = RatioOf(*limit, *request);
               got > static_cast<double>(ratio.MilliValue()) / 1000) {
      out_.push_back(text + ", but provided ratio is " + std::to_string(got));
    }
  }

  static double RatioOf(const Quantity& limit, const Quantity& request) {
    // Use milli-units unless they overflow.
    constexpr int64_t kFits = INT64_MAX / 1000;
    if (limit.Value() <= kFits && request.Value() <= kFits) {
      return static_cast<double>(limit.MilliValue()) / static_cast<double>(request.MilliValue());
    }
    return static_cast<double>(limit.Value()) / static_cast<double>(request.Value());
  }

  const LimitRangeItem& item_;
  Violations& out_;
};

}  // namespace

void ApplyDefaults(const LimitRange& range, Pod& pod) {
  core::v1::ResourceRequirements defaults;
  for (const LimitRangeItem& item : range.spec.limits) {
    if (item.type != core::v1::kLimitTypeContainer) continue;
    for (const auto& [name, amount] : item.defaultRequest) defaults.requests[name] = amount;
    for (const auto& [name, amount] : item.default_) defaults.limits[name] = amount;
  }
  std::vector<std::string> notes;
  FillContainers(pod.spec.containers, "container", defaults, notes);
  FillContainers(pod.spec.initContainers, "init container", defaults, notes);
  if (notes.empty()) return;
  pod.metadata.annotations[kAnnotation] = "LimitRanger plugin set: " + Join(notes, "; ");
}

Violations CheckPod(const LimitRange& range, const Pod& pod) {
  Violations out;
  for (const LimitRangeItem& item : range.spec.limits) {
    LimitChecker checker(item, out);
    if (item.type == core::v1::kLimitTypeContainer) {
      for (const auto* list : {&pod.spec.containers, &pod.spec.initContainers}) {
        for (const Container& container : *list) {
          checker.Check(container.resources.requests, container.resources.limits);
        }
      }
    } else if (item.type == core::v1::kLimitTypePod) {
      const amounts::PodResources total = amounts::SpecResources(pod.spec);
      checker.Check(total.requests, total.limits);
    }
  }
  return out;
}

Violations CheckClaim(const LimitRange& range, const core::v1::PersistentVolumeClaim& claim) {
  Violations out;
  for (const LimitRangeItem& item : range.spec.limits) {
    if (item.type != core::v1::kLimitTypePersistentVolumeClaim) continue;
    LimitChecker(item, out).CheckRequests(claim.spec.resources.requests);
  }
  return out;
}

std::string JoinViolations(const Violations& violations) {
  Violations once;
  for (const std::string& text : violations) {
    if (std::find(once.begin(), once.end(), text) == once.end()) once.push_back(text);
  }
  return once.size() == 1 ? once[0] : "[" + Join(once, ", ") + "]";
}

}  // namespace cox::apiserver::limit_ranger
