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

// A claim without what a node may change of it.
core::v1::PersistentVolumeClaim WithoutResize(core::v1::PersistentVolumeClaim claim) {
  claim.metadata.resourceVersion.clear();  // an update may leave it out
  claim.metadata.managedFields.clear();    // they follow from the rest
  claim.status.capacity = {};
  claim.status.conditions.clear();
  claim.status.allocatedResources = {};
  claim.status.allocatedResourceStatuses = {};
  return claim;
}

}  // namespace

Status NodeRestriction::Refuse(const Ask& ask, std::string_view why) {
  return ForbiddenError(ask.request.resource.resource(), ask.request.name, why);
}

Status NodeRestriction::RefuseOperation(const Ask& ask, std::string_view allowed) {
  std::string why = "unexpected operation " + Quote(OperationName(ask.request.operation));
  if (!allowed.empty()) {
    why += ", node " + Quote(ask.node) + " can only " + std::string(allowed);
  }
  return Refuse(ask, why);
}

Result<Object> NodeRestriction::Find(const Ask& ask, const KindInfo& kind, std::string_view ns,
                                     std::string_view name) const {
  const ResourceStore& store = parts_.registry.Hub(kind).store();
  return FindObject(ask.ctx, store, ns, name);
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
  const Ask ask{ctx, *node, request};
  if (node->empty()) {
    return Refuse(ask, "could not determine node from user " + Quote(request.user.name));
  }
  const std::string_view group = request.resource.kind().group;
  const std::string_view resource = request.resource.kind().plural;
  if (group.empty()) {
    if (resource == "pods") return CheckPod(ask);
    if (resource == "nodes") return CheckNode(ask);
    if (resource == "persistentvolumeclaims") return CheckClaim(ask);
    if (resource == "serviceaccounts") return CheckToken(ask);
  }
  if (group == "coordination.k8s.io" && resource == "leases") return CheckLease(ask);
  if (group == "storage.k8s.io" && resource == "csinodes") return CheckCsiNode(ask);
  if (group == "resource.k8s.io" && resource == "resourceslices") return CheckSlice(ask);
  if (group == "certificates.k8s.io" && resource == "certificatesigningrequests") {
    return CheckCertificateRequest(ask);
  }
  return {};
}

Status NodeRestriction::CheckNode(const Ask& ask) const {
  const AdmissionRequest& request = ask.request;
  const std::string me = "node " + Quote(ask.node) + " is not allowed to ";
  if (request.name != ask.node) return Refuse(ask, me + "modify node " + Quote(request.name));
  if (request.object == nullptr) return {};
  const auto& node = *request.object->As<core::v1::Node>();
  if (request.operation == Operation::kCreate) {
    // It would read what the source refers to.
    if (node.spec.configSource) {
      return Refuse(ask, me + "create pods with a non-nil configSource");
    }
    const auto labels = ForbiddenLabelChanges({}, node.metadata.labels);
    if (!labels.empty()) {
      return Refuse(ask, me + "set the following labels: " + Join(labels, ", "));
    }
    // An owner that is gone takes the node with it, and its taints: a way to delete itself.
    if (!node.metadata.ownerReferences.empty()) return Refuse(ask, me + "modify ownerReferences");
    return {};
  }
  if (request.operation != Operation::kUpdate) return {};
  const auto& old = *request.old->As<core::v1::Node>();
  const bool same_source = old.spec.configSource && node.spec.configSource &&
                           DeepEqual(*old.spec.configSource, *node.spec.configSource);
  if (node.spec.configSource && !same_source) {
    return Refuse(ask, me + "update configSource to a new non-nil configSource");
  }
  if (node.spec.taints != old.spec.taints) return Refuse(ask, me + "modify taints");
  if (node.metadata.ownerReferences != old.metadata.ownerReferences) {
    return Refuse(ask, me + "modify ownerReferences");
  }
  const auto labels = ForbiddenLabelChanges(old.metadata.labels, node.metadata.labels);
  if (!labels.empty()) return Refuse(ask, "is not allowed to modify labels: " + Join(labels, ", "));
  return {};
}

Status NodeRestriction::CheckClaim(const Ask& ask) const {
  if (ask.request.subresource != "status") return Refuse(ask, "may only update PVC status");
  if (ask.request.operation != Operation::kUpdate) return RefuseOperation(ask);
  const auto before = WithoutResize(*ask.request.old->As<core::v1::PersistentVolumeClaim>());
  const auto after = WithoutResize(*ask.request.object->As<core::v1::PersistentVolumeClaim>());
  if (DeepEqual(before, after)) return {};
  return Refuse(ask, "node " + Quote(ask.node) +
                         " is not allowed to update fields other than status.quantity and "
                         "status.conditions");
}

Status NodeRestriction::CheckLease(const Ask& ask) const {
  if (ask.request.ns != kLeaseNamespace) {
    return Refuse(ask,
                  "can only access leases in the " + Quote(kLeaseNamespace) + " system namespace");
  }
  if (ask.request.name != ask.node) {
    return Refuse(ask, "can only access node lease with the same name as the requesting node");
  }
  return {};
}

Status NodeRestriction::CheckCsiNode(const Ask& ask) const {
  if (ask.request.name == ask.node) return {};
  return Refuse(ask, "can only access CSINode with the same name as the requesting node");
}

Status NodeRestriction::CheckSlice(const Ask& ask) const {
  const bool creates = ask.request.operation == Operation::kCreate;
  // An update keeps the node's name, which the authorizer has compared.
  if (!creates && ask.request.operation != Operation::kDelete) return {};
  const Object* object = creates ? ask.request.object : ask.request.old;
  const auto& slice = *object->As<resource::v1::ResourceSlice>();
  if (slice.spec.nodeName == ask.node) return {};
  return Refuse(ask, std::string("can only ") + (creates ? "create" : "delete") +
                         " ResourceSlice with the same NodeName as the requesting node");
}

Status NodeRestriction::CheckCertificateRequest(const Ask& ask) const {
  if (ask.request.operation != Operation::kCreate) return {};
  const auto& csr = *ask.request.object->As<certificates::v1::CertificateSigningRequest>();
  const std::string& signer = csr.spec.signerName;
  if (signer != "kubernetes.io/kubelet-serving" &&
      signer != "kubernetes.io/kube-apiserver-client-kubelet") {
    return {};
  }
  const Result<std::string> name = CertificateRequestCommonName(csr.spec.request);
  if (!name.ok()) return Refuse(ask, "unable to parse csr: " + name.status().message());
  const std::string own = std::string(kNodeUserPrefix) + std::string(ask.node);
  if (*name != own) return Refuse(ask, "can only create a node CSR with CN=" + own);
  return {};
}

std::unique_ptr<const AdmissionPlugin> NewNodeRestriction(const AdmissionParts& parts) {
  return std::make_unique<NodeRestriction>(parts);
}

}  // namespace cox::apiserver
