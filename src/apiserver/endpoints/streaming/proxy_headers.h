// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"

// What changes in headers between a client and what is behind the API server. Pure functions.
namespace cox::apiserver {

// Where the client thinks that it is, for what a server behind us says of its own places.
struct ProxyFront {
  std::string host;    // as the client wrote it
  std::string prefix;  // "/api/v1/namespaces/default/services/web/proxy"
};

// The client's headers for a server behind us: those of the connection are left out, and who asks
// is told.
net::Headers ForwardedHeaders(const net::Request& request);
// The same for a server that may want to know how it was asked.
void AddFrontHeaders(const ProxyFront& front, std::string_view subpath, net::Headers* headers);

// The server's headers for the client: without those of its connection, and without those by which
// pages of others could read what is behind us with the client's rights.
net::Headers AnswerHeaders(const net::Headers& headers);
// A "location" that leads to the server itself leads through us again: `behind` is its
// "http://host:port".
std::string RewriteLocation(std::string_view location, const ProxyFront& front,
                            std::string_view behind);

}  // namespace cox::apiserver
