// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/patch.h"

#include "apiserver/admission/webhook/attempt.h"
#include "apiserver/admission/webhook/review.h"
#include "base/strings.h"
#include "object/apply/managed_fields.h"
#include "object/defaults.h"
#include "object/patch/json_patch.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

bool SameKind(const Value& a, const Value& b) {
  for (const std::string_view key : {"apiVersion", "kind"}) {
    const Value* const x = a.Find(key);
    const Value* const y = b.Find(key);
    if (x == nullptr || y == nullptr || !(*x == *y)) return false;
  }
  return true;
}

bool Same(const Object& a, const Object& b) {
  return a.is_typed() ? DeepEqual(a.type(), a.data(), b.data()) : a == b;
}

std::string NamespaceIn(const Value& object) {
  const Value* const ns = object.At({"metadata", "namespace"});
  return ns != nullptr && ns->is_string() ? std::string(ns->as_string()) : std::string();
}

// If a webhook has made managedFields invalid, restores the previous ones.
void KeepManagedFields(const Value& before, Value* after, Warnings* warnings) {
  const Result<apply::Managers> managers = apply::ManagersOf(*after);
  if (managers.ok()) return;
  Value* const meta = after->Find("metadata");
  if (meta == nullptr || !meta->is_object()) return;
  const Value* const kept = before.At({"metadata", "managedFields"});
  if (kept == nullptr) {
    meta->as_object().Erase("managedFields");
  } else {
    meta->as_object()["managedFields"] = *kept;
  }
  if (warnings == nullptr) return;
  warnings->push_back(
      ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
      "outdated mutating admission controller; please fix your requests: " +
      managers.status().message());
}

}  // namespace

Result<bool> ApplyWebhookPatch(std::string_view patch, const Webhook& webhook,
                               const ServedResource& as, const AdmissionRequest& request,
                               Object* object) {
  const Result<patch::JsonPatch> operations = patch::ParseJsonPatch(patch);
  if (!operations.ok()) return InternalError(operations.status().message());
  if (operations->empty()) return false;
  if (object == nullptr) {
    return InternalError("admission webhook " + Quote(webhook.name) +
                         " attempted to modify the object, which is not supported for this "
                         "operation");
  }
  const Object before = InVersion(*object, as);
  const Value value = before.ToValue();
  Result<Value> patched = patch::ApplyJsonPatch(value, *operations);
  if (!patched.ok()) return InternalError(patched.status().message());
  if (!patched->is_object() || !SameKind(value, *patched)) {
    return InternalError("admission webhook " + Quote(webhook.name) +
                         " attempted to change the kind of the object");
  }
  if (NamespaceIn(*patched) != NamespaceIn(value)) {
    return Status::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  KeepManagedFields(value, &*patched, request.warnings);
  Object after = before;
  const Status decoded = after.FromValue(*std::move(patched));
  if (!decoded.ok()) return InternalError(decoded.message());
  const bool changed = !Same(before, after);
  if (after.is_typed()) ApplyDefaults(after.type(), after.data());
  const bool of_resource = IsOfResource(*object, as);
  if (of_resource) as.SetDefaults(after);
  *object = of_resource ? as.ToHub(std::move(after)) : std::move(after);
  return changed;
}

}  // namespace cox::apiserver
