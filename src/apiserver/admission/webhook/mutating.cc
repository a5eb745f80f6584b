// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/mutating.h"

#include <optional>
#include <set>

#include "apiserver/admission/webhook/attempt.h"
#include "apiserver/admission/webhook/match.h"
#include "apiserver/admission/webhook/patch.h"
#include "apiserver/admission/webhook/webhook_source.h"
#include "object/codec/json/json.h"

// MutatingAdmissionWebhook: webhooks that change what is about to be stored. They are asked one
// after another, each about what the ones before it left.
//
// When one of them changed the object, the whole chain of plugins is passed a second time (see
// AdmissionChain::Mutate). In that round, webhooks with reinvocationPolicy IfNeeded are asked again
// if somebody changed the object after they had seen it, and no others.
namespace cox::apiserver {
namespace {

constexpr std::string_view kName = "MutatingAdmissionWebhook";

// What the second round needs to know of the first.
struct Rounds {
  std::set<std::string> asked;  // that may be asked again, and have seen the latest change
  std::set<std::string> again;  // to be asked again
  std::optional<Object> left;   // what the webhooks of the last round left

  // The object is not what those in `asked` saw any more.
  void OnChange() { again.merge(asked); }
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

  // Deletions have nothing to change and come only here; the webhooks may still refuse them.
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
    // Plugins of our own have changed it since.
    if (second && object != nullptr && rounds->left && !(*rounds->left == *object)) {
      rounds->OnChange();
    }
    for (size_t i = 0; i < list->size(); ++i) {
      COX_RETURN_IF_ERROR(Ask(ctx, request, (*list)[i], i, *rounds, object));
    }
    // Needed only if the second round comes.
    if (object != nullptr && request.reinvocation != nullptr && request.reinvocation->wanted) {
      rounds->left = *object;
    }
    return {};
  }

  Status Ask(Context& ctx, const AdmissionRequest& request, const Webhook& webhook, size_t index,
             Rounds& rounds, Object* object) const {
    COX_ASSIGN_OR_RETURN(const ServedResource* const as,
                         MatchWebhook(ctx, registry_, webhook, request));
    if (as == nullptr) return {};
    // Nobody is asked for the first time in the second round.
    const bool second = request.reinvocation != nullptr && request.reinvocation->again;
    if (second && rounds.again.erase(webhook.id) == 0) return {};
    WebhookAttempt attempt(WebhookAttempt::Type::kMutating, {webhook, *as, index}, request,
                           metrics_);
    attempt.Start(ctx);
    const WebhookAttempt::Verdict verdict = attempt.Finish(ctx);
    COX_RETURN_IF_ERROR(verdict.status);
    Result<bool> changed = false;
    if (!verdict.patch.empty()) {
      changed = ApplyWebhookPatch(verdict.patch, webhook, *as, request, object);
      if (!changed.ok()) return attempt.Fail(ctx, changed.status());
    }
    if (*changed) {
      rounds.OnChange();
      if (request.reinvocation != nullptr) request.reinvocation->wanted = true;
    }
    attempt.Succeed(ctx);
    Note(request, webhook, index, *changed);
    if (webhook.reinvoke) rounds.asked.insert(webhook.id);
    return {};
  }

  // For the audit: who was asked, and who changed something.
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
