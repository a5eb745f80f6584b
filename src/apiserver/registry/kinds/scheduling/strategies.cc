// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/scheduling/v1.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/store/strategy.h"
#include "apiserver/registry/validation/field_checks.h"

namespace cox::apiserver {
namespace {

using scheduling::v1::PriorityClass;

constexpr std::string_view kSystemPrefix = "system-";
constexpr int32_t kHighestUserPriority = 1'000'000'000;
constexpr std::string_view kPreemptLower = "PreemptLowerPriority", kNever = "Never";

// The classes of system pods, with values above all that users can define.
struct SystemClass {
  std::string_view name;
  int32_t value;
};
constexpr SystemClass kSystemClasses[] = {
    {"system-node-critical", 2'000'001'000},
    {"system-cluster-critical", 2'000'000'000},
};

// The reason why `pc` is not a system class; empty if it is one.
std::string NotSystemClass(const PriorityClass& pc) {
  const std::string& name = pc.metadata.name;
  for (const SystemClass& known : kSystemClasses) {
    if (known.name != name) continue;
    if (known.value != pc.value) {
      return "value of " + name + " PriorityClass must be " + std::to_string(known.value);
    }
    if (pc.globalDefault) return "globalDefault of " + name + " PriorityClass must be false";
    return "";
  }
  return name + " is not a known system priority class";
}

class PriorityClassStrategy final : public StrategyOf<PriorityClass> {
 public:
  std::string_view storage_prefix() const override { return "priorityclasses"; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Value", .type = "integer"},
        {.name = "Global-Default", .type = "boolean"},
        kAgeColumn,
        {.name = "PreemptionPolicy", .type = "string"},
    };
    return kColumns;
  }

 protected:
  void Default(PriorityClass& pc) const override {
    if (!pc.preemptionPolicy) pc.preemptionPolicy = kPreemptLower;
  }
  void PrepareCreate(const WriteContext&, PriorityClass& pc) const override {
    pc.metadata.generation = 1;
  }

  FieldErrorList Check(const WriteContext&, const PriorityClass& pc) const override {
    FieldErrorList errors;
    if (pc.metadata.name.starts_with(kSystemPrefix)) {
      std::string problem = NotSystemClass(pc);
      if (!problem.empty()) {
        errors.push_back(FieldError::Forbidden(
            FieldPath("metadata").Child("name"),
            "priority class names with 'system-' prefix are reserved for system use only. error: " +
                problem));
      }
    } else if (pc.value > kHighestUserPriority) {
      errors.push_back(FieldError::Forbidden(
          FieldPath("value"), "maximum allowed value of a user defined priority is " +
                                  std::to_string(kHighestUserPriority)));
    }
    if (pc.preemptionPolicy) {
      FieldPath path("preemptionPolicy");
      if (pc.preemptionPolicy->empty()) {
        errors.push_back(FieldError::Required(path));
      } else if (*pc.preemptionPolicy != kPreemptLower && *pc.preemptionPolicy != kNever) {
        errors.push_back(
            FieldError::NotSupported(path, *pc.preemptionPolicy, {kPreemptLower, kNever}));
      }
    }
    return errors;
  }

  // Pods contain copies of the value and the policy, so both are immutable.
  FieldErrorList CheckUpdate(const WriteContext&, const PriorityClass& pc,
                             const PriorityClass& old) const override {
    FieldErrorList errors;
    if (pc.value != old.value) {
      errors.push_back(
          FieldError::Forbidden(FieldPath("value"), "may not be changed in an update."));
    }
    if (pc.preemptionPolicy != old.preemptionPolicy) {
      errors.push_back(validation::ImmutableField(FieldPath("preemptionPolicy"),
                                                  pc.preemptionPolicy.value_or("")));
    }
    return errors;
  }

  Cells RowOf(const PriorityClass& pc, const Time& now) const override {
    return {pc.metadata.name, static_cast<int64_t>(pc.value), pc.globalDefault,
            Age(pc.metadata.creationTimestamp, now), pc.preemptionPolicy.value_or("")};
  }
};

}  // namespace

void AddSchedulingKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(std::make_unique<PriorityClassStrategy>());
}

}  // namespace cox::apiserver
