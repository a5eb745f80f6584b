// SPDX-License-Identifier: Apache-2.0
#include "sdk/election/fenced_client.h"

#include <utility>

namespace cox::sdk {
namespace {

class Fenced final : public Client {
 public:
  Fenced(Leadership& leadership, Client& client) : leadership_(leadership), client_(client) {}

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    if (!operation.IsWrite()) return client_.Execute(ctx, operation);
    const std::optional<Leadership::Hold> hold = leadership_.Held();
    if (!hold) return DeposedStatus(Reason::kForbidden, leadership_.WhyNot());
    Operation fenced = operation;
    fenced.headers.Set(kFencingHeader, hold->token.ToString());
    // Cancels the call when the term ends, because the client may retry the request after that.
    Context call = ctx.Child();
    const StopHandle stop = hold->until.OnStop([call, until = hold->until]() mutable {
      call.Stop(DeposedStatus(Reason::kForbidden, until.status().message()));
    });
    Result<Object> answer = client_.Execute(call, fenced);
    if (answer.ok() || !IsDeposed(answer.status())) return answer;
    leadership_.Depose(hold->token, answer.status());
    return DeposedStatus(Reason::kForbidden, answer.status().message());
  }

  Result<std::string> ListEach(Context& ctx, const Resource& resource, const ListOptions& options,
                               const std::function<Status(Object)>& take) override {
    return client_.ListEach(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    return client_.Watch(ctx, resource, options);
  }
  Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                   const ListOptions& options,
                                   const std::function<Status(Object)>& take) override {
    return client_.ListMetadata(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) override {
    return client_.WatchMetadata(ctx, resource, options);
  }
  Result<Resource> Discover(Context& ctx, const GroupVersionKind& gvk) override {
    return client_.Discover(ctx, gvk);
  }
  Transport& transport() override { return client_.transport(); }
  const std::string& default_namespace() const override { return client_.default_namespace(); }

 private:
  Leadership& leadership_;
  Client& client_;
};

}  // namespace

std::unique_ptr<Client> MakeFencedClient(Leadership& leadership, Client& client) {
  return std::make_unique<Fenced>(leadership, client);
}

}  // namespace cox::sdk
