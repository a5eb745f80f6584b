// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "object/type/value.h"

// What a webhook's HTTP answer means, in the words of upstream's client.
namespace cox::apiserver {

struct WebhookAnswer {
  int status = 0;
  std::string content_type;
  std::string body;
};

// OK if the code is good, 200 to 206; else the error that it stands for.
Status CheckAnswer(const WebhookAnswer& answer);

// The JSON of a good answer; else the error that the code stands for. A redirect is an error like
// any other code that is not 200 to 206.
Result<Value> ReadAnswer(const WebhookAnswer& answer);

// `Post "<url>": <why>`, for calls that got no answer.
Status PostError(const std::string& url, const Status& why);

}  // namespace cox::apiserver
