// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/admission/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/object_key.h"
#include "object/object.h"

// Requests and responses of the handlers of a WebhookServer (webhook.h).
namespace cox {

// One admission request. T is the struct that the objects are decoded into, or Object for JSON
// values of any kind.
//
// Lifetime: valid during the call of the handler.
template <class T>
struct AdmissionRequest {
  // The request as sent by the API server: operation ("CREATE", "UPDATE", "DELETE", "CONNECT"),
  // kind, resource, subresource, user, options.
  const admission::v1::AdmissionRequest& review;
  const T* object = nullptr;      // the new object; null for deletions
  const T* old_object = nullptr;  // the existing object; null for creations

  // The request will not be persisted: the handler must not have side effects.
  bool dry_run() const { return review.dryRun.value_or(false); }
  // The name is empty if the server generates it (generateName).
  ObjectKey key() const { return {review.namespace_, review.name}; }
  bool IsCreate() const { return review.operation == admission::v1::kCreate; }
  bool IsUpdate() const { return review.operation == admission::v1::kUpdate; }
  bool IsDelete() const { return review.operation == admission::v1::kDelete; }
};

// Response of a handler:
//
//   Allow()      allows the request
//   Deny(why)    denies it, with a message for the user. A string results in 403 Forbidden; a
//                Status supplies its own code, reason and causes (for example Status::Invalid).
//   Fail(why)    the handler could not decide because of an internal error. The webhook's
//                failurePolicy applies. An exception that escapes the handler, and a timeout of the
//                handler, have the same effect.
//
// A Status converts to a response (OK allows, any other denies), so that COX_RETURN_IF_ERROR works
// in handlers.
class AdmissionResponse {
 public:
  AdmissionResponse(Status status) : status_(std::move(status)) {}  // NOLINT: as Result

  static AdmissionResponse Allow() { return Status(); }
  static AdmissionResponse Deny(std::string why) { return Status::Forbidden(std::move(why)); }
  // An OK status also denies or fails, so that these functions never allow a request.
  static AdmissionResponse Deny(Status why) {
    return why.ok() ? Status::Forbidden("denied") : std::move(why);
  }
  static AdmissionResponse Fail(Status why) {
    AdmissionResponse response(why.ok() ? Status::Internal("failed") : std::move(why));
    response.failed_ = true;
    return response;
  }

  // kubectl shows the warning to the user in all cases. Keep it below 120 characters: the API
  // server truncates longer ones if there are many.
  AdmissionResponse& Warn(std::string text) {
    warnings_.push_back(std::move(text));
    return *this;
  }
  // Added to the audit log, prefixed with the webhook's name.
  AdmissionResponse& Audit(std::string_view key, std::string_view value) {
    audit_[key] = value;
    return *this;
  }

  bool allowed() const { return status_.ok(); }
  bool failed() const { return failed_; }
  const Status& status() const { return status_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const Map<std::string>& audit_annotations() const { return audit_; }

 private:
  Status status_;
  bool failed_ = false;
  std::vector<std::string> warnings_;
  Map<std::string> audit_;
};

// Changes `object`, which is initially a copy of request.object. The patch contains only the
// changes made here; fields that T does not contain stay unchanged. Not called for deletions. Must
// be idempotent: the API server may call it again with its own result.
template <class T>
using MutateHandler =
    std::function<AdmissionResponse(Context& ctx, const AdmissionRequest<T>& request, T& object)>;

// Validates. request.object is the object to be stored, or null for deletions.
template <class T>
using ValidateHandler =
    std::function<AdmissionResponse(Context& ctx, const AdmissionRequest<T>& request)>;

// Converts an object from one version of a custom resource to another. `to` initially contains the
// metadata of `from`; only labels and annotations may be changed.
template <class From, class To>
using ConvertHandler = std::function<Status(Context& ctx, const From& from, To& to)>;

// Converts between any versions: returns `object` in `api_version` ("example.com/v2"). The server
// sets apiVersion in the result.
using ConvertAnyHandler =
    std::function<Result<Value>(Context& ctx, const Value& object, const std::string& api_version)>;

}  // namespace cox
