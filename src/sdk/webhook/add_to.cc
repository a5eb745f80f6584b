// SPDX-License-Identifier: Apache-2.0
#include "coxswain/manager.h"
#include "coxswain/webhook.h"

namespace cox {

Status WebhookServer::AddTo(Manager& manager) {
  manager.AddReadyCheck("webhook", [this](Context& ctx) { return Ready(ctx.clock()); });
  return manager.Add(
      "webhook-server", [this, &manager](Context& ctx) { return Run(ctx, &manager.client()); },
      /*needs_leader_election=*/false);
}

}  // namespace cox
