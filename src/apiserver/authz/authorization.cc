// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authz/authorization.h"

#include <algorithm>

#include "apiserver/authz/node/node_feed.h"
#include "apiserver/authz/rbac/rbac_feed.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

Status CheckModes(const std::vector<std::string>& modes) {
  if (modes.empty()) return Status::BadRequest("at least one authorization-mode must be passed");
  for (const std::string& mode : modes) {
    if (mode != "AlwaysAllow" && mode != "AlwaysDeny" && mode != "RBAC" && mode != "Node") {
      return Status::BadRequest("authorization-mode " + Quote(mode) + " is not a valid mode");
    }
    if (std::count(modes.begin(), modes.end(), mode) > 1) {
      return Status::BadRequest("authorization-mode " + Quote(mode) + " is given more than once");
    }
  }
  return {};
}

// The authorizers of the modes, in order.
std::vector<const Authorizer*> AuthorizersOf(const std::vector<std::string>& modes,
                                             const Authorizer& node, const Authorizer& rbac) {
  static const AlwaysAllow kAllow;
  static const AlwaysDeny kDeny;
  std::vector<const Authorizer*> authorizers;
  for (const std::string& mode : modes) {
    if (mode == "Node") authorizers.push_back(&node);
    if (mode == "RBAC") authorizers.push_back(&rbac);
    if (mode == "AlwaysAllow") authorizers.push_back(&kAllow);
    if (mode == "AlwaysDeny") authorizers.push_back(&kDeny);
  }
  return authorizers;
}

}  // namespace

Result<std::unique_ptr<Authorization>> Authorization::Create(AuthorizationOptions options) {
  COX_RETURN_IF_ERROR(CheckModes(options.modes));
  return std::unique_ptr<Authorization>(new Authorization(std::move(options)));  // NOLINT: private
}

Authorization::Authorization(AuthorizationOptions options)
    : options_(std::move(options)),
      node_(node_graph_, BootstrapNodeRules()),
      union_(AuthorizersOf(options_.modes, node_, rbac_)) {}

bool Authorization::Has(std::string_view mode) const {
  return std::find(options_.modes.begin(), options_.modes.end(), mode) != options_.modes.end();
}

Status Authorization::Start(Scope& scope, const Registry& registry) {
  // Roles are followed in any mode: who writes one must not give away more than they have.
  COX_RETURN_IF_ERROR(
      scope.Go("rbac", [this, &registry](Context& ctx) { RunRbacFeed(ctx, registry, rbac_); }));
  if (!Has("Node")) return {};
  return scope.Go("node-graph",
                  [this, &registry](Context& ctx) { RunNodeFeed(ctx, registry, node_graph_); });
}

}  // namespace cox::apiserver
