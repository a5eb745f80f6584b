// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/review.h"

#include "apiserver/admission/webhook/match.h"
#include "base/status_code.h"
#include "base/strings.h"
#include "object/codec.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using admission::v1::AdmissionResponse;
using admission::v1::AdmissionReview;

constexpr std::string_view kGroup = "admission.k8s.io";

RawJson RawOf(const Object* object, const ServedResource& as) {
  RawJson raw;
  if (object == nullptr) return raw;
  // Avoids a copy by InVersion if the hub version is sent.
  const bool converts = as.version() != nullptr && IsOfResource(*object, as);
  EncodeObject(converts ? InVersion(*object, as) : *object, Format::kJson, &raw.raw,
               Embedded::kNamed);
  return raw;
}

// The kind of the resource, or that of the sent object if a subresource has another kind.
meta::v1::GroupVersionKind KindAt(const ServedResource& as, const AdmissionRequest& request) {
  const Object* const object = request.object != nullptr ? request.object : request.old;
  const GroupVersionKind gvk =
      object == nullptr || IsOfResource(*object, as) ? as.gvk() : object->gvk();
  return {.group = gvk.group, .version = gvk.version, .kind = gvk.kind};
}

meta::v1::GroupVersionResource ResourceAt(const ServedResource& as) {
  return {.group = std::string(as.kind().group),
          .version = std::string(as.kind().version),
          .resource = std::string(as.kind().plural)};
}

Status CheckPatch(const AdmissionResponse& response, bool mutating) {
  const bool patch = !response.patch.empty();
  if (!mutating) {
    if (patch) return Status::Internal("validating webhook may not return response.patch");
    if (response.patchType) {
      return Status::Internal("validating webhook may not return response.patchType");
    }
    return {};
  }
  if (patch && !response.patchType) {
    return Status::Internal("webhook returned response.patch but not response.patchType");
  }
  if (!patch && response.patchType) {
    return Status::Internal("webhook returned response.patchType but not response.patch");
  }
  if (response.patchType && response.patchType->empty()) {
    return Status::Internal("webhook returned invalid response.patchType of \"\"");
  }
  return {};
}

// v1beta1 requires neither a uid nor a patch type.
Status CheckOldReview(const GroupVersionKind& got, const GroupVersionKind& expected, bool mutating,
                      AdmissionResponse& response) {
  if (!got.empty() && got != expected) {
    return Status::Internal("expected webhook response of " + expected.ToString() + ", got " +
                            got.ToString());
  }
  if (!mutating) {
    response.patch.clear();
    response.patchType.reset();
  } else if (!response.patch.empty()) {
    response.patchType = "JSONPatch";
  }
  return {};
}

std::string TextAt(const Value& answer, std::string_view key) {
  const Value* const text = answer.Find(key);
  return text != nullptr && text->is_string() ? std::string(text->as_string()) : std::string();
}

// The reason of the status, if it is an API reason; otherwise a reason for its code.
Reason ReasonOf(const meta::v1::Status& status) {
  if (!status.reason.empty()) {
    for (int each = 1; each <= static_cast<int>(Reason::kServiceUnavailable); ++each) {
      const auto reason = static_cast<Reason>(each);
      if (ReasonName(reason) == status.reason) return reason;
    }
  }
  return NamelessReason(status.code < 400 ? 400 : status.code);
}

StatusDetails DetailsOf(const meta::v1::Status& status) {
  StatusDetails details;
  if (!status.details) return details;
  details.name = status.details->name;
  details.group = status.details->group;
  details.kind = status.details->kind;
  details.uid = status.details->uid;
  details.retry_after_seconds = status.details->retryAfterSeconds;
  for (const meta::v1::StatusCause& cause : status.details->causes) {
    details.causes.push_back(
        {.type = cause.reason, .message = cause.message, .field = cause.field});
  }
  return details;
}

}  // namespace

bool IsOfResource(const Object& object, const ServedResource& resource) {
  const KindInfo& hub = resource.store().kind();
  return object.gvk().kind == hub.kind && object.gvk().group == hub.group;
}

Object InVersion(const Object& object, const ServedResource& as) {
  return IsOfResource(object, as) ? as.FromHub(object) : object;
}

std::string EncodeReview(const Webhook& webhook, const ServedResource& as,
                         const AdmissionRequest& request, const std::string& uid) {
  admission::v1::AdmissionRequest review;
  review.uid = uid;
  review.kind = KindAt(as, request);
  review.resource = ResourceAt(as);
  review.subResource = request.subresource;
  review.requestKind = KindAt(request.resource, request);
  review.requestResource = ResourceAt(request.resource);
  review.requestSubResource = request.subresource;
  review.name = request.name;
  review.namespace_ = NamespaceOf(request);
  review.operation = OperationName(request.operation);
  review.userInfo = ToApi(request.user);
  review.object = RawOf(request.object, as);
  review.oldObject = RawOf(request.old, as);
  review.dryRun = request.dry_run;
  if (request.options) review.options.raw = json::Write(request.options());
  AdmissionReview whole;
  whole.request = std::move(review);
  std::string text;
  const json::TypeMeta meta{.api_version = std::string(kGroup) + "/" + webhook.review_version,
                            .kind = "AdmissionReview"};
  json::Encode(AdmissionReview::kType, &whole, &text, &meta);
  return text;
}

Result<AdmissionResponse> ReadReview(const Value& answer, const Webhook& webhook,
                                     const std::string& uid, bool mutating) {
  Result<AdmissionReview> review = json::FromValue<AdmissionReview>(answer);
  if (!review.ok()) return Status::Internal(review.status().message());
  if (!review->response) return Status::Internal("webhook response was absent");
  AdmissionResponse& response = *review->response;
  const GroupVersionKind expected{std::string(kGroup), webhook.review_version, "AdmissionReview"};
  COX_ASSIGN_OR_RETURN(
      const GroupVersionKind got,
      GroupVersionKind::Parse(TextAt(answer, "apiVersion"), TextAt(answer, "kind")));
  if (webhook.review_version != "v1") {
    COX_RETURN_IF_ERROR(CheckOldReview(got, expected, mutating, response));
    return std::move(response);
  }
  if (response.uid != uid) {
    return Status::Internal("expected response.uid=" + Quote(uid) + ", got " + Quote(response.uid));
  }
  if (got != expected) {
    return Status::Internal("expected webhook response of " + expected.ToString() + ", got " +
                            got.ToString());
  }
  COX_RETURN_IF_ERROR(CheckPatch(response, mutating));
  return std::move(response);
}

Status Denial(const std::string& webhook, const meta::v1::Status* status) {
  const std::string by = "admission webhook " + Quote(webhook) + " denied the request";
  if (status == nullptr) return Status(NamelessReason(400), by + " without explanation");
  std::string message = by + " without explanation";
  if (!status->message.empty()) {
    message = by + ": " + status->message;
  } else if (!status->reason.empty()) {
    message = by + ": " + status->reason;
  }
  return Status(ReasonOf(*status), std::move(message), DetailsOf(*status));
}

}  // namespace cox::apiserver
