// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/webhook_output.h"

#include <random>

#include "apiserver/webhook/webhook_client.h"
#include "base/random.h"

namespace cox::apiserver {
namespace {

constexpr std::chrono::seconds kTimeout{30};
// All errors are retried, because the backend may recover.
constexpr int kAttempts = 5;
constexpr double kBackoffFactor = 1.5;
constexpr double kJitter = 0.2;

class WebhookOutput final : public AuditOutput {
 public:
  WebhookOutput(WebhookClient client, std::chrono::nanoseconds initial_backoff)
      : client_(std::move(client)), initial_backoff_(initial_backoff) {}

  std::string_view name() const override { return "webhook"; }

  AuditOutcome Write(const Context& ctx, std::span<const AuditEventPtr> events) override {
    const std::string list = AuditEventList(events);
    double backoff = static_cast<double>(initial_backoff_.count());
    for (int attempt = 1;; ++attempt) {
      Status status = client_.Send(ctx.WithTimeout(kTimeout), list);
      if (status.ok()) return {};
      if (attempt == kAttempts || ctx.Done()) return {events.size(), std::move(status)};
      COX_V(ctx.log(), 2, "Audit webhook rejected events, which will be retried",
            {"error", status.message()}, {"events", events.size()});
      const std::chrono::nanoseconds wait(
          static_cast<int64_t>(backoff * (1 + kJitter * RandomFraction())));
      if (!ctx.Sleep(wait).ok()) return {events.size(), std::move(status)};
      backoff *= kBackoffFactor;
    }
  }

 private:
  const WebhookClient client_;
  const std::chrono::nanoseconds initial_backoff_;
};

}  // namespace

std::string AuditEventList(std::span<const AuditEventPtr> events) {
  size_t size = 128;
  for (const AuditEventPtr& event : events) size += event->line.size();
  std::string list;
  list.reserve(size);
  list = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)";
  for (size_t i = 0; i < events.size(); ++i) {
    // The items omit kind and apiVersion.
    list += i == 0 ? "{" : ",{";
    list += events[i]->item_tail();
  }
  list += "]}\n";
  return list;
}

Result<std::unique_ptr<AuditOutput>> NewWebhookOutput(const Context& ctx,
                                                      const AuditWebhookOptions& options) {
  COX_ASSIGN_OR_RETURN(WebhookConfig config, ReadWebhookKubeconfig(options.kubeconfig));
  config.user_agent = "kube-apiserver-audit";
  COX_ASSIGN_OR_RETURN(
      WebhookClient client,
      WebhookClient::Create(std::make_shared<WebhookConnections>(ctx), std::move(config)));
  return std::unique_ptr<AuditOutput>(
      std::make_unique<WebhookOutput>(std::move(client), options.initial_backoff));
}

}  // namespace cox::apiserver
