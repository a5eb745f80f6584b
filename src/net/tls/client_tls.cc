// SPDX-License-Identifier: Apache-2.0
#include "net/tls/client_tls.h"

#include <arpa/inet.h>

#include "net/tls/record_buffers.h"

namespace cox::net {
namespace {

bool IsIpAddress(const std::string& name) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), buffer) == 1 ||
         inet_pton(AF_INET6, name.c_str(), buffer) == 1;
}

Status TrustOnly(SSL_CTX* context, const std::string& ca_pem) {
  auto cas = ParseCertificates(ca_pem);
  if (!cas.ok()) return cas.status().WithContext("CA");
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  for (int i = 0; i < sk_X509_num(cas->get()); ++i) {
    X509_STORE_add_cert(store, sk_X509_value(cas->get(), i));
  }
  // A self-signed serving certificate, or an intermediate CA, may be the trust anchor.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

}  // namespace

Result<SslContextPtr> MakeClientContext(const ClientTls& options, bool http2) {
  RecordBuffers::Install();
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return Status::Internal("TLS: " + OpenSslErrorText());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Without verification, as in HTTPS probes, weak certificates of Pods are accepted as well.
  SSL_CTX_set_security_level(context.get(), options.insecure ? 1 : kTlsSecurityLevel);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  static constexpr unsigned char kBoth[] = "\x02h2\x08http/1.1";
  static constexpr unsigned char kHttp1[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(context.get(), http2 ? kBoth : kHttp1,
                          http2 ? sizeof(kBoth) - 1 : sizeof(kHttp1) - 1);
  if (options.insecure) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (options.ca_pem.empty()) {
      SSL_CTX_set_default_verify_paths(context.get());
    } else {
      COX_RETURN_IF_ERROR(TrustOnly(context.get(), options.ca_pem));
    }
  }
  if (!options.certificate_pem.empty()) {
    auto pair = ParseCertificatePair(options.certificate_pem, options.key_pem);
    if (!pair.ok()) return pair.status().WithContext("client certificate");
    if (SSL_CTX_use_cert_and_key(context.get(), pair->leaf.get(), pair->key.get(),
                                 pair->chain.get(), 1) != 1) {
      return Status::BadRequest("client certificate: " + OpenSslErrorText());
    }
  }
  return context;
}

Result<SslPtr> MakeClientSsl(SSL_CTX* context, const ClientTls& options, const std::string& host) {
  SslPtr ssl(SSL_new(context));
  if (ssl == nullptr) return Status::Internal("TLS: " + OpenSslErrorText());
  const std::string& name = options.server_name.empty() ? host : options.server_name;
  X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl.get());
  // Only subject alternative names identify a server, and a wildcard stands for a whole label.
  X509_VERIFY_PARAM_set_hostflags(
      verify, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  bool set = true;
  if (IsIpAddress(name)) {
    if (!options.insecure) set = X509_VERIFY_PARAM_set1_ip_asc(verify, name.c_str()) == 1;
  } else {
    set = SSL_set_tlsext_host_name(ssl.get(), name.c_str()) == 1;
    if (!options.insecure) {
      set = set && X509_VERIFY_PARAM_set1_host(verify, name.data(), name.size()) == 1;
    }
  }
  if (!set) return Status::BadRequest("bad server name " + name);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

}  // namespace cox::net
