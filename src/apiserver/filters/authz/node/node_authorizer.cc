// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/node/node_authorizer.h"

#include <algorithm>
#include <initializer_list>

#include "apiserver/filters/authz/node/node_identity.h"
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"
#include "apiserver/filters/authz/rbac/rules.h"
#include "base/strings.h"
#include "object/selector/fields.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kLeaseNamespace = "kube-node-lease";
constexpr std::string_view kNodeNameField = "spec.nodeName";

bool Is(std::string_view verb, std::initializer_list<std::string_view> verbs) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

Decision Allow() { return {true, {}}; }
Decision NoOpinion(std::string why = {}) { return {false, std::move(why)}; }

// 'n1', the quoting of these messages.
std::string Single(std::string_view name) { return "'" + std::string(name) + "'"; }

// Whether a field selector restricts the list to `node`.
bool SelectsNode(const Selectors& selectors, std::string_view node) {
  const Result<fields::Selector> selector = fields::Selector::Parse(selectors.fields);
  if (!selector.ok()) return false;
  const auto& terms = selector->requirements();
  return std::any_of(terms.begin(), terms.end(), [&](const fields::Requirement& term) {
    return term.field == kNodeNameField && term.equal && term.value == node;
  });
}

Decision Lease(std::string_view node, const RequestInfo& request) {
  if (!Is(request.verb, {"get", "create", "update", "patch", "delete"})) {
    return NoOpinion("can only get, create, update, patch, or delete a node lease");
  }
  if (request.namespace_ != kLeaseNamespace) {
    return NoOpinion("can only access leases in the " + Quote(kLeaseNamespace) +
                     " system namespace");
  }
  // On create, the name is in the object: admission checks it.
  if (request.verb != "create" && request.name != node) {
    return NoOpinion("can only access node lease with the same name as the requesting node");
  }
  return Allow();
}

Decision CsiNode(std::string_view node, const RequestInfo& request) {
  if (!Is(request.verb, {"get", "create", "update", "patch", "delete"})) {
    return NoOpinion("can only get, create, update, patch, or delete a CSINode");
  }
  if (!request.subresource.empty()) return NoOpinion("cannot authorize CSINode subresources");
  if (request.verb != "create" && request.name != node) {
    return NoOpinion("can only access CSINode with the same name as the requesting node");
  }
  return Allow();
}

// Admission checks which node is written; reads are checked here.
Decision NodeItself(std::string_view node, const RequestInfo& request) {
  if (request.subresource == "status") {
    return Is(request.verb, {"update", "patch"}) ? Allow() : NoOpinion();
  }
  if (!request.subresource.empty()) return NoOpinion();
  if (Is(request.verb, {"create", "update", "patch"})) return Allow();
  if (!Is(request.verb, {"get", "list", "watch"})) return NoOpinion();
  // By name instead of the graph, because a kubelet reads its Node before it exists.
  if (request.name == node) return Allow();
  return NoOpinion("node " + Single(node) + " cannot read " +
                   (request.name.empty() ? "all nodes" : Single(request.name)) +
                   ", only its own Node object");
}

}  // namespace

Decision NodeAuthorizer::Related(std::string_view node, NodeObject type,
                                 const RequestInfo& request) const {
  if (request.name.empty()) return NoOpinion("No Object name found");
  if (graph_.Reaches(node, type, request.namespace_, request.name)) return Allow();
  return NoOpinion("no relationship found between node " + Single(node) + " and this object");
}

Decision NodeAuthorizer::Read(std::string_view node, NodeObject type,
                              const RequestInfo& request) const {
  if (!Is(request.verb, {"get", "list", "watch"})) {
    return NoOpinion("can only read resources of this type");
  }
  if (!request.subresource.empty()) return NoOpinion("cannot read subresource");
  if (request.namespace_.empty()) {
    return NoOpinion("can only read namespaced object of this type");
  }
  return Related(node, type, request);
}

Decision NodeAuthorizer::Get(std::string_view node, NodeObject type,
                             const RequestInfo& request) const {
  if (request.verb != "get") return NoOpinion("can only get individual resources of this type");
  if (!request.subresource.empty()) return NoOpinion("cannot get subresource");
  return Related(node, type, request);
}

// The kubelet updates the claim's status after it has resized a volume.
Decision NodeAuthorizer::Claim(std::string_view node, const RequestInfo& request) const {
  if (request.subresource != "status") return Get(node, NodeObject::kClaim, request);
  if (!Is(request.verb, {"update", "patch"})) {
    return NoOpinion("can only get/update/patch this type");
  }
  return Related(node, NodeObject::kClaim, request);
}

