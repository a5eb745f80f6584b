// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/inside.h"

#include <string>
#include <utility>

#include "sdk/manager/manager_impl.h"

namespace cox::sdk {
namespace {

// A client and those it is made of.
class Chain final : public Client {
 public:
  Chain(std::shared_ptr<Client> sender, std::unique_ptr<Client> fenced, std::unique_ptr<Client> top)
      : sender_(std::move(sender)), fenced_(std::move(fenced)), top_(std::move(top)) {}

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    return top_->Execute(ctx, operation);
  }
  Result<std::string> ListEach(Context& ctx, const Resource& resource, const ListOptions& options,
                               const std::function<Status(Object)>& take) override {
    return top_->ListEach(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    return top_->Watch(ctx, resource, options);
  }
  Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                   const ListOptions& options,
                                   const std::function<Status(Object)>& take) override {
    return top_->ListMetadata(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) override {
    return top_->WatchMetadata(ctx, resource, options);
  }
  Result<Resource> Discover(Context& ctx, const GroupVersionKind& gvk) override {
    return top_->Discover(ctx, gvk);
  }
  Transport& transport() override { return top_->transport(); }
  const std::string& default_namespace() const override { return top_->default_namespace(); }

 private:
  const std::shared_ptr<Client> sender_;
  const std::unique_ptr<Client> fenced_;  // null: not fenced
  const std::unique_ptr<Client> top_;
};

}  // namespace

std::optional<net::Response> AnswerInspection(Manager& manager, Context& ctx,
                                              const net::Request& request) {
  return static_cast<ManagerImpl&>(manager).AnswerInspection(ctx, request);
}

std::unique_ptr<Client> WritingBy(Manager& manager, std::shared_ptr<Client> client) {
  auto& impl = static_cast<ManagerImpl&>(manager);
  std::unique_ptr<Client> fenced = impl.Fenced(*client);
  std::unique_ptr<Client> top = impl.cache().WritingThrough(fenced != nullptr ? *fenced : *client);
  return std::make_unique<Chain>(std::move(client), std::move(fenced), std::move(top));
}

std::optional<net::Response> ManagerImpl::AnswerInspection(Context& ctx,
                                                           const net::Request& request) {
  std::string path(request.path());
  if (path == "/metrics") {
    return net::Response{.status = 200,
                         .headers = {{"content-type", std::string(MetricsRegistry::kContentType)}},
                         .body = {Bytes(metrics_->Render())}};
  }
  if (path == "/livez" || path.starts_with("/livez/")) path = "/healthz" + path.substr(6);
  for (const HealthChecks* checks : {&healthz_, &readyz_}) {
    if (checks->Owns(path)) return checks->Answer(ctx, path, request.query());
  }
  return std::nullopt;
}

}  // namespace cox::sdk
