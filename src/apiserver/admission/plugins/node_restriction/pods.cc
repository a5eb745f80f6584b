// SPDX-License-Identifier: Apache-2.0

#include "api/policy/v1.h"
#include "apiserver/admission/plugins/node_restriction/api_references.h"
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "base/strings.h"

// Rules for Pods: nodes may create mirror Pods, update the status of Pods that are bound to them,
// and delete and evict these Pods.
namespace cox::apiserver {
namespace {

using pod::kMirrorAnnotation;

}  // namespace

Status NodeRestriction::CheckPod(const NodeRequest& node_request) const {
  const AdmissionRequest& request = node_request.request;
  if (request.subresource == "status") return CheckPodStatus(node_request);
  if (request.subresource == "eviction") return CheckEviction(node_request);
  if (!request.subresource.empty()) {
    return Deny(node_request, "unexpected pod subresource " + Quote(request.subresource) +
                                  ", only 'status' and 'eviction' are allowed");
  }
  if (request.object != nullptr && request.object->As<core::v1::Pod>() == nullptr) {
    return Deny(node_request, "unexpected type of object");
  }
  if (request.operation == Operation::kCreate) return CheckNewPod(node_request);
  if (request.operation != Operation::kDelete) {
    return DenyOperation(node_request, "create and delete mirror pods");
  }
  if (request.old->As<core::v1::Pod>()->spec.nodeName == node_request.node) return {};
  return Deny(node_request, "node " + Quote(node_request.node) +
                                " can only delete pods with spec.nodeName set to itself");
}

// A mirror Pod must be owned by its node: it is deleted with the node and must not block its
// deletion.
Status NodeRestriction::CheckMirrorOwner(const NodeRequest& node_request,
                                         const core::v1::Pod& pod) const {
  const std::string me = "node " + Quote(node_request.node);
  const auto& owners = pod.metadata.ownerReferences;
  if (owners.size() > 1) {
    return Deny(node_request,
                me + " can only create pods with a single owner reference set to itself");
  }
  if (owners.empty() || owners.front().apiVersion != "v1" || owners.front().kind != "Node" ||
      owners.front().name != node_request.node) {
    return Deny(node_request, me + " can only create pods with an owner reference set to itself");
  }
  const meta::v1::OwnerReference& owner = owners.front();
  if (!owner.controller.value_or(false)) {
    return Deny(node_request,
                me + " can only create pods with a controller owner reference set to itself");
  }
  if (owner.blockOwnerDeletion.value_or(false)) {
    return Deny(node_request, me + " must not set blockOwnerDeletion on an owner reference");
  }
  const Result<Object> node = Find(node_request, core::v1::Node::kKind, "", node_request.node);
  if (node.status().Is(Reason::kNotFound)) return node.status();
  if (!node.ok()) {
    return Deny(node_request, "error looking up node " + std::string(node_request.node) +
                                  " to verify uid: " + node.status().message());
  }
  const std::string& uid = node->object_meta()->uid;
  if (owner.uid != uid) {
    return Deny(node_request, "node " + std::string(node_request.node) +
                                  " UID mismatch: expected " + owner.uid + " got " + uid);
  }
  return {};
}

Status NodeRestriction::CheckNewPod(const NodeRequest& node_request) const {
  const auto& pod = *node_request.request.object->As<core::v1::Pod>();
  const std::string me = "node " + Quote(node_request.node);
  if (pod.metadata.annotations.Get(kMirrorAnnotation) == nullptr) {
    return Deny(node_request, "pod does not have " + Quote(kMirrorAnnotation) + " annotation, " +
                                  me + " can only create mirror pods");
  }
  if (pod.spec.nodeName != node_request.node) {
    return Deny(node_request, me + " can only create pods with spec.nodeName set to itself");
  }
  COX_RETURN_IF_ERROR(CheckMirrorOwner(node_request, pod));
  const std::string reference = ApiReferenceOf(pod.spec);
  if (!reference.empty()) {
    return Deny(node_request, me + " can not create pods that reference " + reference);
  }
  // Security: the status of a new Pod is dropped later, but a node must not get access to resource
  // claims by it.
  if (!pod.status.resourceClaimStatuses.empty() || pod.status.extendedResourceClaimStatus) {
    return Deny(node_request, me + " can not create pods that reference resourceclaims");
  }
  return {};
}

Status NodeRestriction::CheckPodStatus(const NodeRequest& node_request) const {
  if (node_request.request.operation != Operation::kUpdate) return DenyOperation(node_request);
  const auto& old = *node_request.request.old->As<core::v1::Pod>();
  const auto& pod = *node_request.request.object->As<core::v1::Pod>();
  const std::string me = "node " + Quote(node_request.node);
  if (old.spec.nodeName != node_request.node) {
    return Deny(node_request,
                me + " can only update pod status for pods with spec.nodeName set to itself");
  }
  if (old.metadata.labels != pod.metadata.labels) {
    return Deny(node_request, me + " cannot update labels through pod status");
  }
  if (old.status.resourceClaimStatuses != pod.status.resourceClaimStatuses) {
    return Deny(node_request, me + " cannot update resource claim statues");
  }
  if (old.status.extendedResourceClaimStatus != pod.status.extendedResourceClaimStatus) {
    return Deny(node_request, me + " cannot update extended resource claim status");
  }
  return {};
}

Status NodeRestriction::CheckEviction(const NodeRequest& node_request) const {
  // The deletion that follows an eviction, which was already checked.
  if (node_request.request.operation == Operation::kDelete) return {};
  if (node_request.request.operation != Operation::kCreate) return DenyOperation(node_request);
  const Result<Object> pod =
      Find(node_request, core::v1::Pod::kKind, node_request.request.ns, node_request.request.name);
  if (pod.status().Is(Reason::kNotFound)) return pod.status();
  if (!pod.ok()) return Deny(node_request, pod.status().message());
  if (pod->As<core::v1::Pod>()->spec.nodeName == node_request.node) return {};
  return Deny(node_request, "node " + std::string(node_request.node) +
                                " can only evict pods with spec.nodeName set to itself");
}

}  // namespace cox::apiserver
