// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "coxswain/forwarding_client.h"
#include "sdk/manager/manager_impl.h"

namespace cox::sdk {
namespace {

// A client together with the clients that it consists of.
class LayeredClient final : public ForwardingClient {
 public:
  LayeredClient(std::shared_ptr<Client> sender, std::unique_ptr<Client> fenced,
                std::unique_ptr<Client> top)
      : ForwardingClient(*top),
        sender_(std::move(sender)),
        fenced_(std::move(fenced)),
        top_(std::move(top)) {}

 private:
  const std::shared_ptr<Client> sender_;
  const std::unique_ptr<Client> fenced_;  // null: not fenced
  const std::unique_ptr<Client> top_;
};

}  // namespace

std::unique_ptr<Client> ManagerImpl::ClientOver(std::shared_ptr<Client> client) {
  // Null: there is no leader election.
  std::unique_ptr<Client> fenced = elector_ != nullptr ? elector_->FencedClient(*client) : nullptr;
  std::unique_ptr<Client> top = cache().WritingThrough(fenced != nullptr ? *fenced : *client);
  return std::make_unique<LayeredClient>(std::move(client), std::move(fenced), std::move(top));
}

void ManagerImpl::AddMetricsPage(std::string path, std::function<std::string()> render) {
  MutexLock lock(mu_);
  pages_.insert_or_assign(std::move(path), std::move(render));
}

std::optional<std::string> ManagerImpl::MetricsPage(std::string_view path) {
  if (path == "/metrics") return metrics_->Render();
  std::function<std::string()> render;
  {
    MutexLock lock(mu_);
    const auto found = pages_.find(path);
    if (found == pages_.end()) return std::nullopt;
    render = found->second;
  }
  return render();
}

std::optional<Inspection> ManagerImpl::Inspect(Context& ctx, std::string_view path,
                                               std::string_view query) {
  if (std::optional<std::string> page = MetricsPage(path)) {
    return Inspection{.content_type = std::string(MetricsRegistry::kContentType),
                      .body = *std::move(page)};
  }
  std::string known(path);
  if (known == "/livez" || known.starts_with("/livez/")) known = "/healthz" + known.substr(6);
  for (const HealthChecks* checks : {&healthz_, &readyz_}) {
    if (!checks->Owns(known)) continue;
    const net::Response answer = checks->Answer(ctx, known, query);
    Inspection inspection{
        .status = answer.status,
        .content_type = std::string(answer.headers.Get("content-type").value_or(""))};
    for (const Bytes& piece : answer.body) inspection.body += piece.view();
    return inspection;
  }
  return std::nullopt;
}

}  // namespace cox::sdk
