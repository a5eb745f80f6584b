// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/response/status_response.h"

#include <algorithm>
#include <charconv>

#include "base/status_code.h"
#include "base/strings.h"
#include "object/codec.h"

namespace cox::sdk {
namespace {

// How much of a text that is not a Status is shown.
constexpr size_t kShownBytes = 512;
// Upper limit for Retry-After, because the header is untrusted.
constexpr int kMaxRetryAfter = 24 * 3600;

// The reason for a code without a Status. Codes without a reason keep their code.
Reason ReasonOfCode(int code) {
  switch (code) {
    case 409:
      return Reason::kConflict;
    case 410:
      return Reason::kExpired;
    case 500:
      return Reason::kInternalError;
    default:
      break;
  }
  for (int i = 1; i <= static_cast<int>(Reason::kServiceUnavailable); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (ReasonCode(reason) == code) return reason;
  }
  return NamelessReason(code);
}

Reason ReasonOf(std::string_view name, int code) {
  if (name.empty()) return code == 500 || code == 0 ? Reason::kUnknown : ReasonOfCode(code);
  for (int i = 1; i <= static_cast<int>(Reason::kServiceUnavailable); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (ReasonName(reason) == name) return reason;
  }
  return ReasonOfCode(code);
}

}  // namespace

Status ToStatus(meta::v1::Status from) {
  if (from.status == "Success" || (from.status.empty() && from.code / 100 == 2)) return {};
  StatusDetails details;
  if (from.details) {
    details.name = std::move(from.details->name);
    details.group = std::move(from.details->group);
    details.kind = std::move(from.details->kind);
    details.uid = std::move(from.details->uid);
    details.retry_after_seconds = from.details->retryAfterSeconds;
    details.causes.reserve(from.details->causes.size());
    for (meta::v1::StatusCause& cause : from.details->causes) {
      details.causes.push_back(
          {std::move(cause.reason), std::move(cause.message), std::move(cause.field)});
    }
  }
  return Status(ReasonOf(from.reason, from.code), std::move(from.message), std::move(details));
}

std::optional<Status> StatusFromBody(std::string_view body) {
  const Format format = SniffFormat(body);
  if (format == Format::kYaml) return std::nullopt;
  Result<Object> object = DecodeObject(body, format, Scheme::Builtin());
  if (!object.ok()) return std::nullopt;
  auto* status = object->As<meta::v1::Status>();
  if (status == nullptr) return std::nullopt;
  return ToStatus(std::move(*status));
}

std::optional<int> RetryAfter(const net::Headers& headers) {
  const std::optional<std::string_view> header = headers.Get("retry-after");
  if (!header) return std::nullopt;
  const std::string_view text = TrimSpace(*header);
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::min(seconds, kMaxRetryAfter);
}

Status StatusFromResponse(int code, const net::Headers& headers, std::string_view body) {
  if (std::optional<Status> status = StatusFromBody(body); status && !status->ok()) {
    return *std::move(status);
  }
  StatusDetails details;
  details.retry_after_seconds = RetryAfter(headers).value_or(0);
  std::string message = "the server answered with code " + std::to_string(code);
  const std::string_view text = TrimSpace(body.substr(0, kShownBytes));
  // Quoted, because the text is untrusted and may be logged.
  if (!text.empty()) message += " and " + Quote(text);
  return Status(ReasonOfCode(code), std::move(message), std::move(details));
}

}  // namespace cox::sdk
