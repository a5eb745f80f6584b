// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "api/meta/v1.h"
#include "base/status.h"
#include "net/http.h"

// Conversion of failure responses to Status.
namespace cox::sdk {

// Converts an API Status; OK for "Success". An unknown reason is replaced by that of the code.
Status ToStatus(meta::v1::Status status);

// The Status in a body, JSON or protobuf; no value for other content.
std::optional<Status> StatusFromBody(std::string_view body);

// The Status of a response with a code of 400 or more: the Status in its body, or for other content
// (a proxy's HTML, plain text) a Status made from the code and the beginning of the text. The
// details contain the seconds of a Retry-After header.
Status StatusFromResponse(int code, const net::Headers& headers, std::string_view body);

// The seconds of a Retry-After header; no value if it is missing or not a number.
std::optional<int> RetryAfter(const net::Headers& headers);

}  // namespace cox::sdk
