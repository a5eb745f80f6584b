// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/authentication/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"
#include "apiserver/filters/authz/node/references.h"
#include "base/strings.h"

// Tokens of service accounts: a node gets those that are bound to its Pods, for audiences the Pods
// use.
namespace cox::apiserver {
namespace {

// The CSI driver of a volume, of a Pod or of its own. Those that were part of Kubernetes once are
// run by drivers now. Empty if it has none.
template <class Source>
std::string DriverOf(const Source& source) {
  if (source.csi) return source.csi->driver;
  if (source.awsElasticBlockStore) return "ebs.csi.aws.com";
  if (source.azureDisk) return "disk.csi.azure.com";
  if (source.azureFile) return "file.csi.azure.com";
  if (source.cinder) return "cinder.csi.openstack.org";
  if (source.gcePersistentDisk) return "pd.csi.storage.gke.io";
  if (source.portworxVolume) return "pxd.portworx.com";
  if (source.vsphereVolume) return "csi.vsphere.vmware.com";
  return {};
}

bool ProjectsToken(const core::v1::VolumeSource& source, const std::string& audience) {
  if (!source.projected) return false;
  const auto& parts = source.projected->sources;
  return std::any_of(parts.begin(), parts.end(), [&](const core::v1::VolumeProjection& part) {
    return part.serviceAccountToken && part.serviceAccountToken->audience == audience;
  });
}

}  // namespace

Status NodeRestriction::CheckToken(const Ask& ask) const {
  const AdmissionRequest& request = ask.request;
  if (request.operation != Operation::kCreate || request.subresource != "token") return {};
  const auto& spec = request.object->As<authentication::v1::TokenRequest>()->spec;
  const auto& ref = spec.boundObjectRef;
  if (!ref || ref->apiVersion != "v1" || ref->kind != "Pod" || ref->name.empty()) {
    return Refuse(ask, "node requested token not bound to a pod");
  }
  if (ref->uid.empty()) {
    return Refuse(ask, "node requested token with a pod binding without a uid");
  }
  const Result<Object> found = Find(ask, core::v1::Pod::kKind, request.ns, ref->name);
  if (found.status().Is(Reason::kNotFound)) return found.status();
  if (!found.ok()) return Refuse(ask, found.status().message());
  const auto& pod = *found->As<core::v1::Pod>();
  if (ref->uid != pod.metadata.uid) {
    return Refuse(ask, "the UID in the bound object reference (" + ref->uid +
                           ") does not match the UID in record. The object might have been deleted "
                           "and then recreated");
  }
  if (pod.spec.nodeName != ask.node) {
    return Refuse(ask, "node requested token bound to a pod scheduled on a different node");
  }
  return CheckAudience(ask, spec.audiences, pod);
}

Status NodeRestriction::CheckAudience(const Ask& ask, const List<std::string>& audiences,
                                      const core::v1::Pod& pod) const {
  if (audiences.size() > 1) return Refuse(ask, "node may only request 0 or 1 audiences");
  // None is that of the API server, which Pods ask for by the empty name.
  const std::string audience = audiences.empty() ? std::string() : audiences.front();
  const Result<bool> uses = UsesAudience(ask, pod, audience);
  if (!uses.ok()) {
    return Refuse(ask,
                  "error validating audience " + Quote(audience) + ": " + uses.status().message());
  }
  if (*uses) return {};
  // Kubelets also need tokens to pull images with: roles say for which audiences.
  RequestInfo may;
  may.is_resource = true;
  may.verb = "request-serviceaccounts-token-audience";
  may.version = "v1";
  may.resource = audience;
  may.namespace_ = ask.request.ns;
  may.name = ask.request.name;
  if (parts_.authorizer.Authorize(ask.request.user, may).allowed) return {};
  return Refuse(ask, "audience " + Quote(audience) + " not found in pod spec volume, " +
                         ask.request.user.name +
                         " is not authorized to request tokens for this audience");
}

Result<std::string> NodeRestriction::DriverOfClaim(const Ask& ask, const std::string& claim) const {
  COX_ASSIGN_OR_RETURN(const Object found,
                       Find(ask, core::v1::PersistentVolumeClaim::kKind, ask.request.ns, claim));
  const std::string& volume = found.As<core::v1::PersistentVolumeClaim>()->spec.volumeName;
  if (volume.empty()) return std::string();
  COX_ASSIGN_OR_RETURN(const Object bound,
                       Find(ask, core::v1::PersistentVolume::kKind, "", volume));
  return DriverOf(bound.As<core::v1::PersistentVolume>()->spec.persistentVolumeSource);
}

Result<bool> NodeRestriction::UsesAudience(const Ask& ask, const core::v1::Pod& pod,
                                           const std::string& audience) const {
  Status worst;
  for (const core::v1::Volume& volume : pod.spec.volumes) {
    const core::v1::VolumeSource& source = volume.volumeSource;
    if (ProjectsToken(source, audience)) return true;
    Result<std::string> driver = DriverOf(source);
    if (source.persistentVolumeClaim) {
      driver = DriverOfClaim(ask, source.persistentVolumeClaim->claimName);
    } else if (source.ephemeral) {
      driver = DriverOfClaim(ask, EphemeralClaimName(pod, volume));
    }
    if (driver.ok() && driver->empty()) continue;
    const Result<Object> found = driver.ok()
                                     ? Find(ask, cox::storage::v1::CSIDriver::kKind, "", *driver)
                                     : Result<Object>(driver.status());
    if (!found.ok()) {
      worst = found.status();  // another volume may ask for it all the same
      continue;
    }
    const auto& requests = found->As<cox::storage::v1::CSIDriver>()->spec.tokenRequests;
    if (std::any_of(requests.begin(), requests.end(),
                    [&](const auto& wanted) { return wanted.audience == audience; })) {
      return true;
    }
  }
  if (!worst.ok()) return worst;
  return false;
}

}  // namespace cox::apiserver
