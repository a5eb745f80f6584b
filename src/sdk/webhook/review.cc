// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/review.h"

#include <optional>
#include <utility>

#include "api/meta/v1.h"
#include "base/strings.h"
#include "coxswain/options.h"
#include "object/json/json.h"
#include "sdk/webhook/api_status.h"
#include "sdk/webhook/rebase.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kReview = "AdmissionReview";

GroupVersionKind KindOf(const admission::v1::AdmissionRequest& review) {
  return {review.kind.group, review.kind.version, review.kind.kind};
}

Status CheckKind(const admission::v1::AdmissionRequest& review, const KindInfo* kind) {
  if (kind == nullptr) return {};
  const GroupVersionKind wanted{std::string(kind->group), std::string(kind->version),
                                std::string(kind->kind)};
  if (KindOf(review) == wanted) return {};
  return Status::BadRequest("this webhook is for " + wanted.ToString() + ", not for " +
                            KindOf(review).ToString());
}

// One object of a review: as it was sent, and as handlers see it.
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

Status ReadObjects(ReadReview& read, const KindInfo* kind) {
  COX_RETURN_IF_ERROR(CheckKind(read.review, kind));
  const GroupVersionKind gvk = KindOf(read.review);
  Result<Sent> object = ReadSent(read.review.object, gvk, kind);
  if (!object.ok()) return object.status().WithContext("request.object");
  Result<Sent> old = ReadSent(read.review.oldObject, gvk, kind);
  if (!old.ok()) return old.status().WithContext("request.oldObject");
  read.object = *std::move(object);
  read.old_object = *std::move(old);
  return {};
}

HookAnswer Answer(const std::string& uid, const AdmissionResponse& response, std::string patch) {
  if (response.failed()) return FailedAnswer(response.status());
  admission::v1::AdmissionResponse out;
  out.uid = uid;
  out.allowed = response.allowed();
  if (!response.status().ok()) out.status = ApiStatus(response.status());
  if (!patch.empty()) {
    out.patch = std::move(patch);
    out.patchType = admission::v1::kPatchTypeJSONPatch;
  }
  out.warnings = response.warnings();
  out.auditAnnotations = response.audit_annotations();
  admission::v1::AdmissionReview review;
  review.response = std::move(out);
  HookAnswer answer;
  const json::TypeMeta meta{.api_version = std::string(kApiVersion), .kind = std::string(kReview)};
  json::Encode(admission::v1::AdmissionReview::kType, &review, &answer.body, &meta);
  return answer;
}

// The context's reason where its time is over: an answer that comes too late is none.
std::optional<HookAnswer> TooLate(const Context& ctx) {
  if (!ctx.Done()) return std::nullopt;
  return FailedAnswer(
      Status::Timeout("the webhook did not answer in time: " + ctx.status().message()));
}

}  // namespace

HookAnswer FailedAnswer(const Status& why) {
  return {.code = why.code(), .body = why.message() + "\n", .content_type = "text/plain"};
}

Result<admission::v1::AdmissionRequest> ReadAdmissionReview(std::string_view body) {
  COX_ASSIGN_OR_RETURN(const json::TypeMeta meta, json::PeekTypeMeta(body));
  if (meta.api_version != kApiVersion || meta.kind != kReview) {
    return Status::BadRequest("expected an AdmissionReview of admission.k8s.io/v1, got " +
                              Quote(meta.kind) + " of " + Quote(meta.api_version));
  }
  COX_ASSIGN_OR_RETURN(auto review, json::Decode<admission::v1::AdmissionReview>(body));
  if (!review.request) return Status::BadRequest("the AdmissionReview has no request");
  if (review.request->uid.empty()) return Status::BadRequest("the request has no uid");
  return std::move(*review.request);
}

HookAnswer AnswerMutating(Context& ctx, std::string_view body, const KindInfo* kind,
                          const MutateHandler<Object>& handler) {
  auto review = ReadAdmissionReview(body);
  if (!review.ok()) return FailedAnswer(review.status());
  ReadReview read{.review = *std::move(review), .object = {}, .old_object = {}};
  if (Status good = ReadObjects(read, kind); !good.ok()) return FailedAnswer(good);
  // Of a deletion there is nothing that could be changed.
  if (!read.object.object) return Answer(read.review.uid, AdmissionResponse::Allow(), "");
  Object object = *read.object.object;
  const AdmissionResponse response = handler(ctx, read.request(), object);
  if (auto late = TooLate(ctx)) return *late;
  if (!response.allowed()) return Answer(read.review.uid, response, "");
  const Value& sent = read.object.value;
  const Value after = Rebase(sent, read.object.object->ToValue(), object.ToValue());
  return Answer(read.review.uid, response, Patch::JsonBetween(sent, after).body);
}

HookAnswer AnswerValidating(Context& ctx, std::string_view body, const KindInfo* kind,
                            const ValidateHandler<Object>& handler) {
  auto review = ReadAdmissionReview(body);
  if (!review.ok()) return FailedAnswer(review.status());
  ReadReview read{.review = *std::move(review), .object = {}, .old_object = {}};
  if (Status good = ReadObjects(read, kind); !good.ok()) return FailedAnswer(good);
  const AdmissionResponse response = handler(ctx, read.request());
  if (auto late = TooLate(ctx)) return *late;
  return Answer(read.review.uid, response, "");
}

}  // namespace cox::sdk
