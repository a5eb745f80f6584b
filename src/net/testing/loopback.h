// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "net/client.h"
#include "net/server.h"

namespace cox::net {

// A CA, a loopback server with a certificate of that CA, and clients that trust it: for tests. Uses
// real time, because kernel sockets cannot use a test clock.
class Loopback {
 public:
  explicit Loopback(Handler handler, ServerOptions options = {}, bool tls = true) {
    ca = Made({.common_name = "test-ca", .is_ca = true}, nullptr);
    certificate = Made(
        {.common_name = "localhost", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}},
        &ca);
    options.bind_address = "127.0.0.1";
    if (tls) {
      auto made =
          ServerTls::Create({.certificate = certificate, .client_ca_pem = ca.certificate_pem});
      COX_CHECK_OK(made.status());
      server_tls = *made;
      options.tls = server_tls;
    }
    auto started = Server::Start(context, std::move(options), std::move(handler));
    COX_CHECK_OK(started.status());
    server = *std::move(started);
  }

  static CertificatePair Made(const CertificateRequest& request, const CertificatePair* issuer) {
    auto made = MakeCertificate(request, issuer);
    COX_CHECK_OK(made.status());
    return *std::move(made);
  }

  ClientOptions Options(bool http2) const {
    ClientOptions options;
    options.host = "127.0.0.1";
    options.port = server->port();
    options.http2 = http2;
    options.tls = server_tls != nullptr;
    options.tls_options.ca_pem = ca.certificate_pem;
    return options;
  }
  std::unique_ptr<Client> MakeClient(ClientOptions options) {
    auto made = Client::Create(context, std::move(options));
    COX_CHECK_OK(made.status());
    return *std::move(made);
  }
  std::unique_ptr<Client> MakeClient(bool http2) { return MakeClient(Options(http2)); }

  RealClock clock;
  // Limits the duration of a failing test.
  Context context = Context(clock).WithTimeout(std::chrono::seconds(60));
  CertificatePair ca;
  CertificatePair certificate;
  std::shared_ptr<const ServerTls> server_tls;
  std::unique_ptr<Server> server;
};

inline std::string TextOf(const Response& response) {
  std::string text;
  for (const Bytes& piece : response.body) text += piece.view();
  return text;
}

}  // namespace cox::net
