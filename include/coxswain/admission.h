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

// What the handlers of a WebhookServer (webhook.h) are asked, and what they answer.
namespace cox {

// One request that the API server is about to carry out. T is the struct that the objects are read
// into, or Object: then they are JSON values, whatever their kind.
//
// Ownership: lives as long as the call of the handler.
template <class T>
struct AdmissionRequest {
  // All that the API server said: operation ("CREATE", "UPDATE", "DELETE", "CONNECT"), kind,
  // resource, subresource, user, options.
  const admission::v1::AdmissionRequest& review;
  const T* object = nullptr;      // as it will be; null for deletions
  const T* old_object = nullptr;  // as it was; null for creations

  // Nothing of it will be kept: a handler with side effects must not have them.
  bool dry_run() const { return review.dryRun.value_or(false); }
  // The name is empty while the server has yet to make it up (generateName).
  ObjectKey key() const { return {review.namespace_, review.name}; }
  bool IsCreate() const { return review.operation == admission::v1::kCreate; }
  bool IsUpdate() const { return review.operation == admission::v1::kUpdate; }
  bool IsDelete() const { return review.operation == admission::v1::kDelete; }
};

// What a handler says to a request. There are three answers:
//
//   Allow()      go on
//   Deny(why)    do not: the user is told why. With a text it is 403 Forbidden; a Status brings its
//                own code, reason and causes (Status::Invalid with fields, say).
//   Fail(why)    cannot tell, for a reason that is ours: the failurePolicy of the webhook's
//                configuration decides what becomes of the request. An exception that escapes the
//                handler, and a handler that took too long, are this.
//
// A Status is an answer too (OK allows, any other denies), so COX_RETURN_IF_ERROR works in
// handlers.
class AdmissionResponse {
 public:
  AdmissionResponse(Status status) : status_(std::move(status)) {}  // NOLINT: as Result

  static AdmissionResponse Allow() { return Status(); }
  static AdmissionResponse Deny(std::string why) { return Status::Forbidden(std::move(why)); }
  // A status that is OK denies too, and fails too: whoever calls these means no.
  static AdmissionResponse Deny(Status why) {
    return why.ok() ? Status::Forbidden("denied") : std::move(why);
  }
  static AdmissionResponse Fail(Status why) {
    AdmissionResponse response(why.ok() ? Status::Internal("failed") : std::move(why));
    response.failed_ = true;
    return response;
  }

  // Shown to the user by kubectl, whatever the answer. Keep it under 120 characters: the API server
  // cuts longer ones when there are many.
  AdmissionResponse& Warn(std::string text) {
    warnings_.push_back(std::move(text));
    return *this;
  }
  // Kept in the audit log, under the webhook's name.
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

// Changes `object`, which begins as request.object. What it changed, and nothing else, becomes the
// patch: fields that T does not know stay as they are. Not called for deletions. Must be
// idempotent: the API server may ask again with what came of it.
template <class T>
using MutateHandler =
    std::function<AdmissionResponse(Context& ctx, const AdmissionRequest<T>& request, T& object)>;

// Judges. request.object is what will be stored, or null (see above).
template <class T>
using ValidateHandler =
    std::function<AdmissionResponse(Context& ctx, const AdmissionRequest<T>& request)>;

// Turns an object of one version of a custom resource into another. `to` begins with the metadata
// of `from`, of which only labels and annotations may be changed.
template <class From, class To>
using ConvertHandler = std::function<Status(Context& ctx, const From& from, To& to)>;

// The same for any versions: gives `object` in `api_version` ("example.com/v2"). The server sets
// apiVersion in the result.
using ConvertAnyHandler =
    std::function<Result<Value>(Context& ctx, const Value& object, const std::string& api_version)>;

}  // namespace cox
