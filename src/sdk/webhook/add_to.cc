// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "coxswain/manager.h"
#include "coxswain/webhook.h"

namespace cox {
namespace {

// The transport of the manager, which keeps it. No WebSockets: nothing here needs them.
class Borrowed final : public Transport {
 public:
  explicit Borrowed(Transport& transport) : transport_(transport) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    return transport_.Do(ctx, std::move(request));
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    return transport_.Start(ctx, std::move(request));
  }

 private:
  Transport& transport_;
};

}  // namespace

Status WebhookServer::AddTo(Manager& manager) {
  manager.AddReadyCheck("webhook", [this](Context& ctx) { return Ready(ctx.clock()); });
  return manager.Add(
      "webhook-server",
      [this, &manager](Context& ctx) {
        // Every replica serves and so needs certificates, also while another leads: the manager's
        // own client lets only the leader write.
        const std::unique_ptr<Client> client =
            MakeClient(std::make_shared<Borrowed>(manager.client().transport()));
        return Run(ctx, client.get());
      },
      /*needs_leader_election=*/false);
}

}  // namespace cox
