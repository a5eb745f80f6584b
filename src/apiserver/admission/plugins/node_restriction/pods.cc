// SPDX-License-Identifier: Apache-2.0

#include "api/policy/v1.h"
#include "apiserver/admission/plugins/node_restriction/api_references.h"
#include "apiserver/admission/plugins/node_restriction/node_restriction.h"
#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "base/strings.h"

// What nodes may do to Pods: make mirrors of those they run from files, tell the status of those
// bound to them, remove and evict them.
namespace cox::apiserver {
namespace {

using pod::kMirrorAnnotation;

}  // namespace

Status NodeRestriction::CheckPod(const Ask& ask) const {
  const AdmissionRequest& request = ask.request;
  if (request.subresource == "status") return CheckPodStatus(ask);
  if (request.subresource == "eviction") return CheckEviction(ask);
  if (!request.subresource.empty()) {
    return Refuse(ask, "unexpected pod subresource " + Quote(request.subresource) +
                           ", only 'status' and 'eviction' are allowed");
  }
  if (request.object != nullptr && request.object->As<core::v1::Pod>() == nullptr) {
    return Refuse(ask, "unexpected type of object");
  }
  if (request.operation == Operation::kCreate) return CheckNewPod(ask);
  if (request.operation != Operation::kDelete) {
    return RefuseOperation(ask, "create and delete mirror pods");
  }
  if (request.old->As<core::v1::Pod>()->spec.nodeName == ask.node) return {};
  return Refuse(
      ask, "node " + Quote(ask.node) + " can only delete pods with spec.nodeName set to itself");
}

// A mirror belongs to its node: it goes when the node goes, and keeps nothing from going.
Status NodeRestriction::CheckMirrorOwner(const Ask& ask, const core::v1::Pod& pod) const {
  const std::string me = "node " + Quote(ask.node);
  const auto& owners = pod.metadata.ownerReferences;
  if (owners.size() > 1) {
    return Refuse(ask, me + " can only create pods with a single owner reference set to itself");
  }
  if (owners.empty() || owners.front().apiVersion != "v1" || owners.front().kind != "Node" ||
      owners.front().name != ask.node) {
    return Refuse(ask, me + " can only create pods with an owner reference set to itself");
  }
  const meta::v1::OwnerReference& owner = owners.front();
  if (!owner.controller.value_or(false)) {
    return Refuse(ask,
                  me + " can only create pods with a controller owner reference set to itself");
  }
  if (owner.blockOwnerDeletion.value_or(false)) {
    return Refuse(ask, me + " must not set blockOwnerDeletion on an owner reference");
  }
  const Result<Object> node = Find(ask, core::v1::Node::kKind, "", ask.node);
  if (node.status().Is(Reason::kNotFound)) return node.status();
  if (!node.ok()) {
    return Refuse(ask, "error looking up node " + std::string(ask.node) +
                           " to verify uid: " + node.status().message());
  }
  const std::string& uid = node->object_meta()->uid;
  if (owner.uid != uid) {
    return Refuse(ask, "node " + std::string(ask.node) + " UID mismatch: expected " + owner.uid +
                           " got " + uid);
  }
  return {};
}

Status NodeRestriction::CheckNewPod(const Ask& ask) const {
  const auto& pod = *ask.request.object->As<core::v1::Pod>();
  const std::string me = "node " + Quote(ask.node);
  if (pod.metadata.annotations.Get(kMirrorAnnotation) == nullptr) {
    return Refuse(ask, "pod does not have " + Quote(kMirrorAnnotation) + " annotation, " + me +
                           " can only create mirror pods");
  }
  if (pod.spec.nodeName != ask.node) {
    return Refuse(ask, me + " can only create pods with spec.nodeName set to itself");
  }
  COX_RETURN_IF_ERROR(CheckMirrorOwner(ask, pod));
  const std::string reference = ApiReferenceOf(pod.spec);
  if (!reference.empty()) {
    return Refuse(ask, me + " can not create pods that reference " + reference);
  }
  // What is created has no status yet, whatever it says; claims named there must not be believed
  // even for a moment.
  if (!pod.status.resourceClaimStatuses.empty() || pod.status.extendedResourceClaimStatus) {
    return Refuse(ask, me + " can not create pods that reference resourceclaims");
  }
  return {};
}

Status NodeRestriction::CheckPodStatus(const Ask& ask) const {
  if (ask.request.operation != Operation::kUpdate) return RefuseOperation(ask);
  const auto& old = *ask.request.old->As<core::v1::Pod>();
  const auto& pod = *ask.request.object->As<core::v1::Pod>();
  const std::string me = "node " + Quote(ask.node);
  if (old.spec.nodeName != ask.node) {
    return Refuse(ask,
                  me + " can only update pod status for pods with spec.nodeName set to itself");
  }
  if (old.metadata.labels != pod.metadata.labels) {
    return Refuse(ask, me + " cannot update labels through pod status");
  }
  if (old.status.resourceClaimStatuses != pod.status.resourceClaimStatuses) {
    return Refuse(ask, me + " cannot update resource claim statues");
  }
  if (old.status.extendedResourceClaimStatus != pod.status.extendedResourceClaimStatus) {
    return Refuse(ask, me + " cannot update extended resource claim status");
  }
  return {};
}

Status NodeRestriction::CheckEviction(const Ask& ask) const {
  // The Pod is removed in the name of the eviction, which was judged.
  if (ask.request.operation == Operation::kDelete) return {};
  if (ask.request.operation != Operation::kCreate) return RefuseOperation(ask);
  const Result<Object> pod = Find(ask, core::v1::Pod::kKind, ask.request.ns, ask.request.name);
  if (pod.status().Is(Reason::kNotFound)) return pod.status();
  if (!pod.ok()) return Refuse(ask, pod.status().message());
  if (pod->As<core::v1::Pod>()->spec.nodeName == ask.node) return {};
  return Refuse(ask, "node " + std::string(ask.node) +
                         " can only evict pods with spec.nodeName set to itself");
}

}  // namespace cox::apiserver
