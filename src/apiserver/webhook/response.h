// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "object/type/value.h"

// The meaning of a webhook's HTTP response, with the error texts of upstream's client.
namespace cox::apiserver {

struct WebhookResponse {
  int status = 0;
  std::string content_type;
  std::string body;
};

// OK for the codes 200 to 206; otherwise the error for the code.
Status CheckResponse(const WebhookResponse& answer);

// The JSON of a successful response; otherwise the error for the code. Redirects are errors, like
// every code other than 200 to 206.
Result<Value> ReadResponse(const WebhookResponse& answer);

// `Post "<url>": <why>`, for calls without a response.
Status PostError(const std::string& url, const Status& why);

}  // namespace cox::apiserver
