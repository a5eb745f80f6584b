// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"

// How a request becomes a WebSocket (RFC 6455, section 4): pure functions of headers.
namespace cox::net {

// A fresh nonce for sec-websocket-key.
std::string MakeWebSocketKey();
// What sec-websocket-accept has to say to it.
std::string WebSocketAccept(std::string_view key);

// The client's headers, added to those of `request`. connection and upgrade are the connection's.
void AddClientHandshake(const std::string& key, const std::vector<std::string>& protocols,
                        Request* request);
// Checks the headers of a 101 and returns the protocol chosen: one of `protocols`, or none if there
// are none.
Result<std::string> CheckServerHandshake(const Headers& headers, const std::string& key,
                                         const std::vector<std::string>& protocols);

// What a server answers with.
struct ServerHandshake {
  std::string protocol;  // empty: none
  Headers headers;
};
// Checks a request and chooses the first protocol of the client's that is one of `supported`;
// BadRequest if none is, or if the request is not one for a WebSocket. With no `supported` none is
// chosen.
Result<ServerHandshake> AcceptClientHandshake(const Request& request,
                                              const std::vector<std::string>& supported);

}  // namespace cox::net
