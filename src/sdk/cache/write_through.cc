// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/write_through.h"

#include <charconv>
#include <string>
#include <utility>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "coxswain/forwarding_client.h"
#include "object/codec/json/json.h"

namespace cox::sdk {
namespace {

using Verb = Operation::Verb;

bool IsDryRun(const Operation& operation) {
  return (operation.write != nullptr && operation.write->dry_run) ||
         (operation.apply != nullptr && operation.apply->dry_run) ||
         (operation.remove != nullptr && operation.remove->dry_run);
}

// The resourceVersion precondition of a patch, or kUnknownBase.
int64_t BaseOf(const Patch& patch) {
  constexpr std::string_view kMember = "resourceVersion";
  if (patch.type == patch::PatchType::kJson || patch.body.find(kMember) == std::string::npos) {
    return SharedInformer::kUnknownBase;
  }
  const Result<Value> value = json::Parse(patch.body);
  const Value* version = value.ok() ? value->At({"metadata", kMember}) : nullptr;
  if (version == nullptr || !version->is_string()) return SharedInformer::kUnknownBase;
  int64_t number = SharedInformer::kUnknownBase;
  const std::string_view text = version->as_string();
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The version that the server verifiably replaced, or kUnknownBase.
int64_t BaseOf(const Operation& operation) {
  if (operation.verb == Verb::kCreate) return 0;
  if (operation.verb == Verb::kUpdate && operation.body != nullptr) {
    const int64_t version = HeadOf(*operation.body).version;
    return version == 0 ? SharedInformer::kUnknownBase : version;
  }
  return operation.patch != nullptr ? BaseOf(*operation.patch) : SharedInformer::kUnknownBase;
}

// True if an object that is being deleted has no finalizers and no grace period, so that this
// response was its final state. Namespaces have additional finalizers in their spec.
bool IsFullyDeleted(const Object& object) {
  if (const auto* ns = object.As<core::v1::Namespace>(); ns && !ns->spec.finalizers.empty()) {
    return false;
  }
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
    return meta->finalizers.empty() && meta->deletionGracePeriodSeconds.value_or(0) == 0;
  }
  const Value* meta = object.is_typed() ? nullptr : object.value().Find("metadata");
  if (meta == nullptr) return false;
  const Value* finalizers = meta->Find("finalizers");
  const Value* grace = meta->Find("deletionGracePeriodSeconds");
  return (finalizers == nullptr || !finalizers->is_array() || finalizers->as_array().empty()) &&
         (grace == nullptr || !grace->is_int() || grace->as_int() == 0);
}

class WriteThrough final : public ForwardingClient {
 public:
  WriteThrough(Client& inner, InformersOf informers)
      : ForwardingClient(inner), informers_(std::move(informers)) {}

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    Result<Object> answer = next().Execute(ctx, operation);
    if (answer.ok() && operation.IsWrite() && !IsDryRun(operation)) {
      Observe(ctx, operation, *answer);
    }
    return answer;
  }

 private:
  void Observe(const Context& ctx, const Operation& operation, const Object& answer) const {
    const std::vector<std::shared_ptr<SharedInformer>> informers = informers_(operation.resource);
    if (informers.empty()) return;
    if (const auto* status = answer.As<meta::v1::Status>()) {
      if (operation.verb == Verb::kDelete && status->details) {
        for (const auto& informer : informers) {
          informer->ObserveDelete(operation.key, status->details->uid);
        }
      }
      return;
    }
    // Subresource responses of another kind (Scale) do not contain the object.
    const ObjectHead head = HeadOf(answer);
    if (answer.gvk() != operation.resource.gvk || head.uid.empty()) return;
    const bool gone = operation.verb == Verb::kDelete && !head.deleting;
    if (gone || (head.deleting && IsFullyDeleted(answer))) {
      for (const auto& informer : informers) informer->ObserveDelete(head.key, head.uid);
      return;
    }
    const auto object = std::make_shared<const Object>(answer);
    const int64_t base = BaseOf(operation);
    for (const auto& informer : informers) {
      informer->ObserveWrite(object, base, ctx.Value(kWriter));
    }
  }

  const InformersOf informers_;
};

}  // namespace

std::unique_ptr<Client> MakeWriteThrough(Client& inner, InformersOf informers) {
  return std::make_unique<WriteThrough>(inner, std::move(informers));
}

}  // namespace cox::sdk
