// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/review.h"

#include <optional>
#include <utility>

#include "api/meta/v1.h"
#include "coxswain/options.h"
#include "object/api_status.h"
#include "object/codec/json/json.h"
#include "object/type/kind_names.h"
#include "sdk/webhook/rebase.h"

namespace cox::sdk {
namespace {

GroupVersionKind KindOf(const admission::v1::AdmissionRequest& review) {
  return {review.kind.group, review.kind.version, review.kind.kind};
}

Status CheckKind(const admission::v1::AdmissionRequest& review, const KindInfo* kind) {
  if (kind == nullptr) return {};
  const GroupVersionKind wanted = GvkOf(*kind);
  if (KindOf(review) == wanted) return {};
  return Status::BadRequest("this webhook is for " + wanted.ToString() + ", not for " +
                            KindOf(review).ToString());
}

// One object of a review: as sent, and as passed to handlers.
struct Sent {
  Value value;
  std::optional<Object> object;
};

Result<Sent> ReadSent(const RawJson& raw, const GroupVersionKind& gvk, const KindInfo* kind) {
  Sent sent;
  if (raw.empty() || raw.raw == "null") return sent;
  COX_ASSIGN_OR_RETURN(sent.value, json::Parse(raw.raw));
  if (!sent.value.is_object()) return Status::BadRequest("the object is no JSON object");
  if (kind == nullptr) {
    sent.object.emplace(gvk, types::kAny, sent.value);
  } else {
    sent.object.emplace(*kind);
    COX_RETURN_IF_ERROR(json::FromValue(sent.value, *kind->type, sent.object->data()));
  }
  return sent;
}

struct ReadReview {
  admission::v1::AdmissionRequest review;
  Sent object;
  Sent old_object;

  AdmissionRequest<Object> request() const {
    return {review, object.object ? &*object.object : nullptr,
            old_object.object ? &*old_object.object : nullptr};
  }
};

Result<ReadReview> Read(std::string_view body, const KindInfo* kind) {
  ReadReview read;
  COX_ASSIGN_OR_RETURN(read.review, ReadRequest<admission::v1::AdmissionReview>(body));
  COX_RETURN_IF_ERROR(CheckKind(read.review, kind));
  const GroupVersionKind gvk = KindOf(read.review);
  Result<Sent> object = ReadSent(read.review.object, gvk, kind);
  if (!object.ok()) return object.status().WithContext("request.object");
  Result<Sent> old = ReadSent(read.review.oldObject, gvk, kind);
  if (!old.ok()) return old.status().WithContext("request.oldObject");
  read.object = *std::move(object);
  read.old_object = *std::move(old);
  return read;
}

HookResponse Answer(const std::string& uid, const AdmissionResponse& response, std::string patch) {
  if (response.failed()) return FailureResponse(response.status());
  admission::v1::AdmissionResponse out;
  out.uid = uid;
  out.allowed = response.allowed();
  if (!response.status().ok()) out.status = ToApiStatus(response.status());
  if (!patch.empty()) {
    out.patch = std::move(patch);
    out.patchType = admission::v1::kPatchTypeJSONPatch;
  }
  out.warnings = response.warnings();
  out.auditAnnotations = response.audit_annotations();
  return ReviewResponse<admission::v1::AdmissionReview>(std::move(out));
}

// A timeout response if the context has stopped: the API server no longer waits.
std::optional<HookResponse> TooLate(const Context& ctx) {
  if (!ctx.Done()) return std::nullopt;
  return FailureResponse(
      Status::Timeout("the webhook did not answer in time: " + ctx.status().message()));
}

}  // namespace

HookResponse ReviewMutating(Context& ctx, std::string_view body, const KindInfo* kind,
                            const MutateHandler<Object>& handler) {
  const Result<ReadReview> read = Read(body, kind);
  if (!read.ok()) return FailureResponse(read.status());
  // A deletion has no object to change.
  if (!read->object.object) return Answer(read->review.uid, AdmissionResponse::Allow(), "");
  Object object = *read->object.object;
  const AdmissionResponse response = handler(ctx, read->request(), object);
  if (auto late = TooLate(ctx)) return *late;
  if (!response.allowed()) return Answer(read->review.uid, response, "");
  const Value& sent = read->object.value;
  const Value after = Rebase(sent, read->object.object->ToValue(), object.ToValue());
  return Answer(read->review.uid, response, Patch::JsonBetween(sent, after).body);
}

HookResponse ReviewValidating(Context& ctx, std::string_view body, const KindInfo* kind,
                              const ValidateHandler<Object>& handler) {
  const Result<ReadReview> read = Read(body, kind);
  if (!read.ok()) return FailureResponse(read.status());
  const AdmissionResponse response = handler(ctx, read->request());
  if (auto late = TooLate(ctx)) return *late;
  return Answer(read->review.uid, response, "");
}

}  // namespace cox::sdk
