// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/config/reload_metrics.h"
#include "apiserver/filters/authz/authorizer/authorization_options.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/authz/node/node_authorizer.h"
#include "apiserver/filters/authz/rbac/rbac_authorizer.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/webhook/webhook_client.h"
#include "base/scope.h"
#include "base/watched_file.h"

namespace cox::apiserver {

// The authorizers of the configuration, in order, and the feeds that keep them up to date.
//
// The configuration file is reloaded on change; an invalid file is logged and ignored.
// Threads: All methods may be called concurrently, Start once.
class Authorization final : public Authorizer {
  struct Private {};

 public:
  // Errors: BadRequest for invalid options.
  static Result<std::unique_ptr<Authorization>> Create(const Context& ctx,
                                                       const AuthorizationOptions& options,
                                                       ConfigReloadMetricsPtr reloads = nullptr);
  Authorization(Private, const Context& ctx);  // for Create

  bool MayBlock() const override { return Current()->all.MayBlock(); }
  Decision Decide(const UserInfo& user, const RequestInfo& request,
                  const Selectors& selectors) const override {
    return Current()->all.Authorize(user, request, selectors);
  }
  UserRules Rules(const UserInfo& user, std::string_view ns) const override {
    return Current()->all.Rules(user, ns);
  }
  // RBAC alone.
  const RbacAuthorizer& rbac() const { return rbac_; }

  // Starts watching the objects of the authorizers, in `scope`. `registry` must outlive it.
  Status Start(Scope& scope, const Registry& registry);
  // Cancels webhook calls in progress.
  void Stop() { ctx_.Stop(); }

 private:
  // The authorizers of one configuration.
  struct Order {
    Order(std::vector<std::unique_ptr<const Authorizer>> own,
          std::vector<const Authorizer*> members)
        : webhooks(std::move(own)), all(std::move(members)) {}
    const std::vector<std::unique_ptr<const Authorizer>> webhooks;
    const UnionAuthorizer all;
  };
  using OrderPtr = std::shared_ptr<const Order>;

  OrderPtr Current() const { return file_ == nullptr ? order_ : file_->Current(); }
  Result<OrderPtr> MakeOrder(const std::vector<AuthorizerConfig>& configs) const;

  Context ctx_;
  const std::shared_ptr<WebhookConnections> connections_;
  NodeGraph node_graph_;
  const NodeAuthorizer node_;
  RbacAuthorizer rbac_;
  bool uses_nodes_ = true;
  OrderPtr order_;                            // from the modes
  std::unique_ptr<WatchedFile<Order>> file_;  // from a file; last: its thread uses the rest
};

}  // namespace cox::apiserver
