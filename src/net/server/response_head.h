// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"
#include "net/server/exchange.h"

// What a response's head says, where HTTP/1.1 and HTTP/2 agree.
namespace cox::net {

// The handler asks for the end of the connection: `connection: close`.
bool WantsClose(const Headers& headers);
// Whether body bytes follow the head.
bool HasBody(const Answer& answer, bool head_request);
// The value of the content-length to add; empty if there is one, or none belongs there.
std::string ContentLength(const Answer& answer);
// "OK", "Not Found"; the number again for codes that have no phrase.
std::string ReasonPhrase(int status);

}  // namespace cox::net
