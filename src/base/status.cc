// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <array>
#include <cassert>

#include "base/status_code.h"

namespace cox {
namespace {

struct ReasonRow {
  std::string_view name;
  int code;
};

// In the order of Reason.
constexpr std::array<ReasonRow, 20> kReasons = {{
    {"", 500},
    {"Unauthorized", 401},
    {"Forbidden", 403},
    {"NotFound", 404},
    {"AlreadyExists", 409},
    {"Conflict", 409},
    {"Gone", 410},
    {"Invalid", 422},
    {"ServerTimeout", 500},
    {"StorageReadError", 500},
    {"Timeout", 504},
    {"TooManyRequests", 429},
    {"BadRequest", 400},
    {"MethodNotAllowed", 405},
    {"NotAcceptable", 406},
    {"RequestEntityTooLarge", 413},
    {"UnsupportedMediaType", 415},
    {"InternalError", 500},
    {"Expired", 410},
    {"ServiceUnavailable", 503},
}};

// Values above the enumerators are codes without a name: the last 200 stand for 400 to 599.
constexpr int kFirstNameless = 56;
constexpr int kFirstCode = 400;
static_assert(kReasons.size() <= kFirstNameless);

bool IsNameless(Reason reason) { return static_cast<int>(reason) >= kFirstNameless; }
const ReasonRow& Row(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

}  // namespace

std::string_view ReasonName(Reason reason) { return IsNameless(reason) ? "" : Row(reason).name; }
int ReasonCode(Reason reason) {
  if (IsNameless(reason)) return static_cast<int>(reason) - kFirstNameless + kFirstCode;
  return Row(reason).code;
}

Reason NamelessReason(int code) {
  if (code < kFirstCode || code > 599) code = 500;
  return static_cast<Reason>(code - kFirstCode + kFirstNameless);
}

struct Status::Rep {
  Reason reason;
  std::string message;
  StatusDetails details;

  bool operator==(const Rep&) const = default;
};

Status::Status(Reason reason, std::string message, StatusDetails details)
    : rep_(std::make_shared<const Rep>(Rep{reason, std::move(message), std::move(details)})) {}

Reason Status::reason() const {
  assert(!ok());
  return rep_->reason;
}

int Status::code() const { return ok() ? 200 : ReasonCode(rep_->reason); }

const std::string& Status::message() const {
  static const std::string kEmpty;
  return ok() ? kEmpty : rep_->message;
}

const StatusDetails& Status::details() const {
  static const StatusDetails kNone;
  return ok() ? kNone : rep_->details;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return {rep_->reason, std::string(context) + ": " + rep_->message, rep_->details};
}

Status Status::WithDetails(StatusDetails details) const {
  if (ok()) return *this;
  return {rep_->reason, rep_->message, std::move(details)};
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string_view name = ReasonName(rep_->reason);
  return std::string(name.empty() ? "Unknown" : name) + ": " + rep_->message;
}

bool operator==(const Status& a, const Status& b) {
  if (a.rep_ == b.rep_) return true;
  return a.rep_ != nullptr && b.rep_ != nullptr && *a.rep_ == *b.rep_;
}

}  // namespace cox
