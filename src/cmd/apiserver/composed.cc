// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/composed.h"

#include "base/log.h"
#include "cmd/apiserver/keys.h"
#include "cmd/apiserver/options.h"

namespace cox::cmd {

ComposedApiServer::~ComposedApiServer() = default;

Result<std::unique_ptr<ComposedApiServer>> ComposedApiServer::Start(
    const Context& ctx, const Flags& flags, MetricsRegistry& metrics,
    const apiserver::ComponentPorts& components) {
  auto made = std::make_unique<ComposedApiServer>(ctx);
  COX_ASSIGN_OR_RETURN(made->stores_, OpenStores(ctx, flags, metrics));
  COX_ASSIGN_OR_RETURN(made->encryption_, EncryptionAtRest::Open(ctx, flags, metrics));
  COX_ASSIGN_OR_RETURN(apiserver::ServerOptions options, ServerOptionsFrom(flags));
  options.component_ports = components;
  options.storage_checks = made->encryption_->Checks();
  made->shutdown_delay_ = options.shutdown_delay;
  COX_ASSIGN_OR_RETURN(
      made->serving_certificate_,
      FollowCertificateFiles(ctx, ServingCertificateFiles(flags), options.listen.tls));
  COX_ASSIGN_OR_RETURN(made->server_,
                       apiserver::ApiServer::Start(
                           ctx, std::move(options),
                           [self = made.get()](std::string_view group,
                                               std::string_view resource) -> storage::Store& {
                             return self->encryption_->StoreOf(self->stores_.For(group, resource),
                                                               group, resource);
                           },
                           metrics));
  COX_INFO(ctx.log(), "Serving securely", {"port", made->server_->port()});
  return made;
}

void ComposedApiServer::Drain() {
  Context limit = ctx_.WithTimeout(shutdown_delay_ + std::chrono::seconds(10));
  const Status drained = server_->Drain(limit);
  if (!drained.ok()) COX_V(ctx_.log(), 2, "Some requests did not finish before the timeout");
}

}  // namespace cox::cmd
