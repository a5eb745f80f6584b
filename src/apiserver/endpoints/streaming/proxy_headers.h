// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"

// Rewriting of headers between a client and the backends of the API server. Pure functions.
namespace cox::apiserver {

// The address of the proxy as the client sees it, for rewriting the backend's redirects.
struct ProxyFront {
  std::string host;    // from the client's Host header
  std::string prefix;  // "/api/v1/namespaces/default/services/web/proxy"
};

// The client's headers for a backend: without hop-by-hop headers, with X-Forwarded-For.
net::Headers ForwardedHeaders(const net::Request& request);
// Adds X-Forwarded-Uri, X-Forwarded-Host and X-Forwarded-Proto.
void AddFrontHeaders(const ProxyFront& front, std::string_view subpath, net::Headers* headers);

// The backend's headers for the client. Hop-by-hop headers are removed. Security: CORS headers are
// removed, too, because they would let other web pages read backends with the client's credentials.
net::Headers ResponseHeaders(const net::Headers& headers);
// Rewrites a "location" that refers to the backend so that it leads through the proxy. `behind` is
// the backend's "http://host:port".
std::string RewriteLocation(std::string_view location, const ProxyFront& front,
                            std::string_view behind);

}  // namespace cox::apiserver
