// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/node_restriction/api_references.h"

#include "apiserver/filters/authz/node/references.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

std::string OfProjection(const core::v1::VolumeProjection& part, const std::string& volume) {
  if (part.configMap) return "configmaps (via projected volumes)";
  if (part.secret) return "secrets (via projected volumes)";
  if (part.serviceAccountToken) return "serviceaccounts (via projected volumes)";
  if (part.clusterTrustBundle) return "clustertrustbundles";
  if (part.podCertificate) return "podcertificates";
  if (part.downwardAPI) return {};
  return "an unknown source of projected volume " + Quote(volume);
}

// Types of volumes that do not reference API objects.
bool IsLocal(const core::v1::VolumeSource& s) {
  return s.hostPath || s.emptyDir || s.gcePersistentDisk || s.awsElasticBlockStore || s.gitRepo ||
         s.nfs || s.iscsi || s.rbd || s.flexVolume || s.cinder || s.cephfs || s.flocker ||
         s.downwardAPI || s.fc || s.vsphereVolume || s.quobyte || s.azureDisk ||
         s.photonPersistentDisk || s.portworxVolume || s.scaleIO || s.storageos || s.image;
}

std::string OfVolume(const core::v1::Volume& volume) {
  const core::v1::VolumeSource& source = volume.volumeSource;
  if (source.configMap) return "configmaps (via configmap volumes)";
  if (source.secret) return "secrets (via secret volumes)";
  if (source.csi) return "csidrivers (via CSI volumes)";
  if (source.glusterfs) return "endpoints (via glusterFS volumes)";
  if (source.persistentVolumeClaim) return "persistentvolumeclaims";
  if (source.ephemeral) return "persistentvolumeclaims (via ephemeral volumes)";
  if (source.azureFile) return "secrets (via azureFile volumes)";
  if (source.projected) {
    for (const auto& part : source.projected->sources) {
      std::string found = OfProjection(part, volume.name);
      if (!found.empty()) return found;
    }
    return {};
  }
  return IsLocal(source) ? std::string() : "an unknown type of volume " + Quote(volume.name);
}

}  // namespace

std::string ApiReferenceOf(const core::v1::PodSpec& spec) {
  if (!spec.serviceAccountName.empty()) return "serviceaccounts";
  bool any = false;
  const NameVisitor note = [&any](const std::string&) { any = true; };
  VisitSecretNames(spec, note);
  if (any) return "secrets";
  VisitConfigMapNames(spec, note);
  if (any) return "configmaps";
  if (!spec.resourceClaims.empty()) return "resourceclaims";
  for (const auto& volume : spec.volumes) {
    std::string found = OfVolume(volume);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace cox::apiserver
