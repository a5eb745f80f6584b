// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <set>
#include <string>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/strategy.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/resource_names.h"

namespace cox::apiserver {
namespace {

using core::v1::LimitRange;
using core::v1::LimitRangeItem;

constexpr std::string_view kPod = "Pod", kContainer = "Container",
                           kPersistentVolumeClaim = "PersistentVolumeClaim";

FieldErrorList CheckType(std::string_view type, const FieldPath& path) {
  FieldErrorList errors;
  AppendInvalid(errors, path, type, validation::IsQualifiedName(type));
  if (!errors.empty() || type.find('/') != std::string_view::npos) return errors;
  if (type != kPod && type != kContainer && type != kPersistentVolumeClaim) {
    errors.push_back(
        FieldError::Invalid(path, type, "must be a standard limit type or fully qualified"));
  }
  return errors;
}

void CheckNames(FieldErrorList& errors, std::string_view type, const Map<Quantity>& amounts,
                const FieldPath& path, std::set<std::string_view>* names) {
  for (const auto& [name, amount] : amounts) {
    bool of_containers = type == kPod || type == kContainer;
    Append(errors, of_containers ? ValidateContainerResourceName(name, path.Key(name))
                                 : ValidateResourceName(name, path.Key(name)));
    names->insert(name);
  }
}

// Reports that `low` exceeds `high` ("2 is greater than ... 1"); `blamed` is the value in the
// error.
void CheckOrder(FieldErrorList& errors, const Quantity* low, const Quantity* high,
                const FieldPath& path, const Quantity& blamed, std::string_view low_name,
                std::string_view high_name) {
  if (low == nullptr || high == nullptr || low->Cmp(*high) <= 0) return;
  std::string text(low_name);
  text.append(" ").append(low->ToString()).append(" is greater than ");
  text.append(high_name).append(" ").append(high->ToString());
  errors.push_back(FieldError::Invalid(path, ValueOf(blamed), std::move(text)));
}

// The largest ratio of limit to request that max and min allow.
double LargestRatio(const Quantity& max, const Quantity& min) {
  constexpr int64_t kMilliFits = INT64_MAX / 1000;
  if (max.Value() < kMilliFits && min.Value() < kMilliFits) {
    return static_cast<double>(max.MilliValue()) / static_cast<double>(min.MilliValue());
  }
  return static_cast<double>(max.Value()) / static_cast<double>(min.Value());
}

void CheckRatio(FieldErrorList& errors, const Quantity& ratio, const Quantity* max,
                const Quantity* min, const FieldPath& path) {
  if (ratio.Cmp(Quantity(1)) < 0) {
    errors.push_back(
        FieldError::Invalid(path, ValueOf(ratio), "ratio " + ratio.ToString() + " is less than 1"));
  }
  if (max == nullptr || min == nullptr) return;
  double largest = LargestRatio(*max, *min);
  double wanted = static_cast<double>(ratio.MilliValue()) / 1000;
  if (wanted > largest) {
    errors.push_back(FieldError::Invalid(
        path, ValueOf(ratio),
        "ratio " + ratio.ToString() + " is greater than max/min = " + std::to_string(largest)));
  }
}

// Validates that the quantities of one resource are consistent.
void CheckAmounts(FieldErrorList& errors, const LimitRangeItem& item, std::string_view name,
                  const FieldPath& path) {
  const Quantity* max = item.max.Get(name);
  const Quantity* min = item.min.Get(name);
  const Quantity* limit = item.default_.Get(name);
  const Quantity* request = item.defaultRequest.Get(name);
  FieldPath min_path = path.Child("min").Key(name);
  FieldPath limit_path = path.Child("default").Key(name);
  FieldPath request_path = path.Child("defaultRequest").Key(name);

  if (min != nullptr) CheckOrder(errors, min, max, min_path, *min, "min value", "max value");
  if (request != nullptr) {
    CheckOrder(errors, min, request, request_path, *request, "min value", "default request value");
    CheckOrder(errors, request, max, request_path, *request, "default request value", "max value");
    CheckOrder(errors, request, limit, request_path, *request, "default request value",
               "default limit value");
  }
  // Upstream's error contains the bound here, not the default.
  if (min != nullptr) {
    CheckOrder(errors, min, limit, limit_path, *min, "min value", "default value");
  }
  if (max != nullptr) {
    CheckOrder(errors, limit, max, limit_path, *max, "default value", "max value");
  }
  if (const Quantity* ratio = item.maxLimitRequestRatio.Get(name)) {
    CheckRatio(errors, *ratio, max, min, path.Child("maxLimitRequestRatio").Key(name));
  }
  if (!IsOvercommitAllowed(name) && limit != nullptr && request != nullptr &&
      limit->Cmp(*request) != 0) {
    errors.push_back(FieldError::Invalid(request_path, ValueOf(*request),
                                         "default value " + limit->ToString() +
                                             " must equal to defaultRequest value " +
                                             request->ToString() + " in " + std::string(name)));
  }
}

void CheckItem(FieldErrorList& errors, const LimitRangeItem& item, const FieldPath& path) {
  std::set<std::string_view> names;
  CheckNames(errors, item.type, item.max, path.Child("max"), &names);
  CheckNames(errors, item.type, item.min, path.Child("min"), &names);
  if (item.type == kPod) {
    constexpr const char* kNotForPods = "may not be specified when `type` is 'Pod'";
    if (!item.default_.empty()) {
      errors.push_back(FieldError::Forbidden(path.Child("default"), kNotForPods));
    }
    if (!item.defaultRequest.empty()) {
      errors.push_back(FieldError::Forbidden(path.Child("defaultRequest"), kNotForPods));
    }
  } else {
    CheckNames(errors, item.type, item.default_, path.Child("default"), &names);
    CheckNames(errors, item.type, item.defaultRequest, path.Child("defaultRequest"), &names);
  }
  if (item.type == kPersistentVolumeClaim && !item.min.contains("storage") &&
      !item.max.contains("storage")) {
    errors.push_back(FieldError::Required(
        path.Child("limits"),
        "either minimum or maximum storage value is required, but neither was provided"));
  }
  CheckNames(errors, item.type, item.maxLimitRequestRatio, path.Child("maxLimitRequestRatio"),
             &names);
  for (std::string_view name : names) CheckAmounts(errors, item, name, path);
}

// Derives the default limit and request of containers from the bounds.
void DefaultItem(LimitRangeItem& item) {
  if (item.type != kContainer) return;
  auto fill = [](Map<Quantity>& into, const Map<Quantity>& from) {
    for (const auto& [name, amount] : from) {
      if (!into.contains(name)) into[name] = amount;
    }
  };
  fill(item.default_, item.max);
  fill(item.defaultRequest, item.default_);
  fill(item.defaultRequest, item.min);
}

class LimitRangeStrategy final : public StrategyOf<LimitRange> {
 public:
  std::string_view storage_prefix() const override { return "limitranges"; }
  bool AllowCreateOnUpdate() const override { return true; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {kNameColumn, {.name = "Created At", .type = "date"}};
    return kColumns;
  }

