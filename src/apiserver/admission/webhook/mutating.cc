// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/mutating.h"

#include <optional>
#include <set>

#include "apiserver/admission/webhook/attempt.h"
#include "apiserver/admission/webhook/match.h"
#include "apiserver/admission/webhook/patch.h"
#include "apiserver/admission/webhook/webhook_source.h"
#include "object/codec/json/json.h"

// MutatingAdmissionWebhook: webhooks that change objects. They are called sequentially; each one
// receives the object as changed by those before it.
//
// If one of them has changed the object, the whole plugin chain runs a second time (see
// AdmissionChain::Mutate). In the second round, only webhooks with reinvocationPolicy IfNeeded are
// called again, and only if the object has changed since their last call.
namespace cox::apiserver {
namespace {

constexpr std::string_view kName = "MutatingAdmissionWebhook";

// State that is kept between the rounds.
struct Rounds {
  std::set<std::string> called;  // reinvocable webhooks that received the latest change
  std::set<std::string> again;   // webhooks to be reinvoked
  std::optional<Object> left;    // the object after the last round

  // Marks the webhooks in `asked` for reinvocation, because the object has changed since their
  // call.
  void OnChange() { again.merge(called); }
};

class MutatingWebhooks final : public AdmissionPlugin {
 public:
  explicit MutatingWebhooks(const AdmissionParts& parts)
      : registry_(parts.registry),
        metrics_(parts.metrics),
        source_(parts.registry, admissionregistration::v1::MutatingWebhookConfiguration::kKind,
                parts.webhooks) {}

  std::string_view name() const override { return kName; }

  Status Mutate(Context& ctx, const AdmissionRequest& request, Object& object) const override {
    return Run(ctx, request, &object);
  }

  // Deletes reach only Validate. Webhooks cannot change them but may deny them.
  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.operation != Operation::kDelete) return {};
    return Run(ctx, request, nullptr);
  }

 private:
  Status Run(Context& ctx, const AdmissionRequest& request, Object* object) const {
    if (IsExempt(request)) return {};
    const std::shared_ptr<const WebhookList> list = source_.Current();
    if (list == nullptr) {
      return ForbiddenError(request.resource.resource(), request.name,
                            "not yet ready to handle request");
    }
    if (list->empty()) return {};
    const bool second = request.reinvocation != nullptr && request.reinvocation->again;
    const std::shared_ptr<Rounds> rounds = RoundsOf(request);
    // Other plugins have changed the object since the first round.
    if (second && object != nullptr && rounds->left && !(*rounds->left == *object)) {
      rounds->OnChange();
    }
    for (size_t i = 0; i < list->size(); ++i) {
      COX_RETURN_IF_ERROR(SendReview(ctx, request, (*list)[i], i, *rounds, object));
    }
    // Needed only for a second round.
    if (object != nullptr && request.reinvocation != nullptr && request.reinvocation->wanted) {
      rounds->left = *object;
    }
    return {};
  }

  Status SendReview(Context& ctx, const AdmissionRequest& request, const Webhook& webhook,
                    size_t index, Rounds& rounds, Object* object) const {
    COX_ASSIGN_OR_RETURN(const ServedResource* const as,
                         MatchWebhook(ctx, registry_, webhook, request));
    if (as == nullptr) return {};
    // In the second round, no webhook is called for the first time.
    const bool second = request.reinvocation != nullptr && request.reinvocation->again;
    if (second && rounds.again.erase(webhook.id) == 0) return {};
    WebhookAttempt attempt(WebhookAttempt::Type::kMutating, {webhook, *as, index}, request,
                           metrics_);
    attempt.Start(ctx);
    const WebhookAttempt::Outcome outcome = attempt.Finish(ctx);
    COX_RETURN_IF_ERROR(outcome.status);
    Result<bool> changed = false;
    if (!outcome.patch.empty()) {
      changed = ApplyWebhookPatch(outcome.patch, webhook, *as, request, object);
      if (!changed.ok()) return attempt.Fail(ctx, changed.status());
    }
    if (*changed) {
      rounds.OnChange();
      if (request.reinvocation != nullptr) request.reinvocation->wanted = true;
    }
    attempt.Succeed(ctx);
    Note(request, webhook, index, *changed);
    if (webhook.reinvoke) rounds.called.insert(webhook.id);
    return {};
  }

  // Audit annotation for a called webhook, which records whether it changed the object.
  static void Note(const AdmissionRequest& request, const Webhook& webhook, size_t index,
                   bool changed) {
    if (request.audit == nullptr) return;
    const bool second = request.reinvocation != nullptr && request.reinvocation->again;
    request.Annotate("mutation.webhook.admission.k8s.io/round_" +
                         std::to_string(static_cast<int>(second)) + "_index_" +
                         std::to_string(index),
                     json::Write(Value::MakeObject({{"configuration", webhook.configuration},
                                                    {"webhook", webhook.name},
                                                    {"mutated", changed}})));
  }

  static std::shared_ptr<Rounds> RoundsOf(const AdmissionRequest& request) {
    if (request.reinvocation == nullptr) return std::make_shared<Rounds>();
    std::shared_ptr<void>& kept = request.reinvocation->kept[std::string(kName)];
    if (kept == nullptr) kept = std::make_shared<Rounds>();
    return std::static_pointer_cast<Rounds>(kept);
  }

  const Registry& registry_;
  AdmissionMetrics* const metrics_;
  const WebhookSource source_;
};

}  // namespace

std::unique_ptr<const AdmissionPlugin> NewMutatingAdmissionWebhook(const AdmissionParts& parts) {
  if (parts.webhooks == nullptr) return nullptr;
  return std::make_unique<MutatingWebhooks>(parts);
}

}  // namespace cox::apiserver
