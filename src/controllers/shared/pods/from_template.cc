// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/pods/from_template.h"

#include "object/owner.h"

namespace cox::controllers::pods {

core::v1::Pod PodFromTemplate(const core::v1::PodTemplateSpec& spec, const KindInfo& kind,
                              const meta::v1::ObjectMeta& owner) {
  core::v1::Pod pod;
  pod.metadata.generateName = owner.name + "-";
  pod.metadata.namespace_ = owner.namespace_;
  pod.metadata.labels = spec.metadata.labels;
  pod.metadata.annotations = spec.metadata.annotations;
  pod.metadata.finalizers = spec.metadata.finalizers;
  pod.metadata.ownerReferences = {ControllerRef(kind, owner)};
  pod.spec = spec.spec;
  return pod;
}

}  // namespace cox::controllers::pods
