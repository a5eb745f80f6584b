// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace cox::net {

// Gives OpenSSL's buffers memory of their own (see tls/record_buffers.h): with it, an idle TLS
// connection costs half. Call it at the start of a program that uses OpenSSL also by other
// libraries; whoever uses only what is declared here need not.
void PrepareTls();

// A certificate chain and its key, PEM.
struct CertificatePair {
  std::string certificate_pem;
  std::string key_pem;
};

// The server's side of TLS: certificates chosen by SNI, the protocol versions and ciphers, ALPN
// h2 and http/1.1, client certificates asked for but not required.
//
// Certificates may be replaced while connections run; new handshakes see the new ones.
// Threads: all methods may be called concurrently.
class ServerTls {
 public:
  struct Options {
    CertificatePair certificate;           // for names that no other matches
    std::vector<CertificatePair> by_name;  // chosen by the names in the certificates
    // Names of accepted CAs sent to clients as a hint, PEM; may be empty.
    std::string client_ca_pem;
    bool request_client_certificate = true;
    int min_version = 0x0303;                // TLS 1.2
    std::vector<std::string> cipher_suites;  // IANA names for TLS 1.2; empty: Go's default set
  };
  // BadRequest, saying what is wrong with which PEM.
  static Result<std::shared_ptr<const ServerTls>> Create(Options options);
  virtual ~ServerTls() = default;

  virtual Status Replace(CertificatePair certificate,
                         std::vector<CertificatePair> by_name) const = 0;
  // For the connection code: the context to begin a handshake with. Valid while this lives.
  virtual SSL_CTX* context() const = 0;
};

// The client's side.
struct ClientTls {
  std::string ca_pem;           // empty: the system's
  bool insecure = false;        // accept any certificate
  std::string server_name;      // for SNI and verification; empty: the host of the URL
  std::string certificate_pem;  // client certificate, optional
  std::string key_pem;
};

// Makes a certificate: for tests, for --cert-dir without files, and later for the cluster's own CA.
struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  int days = 365;
  bool is_ca = false;
  bool client_auth = false;  // else server auth
};
// Signed by `issuer`, or by itself if null. ECDSA P-256.
Result<CertificatePair> MakeCertificate(const CertificateRequest& request,
                                        const CertificatePair* issuer);

}  // namespace cox::net
