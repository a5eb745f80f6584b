// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "api/node/v1.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/store/strategy.h"
#include "apiserver/registry/validation/field_checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using node::v1::RuntimeClass;

// Deprecated node labels.
struct DeprecatedLabel {
  std::string_view key, since, instead;
};
constexpr DeprecatedLabel kDeprecatedLabels[] = {
    {"beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"},
    {"beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"},
    {"failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"},
    {"failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"},
    {"beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"},
};

FieldErrorList CheckScheduling(const node::v1::Scheduling& scheduling) {
  FieldPath path("scheduling");
  FieldErrorList errors = ValidateLabels(scheduling.nodeSelector, path.Child("nodeSelector"));
  FieldPath tolerations = path.Child("tolerations");
  Append(errors, ValidateTolerations(scheduling.tolerations, tolerations));
  for (size_t i = 0; i < scheduling.tolerations.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!DeepEqual(scheduling.tolerations[i], scheduling.tolerations[j])) continue;
      errors.push_back(
          FieldError::Duplicate(tolerations.Index(i), InternalValue(scheduling.tolerations[i])));
      break;
    }
  }
  return errors;
}

class RuntimeClassStrategy final : public StrategyOf<RuntimeClass> {
 public:
  std::string_view storage_prefix() const override { return "runtimeclasses"; }
  bool AllowUnconditionalUpdate() const override { return false; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn, {.name = "Handler", .type = "string"}, kAgeColumn};
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const RuntimeClass& rc) const override {
    FieldErrorList errors;
    if (rc.handler.empty()) {
      errors.push_back(FieldError::Required(FieldPath("handler")));
    } else {
      AppendInvalid(errors, FieldPath("handler"), rc.handler,
                    validation::NameIsDNSLabel(rc.handler, false));
    }
    if (rc.overhead) {
      // Validated as limits of a container, to which the overhead is added.
      core::v1::ResourceRequirements limits;
      limits.limits = rc.overhead->podFixed;
      Append(errors, ValidateResourceRequirements(limits, nullptr, FieldPath("overhead")));
    }
    if (rc.scheduling) Append(errors, CheckScheduling(*rc.scheduling));
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext& w, const RuntimeClass& rc,
                             const RuntimeClass& old) const override {
    FieldErrorList errors = Check(w, rc);
    if (rc.handler != old.handler) {
      errors.push_back(validation::ImmutableField(FieldPath("handler"), rc.handler));
    }
    return errors;
  }
  Warnings Warn(const WriteContext&, const RuntimeClass& rc, const RuntimeClass*) const override {
    Warnings warnings;
    if (!rc.scheduling) return warnings;
    for (const auto& [key, value] : rc.scheduling->nodeSelector) {
      for (const DeprecatedLabel& label : kDeprecatedLabels) {
        if (label.key != key) continue;
        std::string text = "scheduling.nodeSelector: deprecated since ";
        text.append(label.since).append("; use \"").append(label.instead).append("\" instead");
        warnings.push_back(std::move(text));
      }
    }
    return warnings;
  }
  Cells RowOf(const RuntimeClass& rc, const Time& now) const override {
    return {rc.metadata.name, rc.handler, Age(rc.metadata.creationTimestamp, now)};
  }
};

}  // namespace

void AddNodeKinds(std::vector<StrategyPtr>* kinds) {
  kinds->push_back(std::make_unique<RuntimeClassStrategy>());
}

}  // namespace cox::apiserver
