// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

// What an event says of the request itself.
namespace cox::apiserver {

// Where it came from: proxies that say so (X-Forwarded-For, X-Real-Ip), then the peer.
std::vector<std::string> SourceIps(const net::Request& request);

// The user agent, cut where it is too long.
std::string AuditedUserAgent(const net::Request& request);

// Path and query as sent. A token that somebody put there is not written down.
std::string AuditedUri(const net::Request& request);

}  // namespace cox::apiserver
