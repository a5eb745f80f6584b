// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/type/kind_names.h"

// Common parts of all reviews: a request with a uid, and a response.
namespace cox::sdk {

// Response to the API server: an HTTP code and a body.
struct HookResponse {
  int code = 200;
  std::string body;
  std::string_view content_type = "application/json";
};

// A response that is not a review: the API server treats it as a failure of the webhook.
inline HookResponse FailureResponse(const Status& why) {
  return {.code = why.code(), .body = why.message() + "\n", .content_type = "text/plain"};
}

// Decodes the request of a review. BadRequest if the text is not such a review or has no uid.
template <class Review>
auto ReadRequest(std::string_view body)
    -> Result<std::remove_cvref_t<decltype(*std::declval<Review&>().request)>> {
  const KindInfo& kind = Review::kKind;
  COX_ASSIGN_OR_RETURN(const json::TypeMeta meta, json::PeekTypeMeta(body));
  if (meta.api_version != ApiVersionOf(kind) || meta.kind != kind.kind) {
    return Status::BadRequest("expected " + Quote(kind.kind) + " of " + Quote(ApiVersionOf(kind)) +
                              ", got " + Quote(meta.kind) + " of " + Quote(meta.api_version));
  }
  COX_ASSIGN_OR_RETURN(Review review, json::Decode<Review>(body));
  if (!review.request) return Status::BadRequest("the review has no request");
  if (review.request->uid.empty()) return Status::BadRequest("the request has no uid");
  return std::move(*review.request);
}

// Encodes the review that contains the response.
template <class Review, class Response>
HookResponse ReviewResponse(Response response) {
  Review review;
  review.response = std::move(response);
  HookResponse answer;
  const json::TypeMeta meta{.api_version = ApiVersionOf(Review::kKind),
                            .kind = std::string(Review::kKind.kind)};
  json::Encode(Review::kType, &review, &answer.body, &meta);
  return answer;
}

}  // namespace cox::sdk
