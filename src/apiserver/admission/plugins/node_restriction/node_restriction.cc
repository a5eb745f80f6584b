// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"

#include <algorithm>

#include "api/certificates/v1.h"
#include "api/coordination/v1.h"
#include "api/resource/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/node_restriction/labels.h"
#include "apiserver/admission/stored_objects.h"
#include "apiserver/filters/authz/node/node_identity.h"
#include "apiserver/registry/kinds/certificates/certificate_pem.h"
#include "base/strings.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kLeaseNamespace = "kube-node-lease";

// A claim without the fields that a node may change.
core::v1::PersistentVolumeClaim WithoutResizeStatus(core::v1::PersistentVolumeClaim claim) {
  claim.metadata.resourceVersion.clear();  // an update may omit it
  claim.metadata.managedFields.clear();    // derived from the other changes
  claim.status.capacity = {};
  claim.status.conditions.clear();
  claim.status.allocatedResources = {};
  claim.status.allocatedResourceStatuses = {};
  return claim;
}

}  // namespace

Status NodeRestriction::Deny(const NodeRequest& node_request, std::string_view why) {
  return ForbiddenError(node_request.request.resource.resource(), node_request.request.name, why);
}

Status NodeRestriction::DenyOperation(const NodeRequest& node_request, std::string_view allowed) {
  std::string why = "unexpected operation " + Quote(OperationName(node_request.request.operation));
  if (!allowed.empty()) {
    why += ", node " + Quote(node_request.node) + " can only " + std::string(allowed);
  }
  return Deny(node_request, why);
}

Result<Object> NodeRestriction::Find(const NodeRequest& node_request, const KindInfo& kind,
                                     std::string_view ns, std::string_view name) const {
  const ResourceStore& store = parts_.registry.Hub(kind).store();
  return FindObject(node_request.ctx, store, ns, name);
}

Status NodeRestriction::Mutate(Context& ctx, const AdmissionRequest& request, Object&) const {
  return Check(ctx, request);
}

Status NodeRestriction::Validate(Context& ctx, const AdmissionRequest& request) const {
  return request.operation == Operation::kDelete ? Check(ctx, request) : Status();
}

Status NodeRestriction::Check(Context& ctx, const AdmissionRequest& request) const {
  const std::optional<std::string_view> node = NodeNameOf(request.user);
  if (!node) return {};
  const NodeRequest node_request{ctx, *node, request};
  if (node->empty()) {
    return Deny(node_request, "could not determine node from user " + Quote(request.user.name));
  }
  const std::string_view group = request.resource.kind().group;
  const std::string_view resource = request.resource.kind().plural;
  if (group.empty()) {
    if (resource == "pods") return CheckPod(node_request);
    if (resource == "nodes") return CheckNode(node_request);
    if (resource == "persistentvolumeclaims") return CheckClaim(node_request);
    if (resource == "serviceaccounts") return CheckToken(node_request);
  }
  if (group == "coordination.k8s.io" && resource == "leases") return CheckLease(node_request);
  if (group == "storage.k8s.io" && resource == "csinodes") return CheckCsiNode(node_request);
  if (group == "resource.k8s.io" && resource == "resourceslices") return CheckSlice(node_request);
  if (group == "certificates.k8s.io" && resource == "certificatesigningrequests") {
    return CheckCertificateRequest(node_request);
  }
  return {};
}

