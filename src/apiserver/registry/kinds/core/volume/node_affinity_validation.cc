// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/volume/node_affinity_validation.h"

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/internal_value.h"
#include "object/type/equal.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;

struct RenamedLabel {
  std::string_view label, replacement, message;
};

constexpr RenamedLabel kRenamed[] = {
    {"beta.kubernetes.io/arch", "kubernetes.io/arch",
     "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
    {"beta.kubernetes.io/os", "kubernetes.io/os",
     "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region",
     "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone",
     "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
    {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type",
     "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
};

}  // namespace

FieldErrorList ValidateVolumeNodeAffinity(const cv::VolumeNodeAffinity& affinity,
                                          const FieldPath& path) {
  if (!affinity.required) {
    return {FieldError::Required(path.Child("required"), "must specify required node constraints")};
  }
  return ValidateNodeSelector(*affinity.required, path.Child("required"));
}

FieldErrorList ValidateVolumeNodeAffinityUpdate(const cv::VolumeNodeAffinity* affinity,
                                                const cv::VolumeNodeAffinity& old,
                                                const FieldPath& path) {
  cv::VolumeNodeAffinity renamed = old;
  if (affinity != nullptr && affinity->required && renamed.required) {
    auto& terms = renamed.required->nodeSelectorTerms;
    const auto& new_terms = affinity->required->nodeSelectorTerms;
    for (size_t i = 0; i < terms.size() && i < new_terms.size(); ++i) {
      auto& expressions = terms[i].matchExpressions;
      const auto& new_expressions = new_terms[i].matchExpressions;
      for (size_t j = 0; j < expressions.size() && j < new_expressions.size(); ++j) {
        for (const RenamedLabel& label : kRenamed) {
          if (expressions[j].key == label.label && new_expressions[j].key == label.replacement) {
            expressions[j].key = label.replacement;
          }
        }
      }
    }
  }
  if (affinity != nullptr && DeepEqual(*affinity, renamed)) return {};
  return {validation::ImmutableField(
      path, affinity != nullptr ? InternalValue(*affinity) : FieldValue(nullptr))};
}

std::vector<std::string> WarningsForNodeSelector(const cv::NodeSelector& selector,
                                                 const FieldPath& path) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < selector.nodeSelectorTerms.size(); ++i) {
    const auto& expressions = selector.nodeSelectorTerms[i].matchExpressions;
    for (size_t j = 0; j < expressions.size(); ++j) {
      const std::string_view message = DeprecatedNodeLabel(expressions[j].key);
      if (message.empty()) continue;
      const FieldPath key =
          path.Child("nodeSelectorTerms").Index(i).Child("matchExpressions").Index(j).Child("key");
      warnings.push_back(key.ToString() + ": " + expressions[j].key + " is " +
                         std::string(message));
    }
  }
  return warnings;
}

std::string_view DeprecatedNodeLabel(std::string_view label) {
  for (const RenamedLabel& renamed : kRenamed) {
    if (renamed.label == label) return renamed.message;
  }
  return {};
}

}  // namespace cox::apiserver
