// SPDX-License-Identifier: Apache-2.0
#include "coxswain/client.h"

namespace cox {

Result<std::unique_ptr<Client>> Connect(const Context& ctx, const Config& config) {
  return Connect(ctx, config, nullptr);
}

Result<std::unique_ptr<Client>> Connect(const Context& ctx, const Config& config,
                                        std::shared_ptr<ClientMetrics> metrics) {
  COX_ASSIGN_OR_RETURN(std::shared_ptr<Transport> transport, ConnectTransport(ctx, config));
  return MakeClient(std::move(transport), config, std::move(metrics));
}

}  // namespace cox
