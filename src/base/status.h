// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox {

// The reason of a failure. These are the reasons of the Kubernetes API, so an error from any layer
// maps directly to the HTTP response.
enum class Reason : uint8_t {
  kUnknown,  // written as the empty reason
  kUnauthorized,
  kForbidden,
  kNotFound,
  kAlreadyExists,
  kConflict,
  kGone,
  kInvalid,
  kServerTimeout,
  kStoreReadError,
  kTimeout,
  kTooManyRequests,
  kBadRequest,
  kMethodNotAllowed,
  kNotAcceptable,
  kRequestEntityTooLarge,
  kUnsupportedMediaType,
  kInternalError,
  kExpired,
  kServiceUnavailable,
};

// "NotFound", "AlreadyExists", ...; kUnknown is "".
std::string_view ReasonName(Reason reason);
// The HTTP status code that carries `reason`; kUnknown is 500.
int ReasonCode(Reason reason);

// One field (or other detail) that contributed to a failure.
struct StatusCause {
  std::string type;     // "FieldValueRequired", "FieldValueInvalid", "FieldManagerConflict", ...
  std::string message;  // human-readable
  std::string field;    // "spec.containers[0].name", when there is one

  bool operator==(const StatusCause&) const = default;
};

// The object of the failure. All fields are optional.
struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  int32_t retry_after_seconds = 0;

  bool operator==(const StatusDetails&) const = default;
};

// Success, or a failure with a reason, a human-readable message, and machine-readable details.
//
// Guarantees: OK costs one null pointer. Copies share an immutable representation.
// Threads: distinct Status objects may be used from any thread, also copies of one.
class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(Reason reason, std::string message)
      : Status(reason, std::move(message), StatusDetails{}) {}
  Status(Reason reason, std::string message, StatusDetails details);

  // Failures, named after the reason.
  static Status BadRequest(std::string message) {
    return {Reason::kBadRequest, std::move(message)};
  }
  static Status NotFound(std::string message) { return {Reason::kNotFound, std::move(message)}; }
  static Status AlreadyExists(std::string message) {
    return {Reason::kAlreadyExists, std::move(message)};
  }
  static Status Conflict(std::string message) { return {Reason::kConflict, std::move(message)}; }
  static Status Forbidden(std::string message) { return {Reason::kForbidden, std::move(message)}; }
  static Status Invalid(std::string message) { return {Reason::kInvalid, std::move(message)}; }
  static Status Expired(std::string message) { return {Reason::kExpired, std::move(message)}; }
  static Status Timeout(std::string message) { return {Reason::kTimeout, std::move(message)}; }
  static Status TooLarge(std::string message) {
    return {Reason::kRequestEntityTooLarge, std::move(message)};
  }
  static Status Unavailable(std::string message) {
    return {Reason::kServiceUnavailable, std::move(message)};
  }
  static Status Internal(std::string message) {
    return {Reason::kInternalError, std::move(message)};
  }

  bool ok() const { return rep_ == nullptr; }
  bool Is(Reason reason) const { return !ok() && this->reason() == reason; }

  // REQUIRES: !ok() for reason(); the others also work for OK.
  Reason reason() const;
  int code() const;  // HTTP status code; 200 when ok()
  const std::string& message() const;
  const StatusDetails& details() const;

  // A copy with more context: "context: message".
  Status WithContext(std::string_view context) const;
  Status WithDetails(StatusDetails details) const;

  // "OK" or "NotFound: pods \"web\" not found".
  std::string ToString() const;

  friend bool operator==(const Status& a, const Status& b);

 private:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};

}  // namespace cox
