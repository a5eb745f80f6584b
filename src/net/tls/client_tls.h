// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "net/tls.h"
#include "net/tls/openssl.h"

namespace cox::net {

// The context of a client's connections: CAs, client certificate, ALPN (h2 too if `http2`).
// BadRequest for PEM that does not parse.
Result<SslContextPtr> MakeClientContext(const ClientTls& options, bool http2);

// A connection's end that knows whom to expect: SNI and verification of `name` (a host name or an
// IP address), unless options.insecure.
Result<SslPtr> MakeClientSsl(SSL_CTX* context, const ClientTls& options, const std::string& host);

}  // namespace cox::net
