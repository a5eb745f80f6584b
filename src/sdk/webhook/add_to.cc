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
        // Every replica serves and needs certificates, also if it is not the leader, but the
        // manager's client rejects writes of non-leaders. This client shares its transport, which
        // the manager owns.
        const std::shared_ptr<Transport> borrowed(std::shared_ptr<void>(),
                                                  &manager.client().transport());
        const std::unique_ptr<Client> client = MakeClient(borrowed);
        return Run(ctx, client.get());
      },
      /*needs_leader_election=*/false);
}

}  // namespace cox
