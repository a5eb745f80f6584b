// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "api/meta/v1.h"
#include "base/status.h"
#include "net/http.h"

// Failures as the server tells them.
namespace cox::sdk {

// The Status the API means: OK for "Success". A reason that we do not know counts by its code.
Status ToStatus(meta::v1::Status status);

// The Status in a body, JSON or protobuf; none if it holds something else.
std::optional<Status> StatusFromBody(std::string_view body);

// What an answer with a code of 400 or more says: its Status if it holds one, else (a proxy's HTML,
// plain text) one made of the code, with the beginning of the text. Seconds of a Retry-After header
// are in the details.
Status StatusFromAnswer(int code, const net::Headers& headers, std::string_view body);

// The seconds of a Retry-After header; none if there is no such number.
std::optional<int> RetryAfter(const net::Headers& headers);

}  // namespace cox::sdk
