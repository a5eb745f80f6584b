// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/request/call.h"
#include "object/object.h"

// Decoding and encoding shared by all reviews.
namespace cox::apiserver {

struct ReviewExchange {
  Accepted accepted;
  WriteOptions options;
  Object body;
};

// Decodes the request. Returns nullopt if it was invalid; the error response is then already sent.
std::optional<ReviewExchange> BeginReview(Call& call, const KindInfo& kind);

// Records the fields that the client set in metadata.managedFields, as for any object.
void TrackReview(Call& call, ReviewExchange& exchange, std::string_view subresource = "");

// Responds with the body.
void EndReview(Call& call, const ReviewExchange& exchange);

}  // namespace cox::apiserver
