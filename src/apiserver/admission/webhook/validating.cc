// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/validating.h"

#include <deque>

#include "apiserver/admission/webhook/attempt.h"
#include "apiserver/admission/webhook/match.h"
#include "apiserver/admission/webhook/webhook_source.h"

// ValidatingAdmissionWebhook: webhooks that allow or deny requests. All matching webhooks are
// called concurrently, and all must allow the request.
namespace cox::apiserver {
namespace {

class ValidatingWebhooks final : public AdmissionPlugin {
 public:
  explicit ValidatingWebhooks(const AdmissionParts& parts)
      : registry_(parts.registry),
        metrics_(parts.metrics),
        source_(parts.registry, admissionregistration::v1::ValidatingWebhookConfiguration::kKind,
                parts.webhooks) {}

  std::string_view name() const override { return "ValidatingAdmissionWebhook"; }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (IsExempt(request)) return {};
    const std::shared_ptr<const WebhookList> list = source_.Current();
    if (list == nullptr) {
      return ForbiddenError(request.resource.resource(), request.name,
                            "not yet ready to handle request");
    }
    std::deque<WebhookAttempt> attempts;
    for (size_t i = 0; i < list->size(); ++i) {
      const Webhook& webhook = (*list)[i];
      COX_ASSIGN_OR_RETURN(const ServedResource* const as,
                           MatchWebhook(ctx, registry_, webhook, request));
      if (as == nullptr) continue;
      attempts.emplace_back(WebhookAttempt::Type::kValidating,
                            WebhookAttempt::Subject{webhook, *as, i}, request, metrics_);
    }
    for (WebhookAttempt& attempt : attempts) attempt.Start(ctx);
    // The client receives the first denial, but the warnings of all webhooks.
    Status first;
    for (WebhookAttempt& attempt : attempts) {
      Status status = attempt.Finish(ctx).status;
      if (status.ok()) attempt.Succeed(ctx);
      if (first.ok()) first = std::move(status);
    }
    return first;
  }

 private:
  const Registry& registry_;
  AdmissionMetrics* const metrics_;
  const WebhookSource source_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewValidatingAdmissionWebhook(const AdmissionParts& parts) {
  if (parts.webhooks == nullptr) return nullptr;
  return std::make_unique<ValidatingWebhooks>(parts);
}

}  // namespace cox::apiserver
