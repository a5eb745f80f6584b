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

// Sets what is missing, and returns the names of it.
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

// What one thing, a container or a whole Pod, asks for, against one item of a range.
class Judge {
 public:
  Judge(const LimitRangeItem& item, Complaints& out) : item_(item), out_(out) {}

  void Check(const Amounts& requests, const Amounts& limits) {
    for (const auto& [name, min] : item_.min) CheckMin(name, min, requests, limits);
    for (const auto& [name, max] : item_.max) {
      const Quantity* limit = limits.Get(name);
      if (limit == nullptr) {
        Say("maximum ", name, max, ".  No limit is specified");
      } else if (!CheckMax(name, max, *limit, "limit")) {
        if (const Quantity* request = requests.Get(name)) CheckMax(name, max, *request, "request");
      }
    }
    for (const auto& [name, ratio] : item_.maxLimitRequestRatio) {
      CheckRatio(name, ratio, requests.Get(name), limits.Get(name));
    }
  }

  // Claims have requests alone.
  void CheckRequests(const Amounts& requests) {
    for (const auto& [name, min] : item_.min) CheckMin(name, min, requests, {});
    for (const auto& [name, max] : item_.max) {
      if (const Quantity* request = requests.Get(name)) {
        CheckMax(name, max, *request, "request");
      } else {
        Say("maximum ", name, max, ".  No request is specified");
      }
    }
  }

 private:
  void Say(std::string_view bound, std::string_view name, const Quantity& enforced,
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
      Say("minimum ", name, min, ".  No request is specified");
    } else if (*request < min) {
      Say("minimum ", name, min, ", but request is " + request->ToString());
    } else if (limit != nullptr && *limit < min) {
      Say("minimum ", name, min, ", but limit is " + limit->ToString());
    }
  }

  // True if it is exceeded.
  bool CheckMax(std::string_view name, const Quantity& max, const Quantity& amount,
                const std::string& what) {
    if (amount <= max) return false;
    Say("maximum ", name, max, ", but " + what + " is " + amount.ToString());
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
    // In thousandths, unless that is more than a number holds.
    constexpr int64_t kFits = INT64_MAX / 1000;
    if (limit.Value() <= kFits && request.Value() <= kFits) {
      return static_cast<double>(limit.MilliValue()) / static_cast<double>(request.MilliValue());
    }
    return static_cast<double>(limit.Value()) / static_cast<double>(request.Value());
  }

  const LimitRangeItem& item_;
  Complaints& out_;
};

}  // namespace

void GiveDefaults(const LimitRange& range, Pod& pod) {
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

Complaints CheckPod(const LimitRange& range, const Pod& pod) {
  Complaints out;
  for (const LimitRangeItem& item : range.spec.limits) {
    Judge judge(item, out);
    if (item.type == core::v1::kLimitTypeContainer) {
      for (const auto* list : {&pod.spec.containers, &pod.spec.initContainers}) {
        for (const Container& container : *list) {
          judge.Check(container.resources.requests, container.resources.limits);
        }
      }
    } else if (item.type == core::v1::kLimitTypePod) {
      const amounts::PodResources total = amounts::AskedFor(pod.spec);
      judge.Check(total.requests, total.limits);
    }
  }
  return out;
}

Complaints CheckClaim(const LimitRange& range, const core::v1::PersistentVolumeClaim& claim) {
  Complaints out;
  for (const LimitRangeItem& item : range.spec.limits) {
    if (item.type != core::v1::kLimitTypePersistentVolumeClaim) continue;
    Judge(item, out).CheckRequests(claim.spec.resources.requests);
  }
  return out;
}

std::string Together(const Complaints& complaints) {
  Complaints once;
  for (const std::string& text : complaints) {
    if (std::find(once.begin(), once.end(), text) == once.end()) once.push_back(text);
  }
  return once.size() == 1 ? once[0] : "[" + Join(once, ", ") + "]";
}

}  // namespace cox::apiserver::limit_ranger
