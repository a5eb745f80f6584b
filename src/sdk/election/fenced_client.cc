// SPDX-License-Identifier: Apache-2.0
#include "sdk/election/fenced_client.h"

#include <utility>

#include "coxswain/forwarding_client.h"

namespace cox::sdk {
namespace {

class Fenced final : public ForwardingClient {
 public:
  Fenced(Leadership& leadership, Client& client)
      : ForwardingClient(client), leadership_(leadership) {}

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    if (!operation.IsWrite()) return next().Execute(ctx, operation);
    const std::optional<Leadership::Hold> hold = leadership_.Held();
    if (!hold) return DeposedStatus(Reason::kForbidden, leadership_.WhyNot());
    Operation fenced = operation;
    fenced.headers.Set(kFencingHeader, hold->token.ToString());
    // Cancels the call when the term ends, because the client may retry the request after that.
    Context call = ctx.Child();
    const StopHandle stop = hold->until.OnStop([call, until = hold->until]() mutable {
      call.Stop(DeposedStatus(Reason::kForbidden, until.status().message()));
    });
    Result<Object> answer = next().Execute(call, fenced);
    if (answer.ok() || !IsDeposed(answer.status())) return answer;
    leadership_.Depose(hold->token, answer.status());
    return DeposedStatus(Reason::kForbidden, answer.status().message());
  }

 private:
  Leadership& leadership_;
};

}  // namespace

std::unique_ptr<Client> MakeFencedClient(Leadership& leadership, Client& client) {
  return std::make_unique<Fenced>(leadership, client);
}

}  // namespace cox::sdk
