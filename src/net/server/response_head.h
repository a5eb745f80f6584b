// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"
#include "net/server/exchange.h"

// Response headers, the part common to HTTP/1.1 and HTTP/2.
namespace cox::net {

// Whether the handler requests closing of the connection: `connection: close`.
bool WantsClose(const Headers& headers);
// Whether body bytes follow the head.
bool HasBody(const Answer& answer, bool head_request);
// The content-length to add; empty if it is already set or not allowed.
std::string ContentLength(const Answer& answer);
// "OK", "Not Found"; the number for codes without a phrase.
std::string ReasonPhrase(int status);

}  // namespace cox::net
