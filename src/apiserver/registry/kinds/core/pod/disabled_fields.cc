// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/disabled_fields.h"

namespace cox::apiserver {
namespace {

using core::v1::Lifecycle;
using core::v1::PodSpec;
using core::v1::VolumeProjection;

// Calls `visit` with the lifecycle of every container. PodSpec or const PodSpec.
template <class Spec, class Visit>
void VisitLifecycles(Spec& spec, Visit visit) {
  for (auto& container : spec.initContainers) visit(container.lifecycle);
  for (auto& container : spec.containers) visit(container.lifecycle);
  for (auto& container : spec.ephemeralContainers)
    visit(container.ephemeralContainerCommon.lifecycle);
}

template <class Spec, class Visit>
void VisitProjections(Spec& spec, Visit visit) {
  for (auto& volume : spec.volumes) {
    if (!volume.volumeSource.projected) continue;
    for (auto& source : volume.volumeSource.projected->sources) visit(source);
  }
}

struct InUse {
  bool stop_signal = false, trust_bundle = false, certificate = false, scheduling_group = false;
};

InUse FieldsInUse(const PodSpec* old) {
  InUse use;
  if (old == nullptr) return use;
  VisitLifecycles(*old, [&](const Box<Lifecycle>& lifecycle) {
    use.stop_signal |= lifecycle && lifecycle->stopSignal;
  });
  VisitProjections(*old, [&](const VolumeProjection& source) {
    use.trust_bundle |= source.clusterTrustBundle.has_value();
    use.certificate |= source.podCertificate.has_value();
  });
  use.scheduling_group = old->schedulingGroup.has_value();
  return use;
}

}  // namespace

void DropDisabledPodFields(PodSpec& spec, const PodSpec* old) {
  const InUse use = FieldsInUse(old);
  if (!use.stop_signal) {
    VisitLifecycles(spec, [](Box<Lifecycle>& lifecycle) {
      if (!lifecycle || !lifecycle->stopSignal) return;
      lifecycle->stopSignal.reset();
      // Remove the lifecycle if nothing else is set.
      if (!lifecycle->postStart && !lifecycle->preStop) lifecycle.reset();
    });
  }
  VisitProjections(spec, [&](VolumeProjection& source) {
    if (!use.trust_bundle) source.clusterTrustBundle.reset();
    if (!use.certificate) source.podCertificate.reset();
  });
  if (!use.scheduling_group) spec.schedulingGroup.reset();
}

}  // namespace cox::apiserver
