// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rbac/v1.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/node/node_graph.h"

namespace cox::apiserver {

// The Node authorizer (--authorization-mode=Node): the rules of the role system:node, restricted to
// objects that are related to the node. A node reads its own Node and Pods and the objects that
// they reference, writes its lease, CSINode and ResourceSlices, and requests tokens for its Pods'
// service accounts.
//
// Applies only to node users (see NodeNameOf); it has no opinion on others, and never denies.
// Writes are authorized by name only; the NodeRestriction admission plugin checks the objects.
// Threads: All methods may be called concurrently.
class NodeAuthorizer final : public Authorizer {
 public:
  // `graph` must outlive it. `rules` are those of the role system:node in the bootstrap policy.
  NodeAuthorizer(const NodeGraph& graph, List<rbac::v1::PolicyRule> rules)
      : graph_(graph), rules_(std::move(rules)) {}

  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override;
  // Empty; incomplete for nodes, because their permissions cannot be expressed as rules.
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

 private:
  // Each function decides for one resource, for a node with a name.
  Decision Related(std::string_view node, NodeObject type, const RequestInfo& request) const;
  Decision Read(std::string_view node, NodeObject type, const RequestInfo& request) const;
  Decision Get(std::string_view node, NodeObject type, const RequestInfo& request) const;
  Decision Claim(std::string_view node, const RequestInfo& request) const;
  Decision ServiceAccount(std::string_view node, const RequestInfo& request) const;
  Decision Slice(std::string_view node, const RequestInfo& request,
                 const Selectors& selectors) const;
  Decision Pod(std::string_view node, const RequestInfo& request, const Selectors& selectors) const;

  const NodeGraph& graph_;
  const List<rbac::v1::PolicyRule> rules_;
};

// The rules of the role system:node.
List<rbac::v1::PolicyRule> BootstrapNodeRules();

}  // namespace cox::apiserver