Status NodeRestriction::CheckNode(const NodeRequest& node_request) const {
  const AdmissionRequest& request = node_request.request;
  const std::string me = "node " + Quote(node_request.node) + " is not allowed to ";
  if (request.name != node_request.node)
    return Deny(node_request, me + "modify node " + Quote(request.name));
  if (request.object == nullptr) return {};
  const auto& node = *request.object->As<core::v1::Node>();
  if (request.operation == Operation::kCreate) {
    // The node would be authorized to read the object that configSource refers to.
    if (node.spec.configSource) {
      return Deny(node_request, me + "create pods with a non-nil configSource");
    }
    const auto labels = ForbiddenLabelChanges({}, node.metadata.labels);
    if (!labels.empty()) {
      return Deny(node_request, me + "set the following labels: " + Join(labels, ", "));
    }
    // Security: the garbage collector would delete a node with a missing owner, which would remove
    // its taints.
    if (!node.metadata.ownerReferences.empty())
      return Deny(node_request, me + "modify ownerReferences");
    return {};
  }
  if (request.operation != Operation::kUpdate) return {};
  const auto& old = *request.old->As<core::v1::Node>();
  const bool same_source = old.spec.configSource && node.spec.configSource &&
                           DeepEqual(*old.spec.configSource, *node.spec.configSource);
  if (node.spec.configSource && !same_source) {
    return Deny(node_request, me + "update configSource to a new non-nil configSource");
  }
  if (node.spec.taints != old.spec.taints) return Deny(node_request, me + "modify taints");
  if (node.metadata.ownerReferences != old.metadata.ownerReferences) {
    return Deny(node_request, me + "modify ownerReferences");
  }
  const auto labels = ForbiddenLabelChanges(old.metadata.labels, node.metadata.labels);
  if (!labels.empty())
    return Deny(node_request, "is not allowed to modify labels: " + Join(labels, ", "));
  return {};
}

Status NodeRestriction::CheckClaim(const NodeRequest& node_request) const {
  if (node_request.request.subresource != "status")
    return Deny(node_request, "may only update PVC status");
  if (node_request.request.operation != Operation::kUpdate) return DenyOperation(node_request);
  const auto before =
      WithoutResizeStatus(*node_request.request.old->As<core::v1::PersistentVolumeClaim>());
  const auto after =
      WithoutResizeStatus(*node_request.request.object->As<core::v1::PersistentVolumeClaim>());
  if (DeepEqual(before, after)) return {};
  return Deny(node_request, "node " + Quote(node_request.node) +
                                " is not allowed to update fields other than status.quantity and "
                                "status.conditions");
}

Status NodeRestriction::CheckLease(const NodeRequest& node_request) const {
  if (node_request.request.ns != kLeaseNamespace) {
    return Deny(node_request,
                "can only access leases in the " + Quote(kLeaseNamespace) + " system namespace");
  }
  if (node_request.request.name != node_request.node) {
    return Deny(node_request,
                "can only access node lease with the same name as the requesting node");
  }
  return {};
}

Status NodeRestriction::CheckCsiNode(const NodeRequest& node_request) const {
  if (node_request.request.name == node_request.node) return {};
  return Deny(node_request, "can only access CSINode with the same name as the requesting node");
}

Status NodeRestriction::CheckSlice(const NodeRequest& node_request) const {
  const bool creates = node_request.request.operation == Operation::kCreate;
  // An update cannot change nodeName, which the authorizer has checked.
  if (!creates && node_request.request.operation != Operation::kDelete) return {};
  const Object* object = creates ? node_request.request.object : node_request.request.old;
  const auto& slice = *object->As<resource::v1::ResourceSlice>();
  if (slice.spec.nodeName == node_request.node) return {};
  return Deny(node_request, std::string("can only ") + (creates ? "create" : "delete") +
                                " ResourceSlice with the same NodeName as the requesting node");
}

Status NodeRestriction::CheckCertificateRequest(const NodeRequest& node_request) const {
  if (node_request.request.operation != Operation::kCreate) return {};
  const auto& csr = *node_request.request.object->As<certificates::v1::CertificateSigningRequest>();
  const std::string& signer = csr.spec.signerName;
  if (signer != "kubernetes.io/kubelet-serving" &&
      signer != "kubernetes.io/kube-apiserver-client-kubelet") {
    return {};
  }
  const Result<std::string> name = CertificateRequestCommonName(csr.spec.request);
  if (!name.ok()) return Deny(node_request, "unable to parse csr: " + name.status().message());
  const std::string own = std::string(kNodeUserPrefix) + std::string(node_request.node);
  if (*name != own) return Deny(node_request, "can only create a node CSR with CN=" + own);
  return {};
}

std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts) {
  return std::make_unique<NodeRestriction>(parts);
}

}  // namespace cox::apiserver
