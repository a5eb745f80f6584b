// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "net/tls.h"
#include "net/tls/openssl.h"

namespace cox::net {

// The TLS context of a client's connections: CAs, client certificate, ALPN (with h2 if `http2`).
// BadRequest for PEM that does not parse.
Result<SslContextPtr> MakeClientContext(const ClientTls& options, bool http2);

// A TLS connection with SNI and verification of options.server_name, or of `host` if that is empty
// (a host name or an IP address). options.insecure turns verification off.
Result<SslPtr> MakeClientSsl(SSL_CTX* context, const ClientTls& options, const std::string& host);

}  // namespace cox::net