Decision NodeAuthorizer::ServiceAccount(std::string_view node, const RequestInfo& request) const {
  if (request.verb == "get" && request.subresource.empty()) {
    return Read(node, NodeObject::kServiceAccount, request);
  }
  if (request.verb != "create" || request.name.empty()) {
    return NoOpinion("can only create tokens for individual service accounts");
  }
  if (request.subresource != "token") {
    return NoOpinion("can only create token subresource of serviceaccount");
  }
  return Related(node, NodeObject::kServiceAccount, request);
}

Decision NodeAuthorizer::Slice(std::string_view node, const RequestInfo& request,
                               const Selectors& selectors) const {
  if (!request.subresource.empty()) return NoOpinion("cannot authorize ResourceSlice subresources");
  if (request.verb == "create") return Allow();  // admission checks the node name
  if (Is(request.verb, {"get", "update", "patch", "delete"})) {
    return Related(node, NodeObject::kSlice, request);
  }
  if (Is(request.verb, {"watch", "list", "deletecollection"})) {
    if (SelectsNode(selectors, node)) return Allow();
    return NoOpinion(
        "can only list/watch/deletecollection resourceslices with nodeName field selector");
  }
  return NoOpinion(
      "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, "
      "patch, delete, deletecollection");
}

Decision NodeAuthorizer::Pod(std::string_view node, const RequestInfo& request,
                             const Selectors& selectors) const {
  // Admission checks that written Pods belong to the node.
  if (request.subresource == "status") {
    return Is(request.verb, {"update", "patch"}) ? Allow() : NoOpinion();
  }
  if (request.subresource == "eviction") return request.verb == "create" ? Allow() : NoOpinion();
  if (!request.subresource.empty()) return NoOpinion();
  if (request.verb == "get") return Get(node, NodeObject::kPod, request);
  if (Is(request.verb, {"list", "watch"})) {
    if (SelectsNode(selectors, node)) return Allow();
    if (!request.name.empty()) return Related(node, NodeObject::kPod, request);
    return NoOpinion("can only list/watch pods with spec.nodeName field selector");
  }
  return Is(request.verb, {"create", "delete"}) ? Allow() : NoOpinion();
}

Decision NodeAuthorizer::Decide(const UserInfo& user, const RequestInfo& request,
                                const Selectors& selectors) const {
  const std::optional<std::string_view> node = NodeNameOf(user);
  if (!node) return NoOpinion();
  if (node->empty()) return NoOpinion("unknown node for user " + Quote(user.name));
  const std::string_view group = request.group, resource = request.resource;
  if (request.is_resource && group.empty()) {
    if (resource == "secrets") return Read(*node, NodeObject::kSecret, request);
    if (resource == "configmaps") return Read(*node, NodeObject::kConfigMap, request);
    if (resource == "persistentvolumeclaims") return Claim(*node, request);
    if (resource == "persistentvolumes") return Get(*node, NodeObject::kVolume, request);
    if (resource == "serviceaccounts") return ServiceAccount(*node, request);
    if (resource == "nodes") return NodeItself(*node, request);
    if (resource == "pods") return Pod(*node, request, selectors);
  }
  if (request.is_resource && group == "storage.k8s.io") {
    if (resource == "volumeattachments") return Get(*node, NodeObject::kAttachment, request);
    if (resource == "csinodes") return CsiNode(*node, request);
  }
  if (request.is_resource && group == "resource.k8s.io") {
    if (resource == "resourceclaims") return Get(*node, NodeObject::kResourceClaim, request);
    if (resource == "resourceslices") return Slice(*node, request, selectors);
  }
  if (request.is_resource && group == "coordination.k8s.io" && resource == "leases") {
    return Lease(*node, request);
  }
  const bool ruled = std::any_of(rules_.begin(), rules_.end(),
                                 [&](const PolicyRule& rule) { return RuleAllows(rule, request); });
  return ruled ? Allow() : NoOpinion();
}

UserRules NodeAuthorizer::Rules(const UserInfo& user, std::string_view) const {
  UserRules none;
  if (!NodeNameOf(user)) return none;
  none.incomplete = true;
  none.error = "node authorizer does not support user rule resolution";
  return none;
}

List<rbac::v1::PolicyRule> BootstrapNodeRules() {
  RbacPolicy policy = BootstrapPolicy();
  for (rbac::v1::ClusterRole& role : policy.cluster_roles) {
    if (role.metadata.name == "system:node") return std::move(role.rules);
  }
  return {};
}

}  // namespace cox::apiserver
