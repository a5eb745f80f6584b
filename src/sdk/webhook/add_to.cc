// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "coxswain/manager.h"
#include "coxswain/webhook.h"

namespace cox {

Status WebhookServer::AddTo(Manager& manager) {
  manager.AddReadyCheck("webhook", [this](Context& ctx) { return Ready(ctx.clock()); });
  return manager.Add(
      "webhook-server",
      [this, &manager](Context& ctx) {
        // Every replica serves and so needs certificates, also while another leads: the manager's
        // own client lets only the leader write. It keeps the transport, so this owns nothing.
        const std::shared_ptr<Transport> borrowed(std::shared_ptr<void>(),
                                                  &manager.client().transport());
        const std::unique_ptr<Client> client = MakeClient(borrowed);
        return Run(ctx, client.get());
      },
      /*needs_leader_election=*/false);
}

}  // namespace cox
