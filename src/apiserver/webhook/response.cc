// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/response.h"

#include <string_view>

#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

// The maximum excerpt of a response in an error: enough to recognise the page of a proxy.
constexpr size_t kMaxExcerpt = 2048;

struct CodeMeaning {
  int code;
  Reason reason;
  std::string_view message;
};
constexpr CodeMeaning kMeanings[] = {
    {400, Reason::kBadRequest, "the server rejected our request for an unknown reason"},
    {401, Reason::kUnauthorized, "the server has asked for the client to provide credentials"},
    {404, Reason::kNotFound, "the server could not find the requested resource"},
    {405, Reason::kMethodNotAllowed,
     "the server does not allow this method on the requested resource"},
    {409, Reason::kAlreadyExists, "the server reported a conflict"},
    {422, Reason::kInvalid, "the server rejected our request due to an error in our request"},
    {429, Reason::kTooManyRequests,
     "the server has received too many requests and has asked us to try again later"},
    {503, Reason::kServiceUnavailable, "the server is currently unable to handle the request"},
    {504, Reason::kTimeout,
     "the server was unable to return a response in the time allotted, but may still be processing "
     "the request"},
};

Status CodeError(const WebhookResponse& answer) {
  for (const CodeMeaning& meaning : kMeanings) {
    if (meaning.code == answer.status) return {meaning.reason, std::string(meaning.message)};
  }
  const std::string excerpt(TrimSpace(std::string_view(answer.body).substr(0, kMaxExcerpt)));
  if (answer.status == 403) return Status::Forbidden(excerpt.empty() ? "unknown" : excerpt);
  if (answer.status >= 500) {
    return Status::Internal("an error on the server (" +
                            Quote(excerpt.empty() ? "unknown" : excerpt) +
                            ") has prevented the request from succeeding");
  }
  return Status::Internal("the server responded with the status code " +
                          std::to_string(answer.status) + " but did not return more information");
}

}  // namespace

Status CheckResponse(const WebhookResponse& answer) {
  return answer.status < 200 || answer.status > 206 ? CodeError(answer) : Status();
}

Result<Value> ReadResponse(const WebhookResponse& answer) {
  COX_RETURN_IF_ERROR(CheckResponse(answer));
  if (answer.body.empty()) {
    return Status::Internal("0-length response with status code: " + std::to_string(answer.status) +
                            " and content type: " + answer.content_type);
  }
  Result<Value> value = json::Parse(answer.body);
  if (!value.ok()) {
    return Status::Internal("couldn't get version/kind; json parse error: " +
                            value.status().message());
  }
  return value;
}

Status PostError(const std::string& url, const Status& why) {
  std::string_view text = why.message();
  // Removes the prefix of lower layers, which is for logs.
  constexpr std::string_view kHandshake = "TLS handshake: ";
  if (text.starts_with(kHandshake)) text.remove_prefix(kHandshake.size());
  if (text == "the server closed the connection") text = "EOF";
  return Status(why.reason(), "Post " + Quote(url) + ": " + std::string(text));
}

}  // namespace cox::apiserver
