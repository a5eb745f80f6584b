// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/endpoints/verbs/options.h"
#include "apiserver/request/call.h"
#include "object/object.h"

// How every review comes in and goes out.
namespace cox::apiserver {

struct ReviewExchange {
  Accepted accepted;
  WriteOptions options;
  Object body;
};

// Reads the question. None: it was wrong and has been answered.
std::optional<ReviewExchange> BeginReview(Call& call, const KindInfo& kind);

// Says in metadata.managedFields which fields the client set, as for any object.
void TrackReview(Call& call, ReviewExchange& exchange, std::string_view subresource = "");

// Answers with the body.
void EndReview(Call& call, const ReviewExchange& exchange);

}  // namespace cox::apiserver