 protected:
  void Default(LimitRange& range) const override {
    for (LimitRangeItem& item : range.spec.limits) DefaultItem(item);
  }
  // The only kind that does not require a name on create.
  void PrepareCreate(const WriteContext&, LimitRange& range) const override {
    if (range.metadata.name.empty() && range.metadata.generateName.empty()) {
      range.metadata.name = NewUid();
    }
  }
  FieldErrorList Check(const WriteContext&, const LimitRange& range) const override {
    FieldErrorList errors;
    std::set<std::string_view> types;
    FieldPath path = FieldPath("spec").Child("limits");
    for (size_t i = 0; i < range.spec.limits.size(); ++i) {
      const LimitRangeItem& item = range.spec.limits[i];
      FieldPath at = path.Index(i);
      Append(errors, CheckType(item.type, at.Child("type")));
      if (!types.insert(item.type).second) {
        errors.push_back(FieldError::Duplicate(at.Child("type"), item.type));
      }
      CheckItem(errors, item, at);
    }
    return errors;
  }
  Cells RowOf(const LimitRange& range, const Time&) const override {
    return {range.metadata.name, range.metadata.creationTimestamp.ToString()};
  }
};

}  // namespace

StrategyPtr NewLimitRangeStrategy() { return std::make_unique<LimitRangeStrategy>(); }

}  // namespace cox::apiserver
