// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/authentication/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"
#include "apiserver/filters/authz/node/references.h"
#include "base/strings.h"

// Rules for service account tokens: a node gets only tokens that are bound to its Pods, for
// audiences that these Pods use.
namespace cox::apiserver {
namespace {

// The CSI driver of a Pod's volume or of a PersistentVolume. In-tree volume types have been
// migrated to CSI drivers. Empty if there is none.
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

Status NodeRestriction::CheckToken(const NodeRequest& node_request) const {
  const AdmissionRequest& request = node_request.request;
  if (request.operation != Operation::kCreate || request.subresource != "token") return {};
  const auto& spec = request.object->As<authentication::v1::TokenRequest>()->spec;
  const auto& ref = spec.boundObjectRef;
  if (!ref || ref->apiVersion != "v1" || ref->kind != "Pod" || ref->name.empty()) {
    return Deny(node_request, "node requested token not bound to a pod");
  }
  if (ref->uid.empty()) {
    return Deny(node_request, "node requested token with a pod binding without a uid");
  }
  const Result<Object> found = Find(node_request, core::v1::Pod::kKind, request.ns, ref->name);
  if (found.status().Is(Reason::kNotFound)) return found.status();
  if (!found.ok()) return Deny(node_request, found.status().message());
  const auto& pod = *found->As<core::v1::Pod>();
  if (ref->uid != pod.metadata.uid) {
    return Deny(node_request,
                "the UID in the bound object reference (" + ref->uid +
                    ") does not match the UID in record. The object might have been deleted "
                    "and then recreated");
  }
  if (pod.spec.nodeName != node_request.node) {
    return Deny(node_request, "node requested token bound to a pod scheduled on a different node");
  }
  return CheckAudience(node_request, spec.audiences, pod);
}

Status NodeRestriction::CheckAudience(const NodeRequest& node_request,
                                      const List<std::string>& audiences,
                                      const core::v1::Pod& pod) const {
  if (audiences.size() > 1) return Deny(node_request, "node may only request 0 or 1 audiences");
  // No audience means that of the API server, which Pods specify as an empty string.
  const std::string audience = audiences.empty() ? std::string() : audiences.front();
  const Result<bool> uses = UsesAudience(node_request, pod, audience);
  if (!uses.ok()) {
    return Deny(node_request,
                "error validating audience " + Quote(audience) + ": " + uses.status().message());
  }
  if (*uses) return {};
  // Kubelets also need tokens to pull images. RBAC grants the audiences for these.
  RequestInfo may;
  may.is_resource = true;
  may.verb = "request-serviceaccounts-token-audience";
  may.version = "v1";
  may.resource = audience;
  may.namespace_ = node_request.request.ns;
  may.name = node_request.request.name;
  if (parts_.authorizer.Authorize(node_request.request.user, may).allowed) return {};
  return Deny(node_request, "audience " + Quote(audience) + " not found in pod spec volume, " +
                                node_request.request.user.name +
                                " is not authorized to request tokens for this audience");
}

Result<std::string> NodeRestriction::DriverOfClaim(const NodeRequest& node_request,
                                                   const std::string& claim) const {
  COX_ASSIGN_OR_RETURN(
      const Object found,
      Find(node_request, core::v1::PersistentVolumeClaim::kKind, node_request.request.ns, claim));
  const std::string& volume = found.As<core::v1::PersistentVolumeClaim>()->spec.volumeName;
  if (volume.empty()) return std::string();
  COX_ASSIGN_OR_RETURN(const Object bound,
                       Find(node_request, core::v1::PersistentVolume::kKind, "", volume));
  return DriverOf(bound.As<core::v1::PersistentVolume>()->spec.persistentVolumeSource);
}

Result<bool> NodeRestriction::UsesAudience(const NodeRequest& node_request,
                                           const core::v1::Pod& pod,
                                           const std::string& audience) const {
  Status worst;
  for (const core::v1::Volume& volume : pod.spec.volumes) {
    const core::v1::VolumeSource& source = volume.volumeSource;
    if (ProjectsToken(source, audience)) return true;
    Result<std::string> driver = DriverOf(source);
    if (source.persistentVolumeClaim) {
      driver = DriverOfClaim(node_request, source.persistentVolumeClaim->claimName);
    } else if (source.ephemeral) {
      driver = DriverOfClaim(node_request, EphemeralClaimName(pod, volume));
    }
    if (driver.ok() && driver->empty()) continue;
    const Result<Object> found =
        driver.ok() ? Find(node_request, cox::storage::v1::CSIDriver::kKind, "", *driver)
                    : Result<Object>(driver.status());
    if (!found.ok()) {
      worst = found.status();  // another volume may use the audience
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
