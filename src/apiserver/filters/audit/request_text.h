// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

// Request data in audit events.
namespace cox::apiserver {

// The client addresses: from X-Forwarded-For and X-Real-Ip, then the peer.
std::vector<std::string> SourceIps(const net::Request& request);

// The user agent, truncated if it is too long.
std::string AuditedUserAgent(const net::Request& request);

// Path and query as sent, with the values of access_token redacted.
std::string AuditedUri(const net::Request& request);

}  // namespace cox::apiserver
