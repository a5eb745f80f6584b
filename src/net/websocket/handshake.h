// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"

// The WebSocket handshake (RFC 6455, section 4): pure functions of headers.
namespace cox::net {

// A random nonce for sec-websocket-key.
std::string MakeWebSocketKey();
// The sec-websocket-accept for that key.
std::string WebSocketAccept(std::string_view key);

// Adds the client's headers to `request`, except connection and upgrade, which the session adds.
void AddClientHandshake(const std::string& key, const std::vector<std::string>& protocols,
                        Request* request);
// Checks the headers of a 101 and returns the selected protocol: one of `protocols`, or empty if
// `protocols` is empty.
Result<std::string> CheckServerHandshake(const Headers& headers, const std::string& key,
                                         const std::vector<std::string>& protocols);

// The server's response to a valid handshake.
struct ServerHandshake {
  std::string protocol;  // empty: none
  Headers headers;
};
// Checks a request and selects the first of the client's protocols that is in `supported`;
// BadRequest if there is none, or if the request is no WebSocket upgrade. If `supported` is empty,
// no protocol is selected.
Result<ServerHandshake> AcceptClientHandshake(const Request& request,
                                              const std::vector<std::string>& supported);

}  // namespace cox::net
