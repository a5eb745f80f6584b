// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/rbac/v1.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/node/node_graph.h"

namespace cox::apiserver {

// What nodes may do (--authorization-mode=Node): the rules of the role system:node, narrowed to
// what concerns the node itself. It reads its own Node and Pods, what those refer to, writes its
// lease, CSINode and ResourceSlices, and asks for tokens of its Pods' service accounts.
//
// Only about users that are nodes (see NodeNameOf); it has no opinion on others, and never denies.
// What a node may write is told by names only; NodeRestriction looks into the objects.
// Threads: all methods may be called concurrently.
class NodeAuthorizer final : public Authorizer {
 public:
  // `graph` outlives it. `rules`: of the role system:node, as the bootstrap policy has them.
  NodeAuthorizer(const NodeGraph& graph, List<rbac::v1::PolicyRule> rules)
      : graph_(graph), rules_(std::move(rules)) {}

  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override;
  // None; incomplete for nodes: what they may do does not stand in rules.
  UserRules Rules(const UserInfo& user, std::string_view ns) const override;

 private:
  // Each decides about one resource, for a node that has a name.
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
