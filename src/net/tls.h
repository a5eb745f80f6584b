// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace cox::net {

// Installs dedicated memory for OpenSSL's buffers (see tls/record_buffers.h), which halves the
// memory of an idle TLS connection. Call it at the start of a program that also uses OpenSSL
// through other libraries; the functions of this header call it themselves.
void PrepareTls();

// A certificate chain and its key, PEM.
struct CertificatePair {
  std::string certificate_pem;
  std::string key_pem;
};

// Server-side TLS: certificates selected by SNI, protocol versions and ciphers, ALPN h2 and
// http/1.1, optional client certificates.
//
// Certificates may be replaced while connections are open; new handshakes use the new ones.
// Threads: all methods may be called concurrently.
class ServerTls {
 public:
  struct Options {
    CertificatePair certificate;           // default when no name matches
    std::vector<CertificatePair> by_name;  // selected by the names in the certificates
    // Names of accepted CAs sent to clients as a hint, PEM; may be empty.
    std::string client_ca_pem;
    bool request_client_certificate = true;
    int min_version = 0x0303;                // TLS 1.2
    std::vector<std::string> cipher_suites;  // IANA names for TLS 1.2; empty: Go's default set
  };
  // BadRequest with the PEM at fault and the reason.
  static Result<std::shared_ptr<const ServerTls>> Create(Options options);
  virtual ~ServerTls() = default;

  virtual Status Replace(CertificatePair certificate,
                         std::vector<CertificatePair> by_name) const = 0;
  // For the connection code: the context for a new handshake. Valid as long as this object.
  virtual SSL_CTX* context() const = 0;
};

// The version of OpenSSL for "VersionTLS12" or "VersionTLS13", the values of --tls-min-version.
// BadRequest for every other text.
Result<int> ParseTlsVersion(std::string_view text);

// BadRequest if one of ServerTls::Options::cipher_suites is unknown.
Status CheckCipherSuites(const std::vector<std::string>& names);

// For verification of certificates and for connections: 112 bits, that is RSA from 2048 bits on,
// and no signatures with SHA-1.
inline constexpr int kTlsSecurityLevel = 2;

// Client-side TLS settings.
struct ClientTls {
  std::string ca_pem;           // empty: the system's trust store
  bool insecure = false;        // accept any certificate
  std::string server_name;      // for SNI and verification; empty: the host of the URL
  std::string certificate_pem;  // client certificate, optional
  std::string key_pem;
};

// Parameters of a new certificate: for tests, for --cert-dir without files, and for the cluster's
// CA.
struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  int days = 365;
  bool is_ca = false;
  bool client_auth = false;  // otherwise server auth
};
// Signed by `issuer`, or self-signed if null. ECDSA P-256.
Result<CertificatePair> MakeCertificate(const CertificateRequest& request,
                                        const CertificatePair* issuer);

}  // namespace cox::net
