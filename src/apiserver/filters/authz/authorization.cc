// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/authorization.h"

#include <algorithm>

#include "apiserver/filters/authz/node/node_feed.h"
#include "apiserver/filters/authz/rbac/rbac_feed.h"
#include "apiserver/filters/authz/webhook/webhook_authorizer.h"

namespace cox::apiserver {

Authorization::Authorization(Private, const Context& ctx)
    : ctx_(ctx.Child()),
      connections_(std::make_shared<WebhookConnections>(ctx_)),
      node_(node_graph_, BootstrapNodeRules()) {}

Result<std::unique_ptr<Authorization>> Authorization::Create(const Context& ctx,
                                                             const AuthorizationOptions& options,
                                                             ConfigReloadMetricsPtr reloads) {
  auto created = std::make_unique<Authorization>(Private{}, ctx);
  Authorization& self = *created;
  if (options.config_file.empty()) {
    COX_ASSIGN_OR_RETURN(const std::vector<AuthorizerConfig> configs, AuthorizersOfModes(options));
    COX_ASSIGN_OR_RETURN(self.order_, self.MakeOrder(configs));
    self.uses_nodes_ = std::any_of(configs.begin(), configs.end(),
                                   [](const auto& config) { return config.type == "Node"; });
    return created;
  }
  const auto parse = [&self](std::span<const std::string> texts) -> Result<OrderPtr> {
    COX_ASSIGN_OR_RETURN(const std::vector<AuthorizerConfig> configs,
                         ParseAuthorizationConfiguration(texts[0]));
    return self.MakeOrder(configs);
  };
  COX_ASSIGN_OR_RETURN(
      self.file_, WatchedFile<Order>::Open(
                      ctx, {.name = "authz-config", .paths = {options.config_file}}, parse,
                      [reloads = std::move(reloads), clock = &ctx.clock()](const Status& done) {
                        if (reloads != nullptr) reloads->Record(done, clock->Now());
                      }));
  return created;
}

Result<Authorization::OrderPtr> Authorization::MakeOrder(
    const std::vector<AuthorizerConfig>& configs) const {
  static const AlwaysAllow kAllow;
  static const AlwaysDeny kDeny;
  std::vector<std::unique_ptr<const Authorizer>> webhooks;
  std::vector<const Authorizer*> members;
  for (const AuthorizerConfig& config : configs) {
    if (config.type == "Node") members.push_back(&node_);
    if (config.type == "RBAC") members.push_back(&rbac_);
    if (config.type == "AlwaysAllow") members.push_back(&kAllow);
    if (config.type == "AlwaysDeny") members.push_back(&kDeny);
    if (!config.webhook) continue;
    Result<std::unique_ptr<WebhookAuthorizer>> webhook =
        WebhookAuthorizer::Create(ctx_, connections_, *config.webhook);
    if (!webhook.ok()) return webhook.status().WithContext("authorizer " + config.name);
    members.push_back(webhook->get());
    webhooks.push_back(std::move(*webhook));
  }
  return OrderPtr(std::make_shared<const Order>(std::move(webhooks), std::move(members)));
}

Status Authorization::Start(Scope& scope, const Registry& registry) {
  // Roles are watched in every mode, because RBAC escalation checks need them.
  COX_RETURN_IF_ERROR(
      scope.Go("rbac", [this, &registry](Context& ctx) { RunRbacFeed(ctx, registry, rbac_); }));
  if (!uses_nodes_) return {};
  return scope.Go("node-graph",
                  [this, &registry](Context& ctx) { RunNodeFeed(ctx, registry, node_graph_); });
}

}  // namespace cox::apiserver
