// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/client.h"
#include "net/io/tunnel.h"
#include "net/tls/openssl.h"

namespace cox::net {

// A tunnel through `proxy` to host:port. `ssl`: in connect state, for a proxy with TLS; otherwise
// null.
std::unique_ptr<Tunnel> MakeProxyTunnel(const Proxy& proxy, const std::string& host, uint16_t port,
                                        SslPtr ssl);

}  // namespace cox::net
