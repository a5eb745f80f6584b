// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/mutex.h"
#include "base/strings.h"
#include "net/tls.h"
#include "net/tls/openssl.h"
#include "net/tls/record_buffers.h"

namespace cox::net {
namespace {

// Go's default for TLS 1.2, in order of preference; TLS 1.3 suites are not configurable.
constexpr char kDefaultCiphers[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";
// AES-128 first, like Go: sufficiently strong and cheaper.
constexpr char kTls13Ciphers[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr char kGroups[] = "X25519:P-256:P-384:P-521";

// A snapshot of the certificates. Immutable; a handshake keeps the set it started with.
struct CertificateSet {
  std::vector<ParsedCertificate> certificates;  // the first is the default
  std::map<std::string, size_t, std::less<>> exact;
  std::map<std::string, size_t, std::less<>> wildcard;  // "*.example.com" as ".example.com"

  const ParsedCertificate& For(std::string_view server_name) const;
};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

const ParsedCertificate& CertificateSet::For(std::string_view server_name) const {
  if (server_name.ends_with('.')) server_name.remove_suffix(1);
  const std::string name = LowerCase(server_name);
  if (const auto found = exact.find(name); found != exact.end()) {
    return certificates[found->second];
  }
  // A wildcard matches exactly one label.
  if (const size_t dot = name.find('.'); dot != std::string::npos && dot > 0) {
    const auto found = wildcard.find(std::string_view(name).substr(dot));
    if (found != wildcard.end()) return certificates[found->second];
  }
  return certificates.front();
}

// The DNS names of a certificate, or its common name if it has none.
std::vector<std::string> NamesOf(X509* certificate) {
  std::vector<std::string> result;
  const GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    result.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                        static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  if (names != nullptr) return result;
  char common_name[256];
  if (X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, common_name,
                                sizeof(common_name)) > 0) {
    result.emplace_back(common_name);
  }
  return result;
}

Result<std::shared_ptr<const CertificateSet>> MakeSet(const CertificatePair& fallback,
                                                      const std::vector<CertificatePair>& by_name) {
  auto set = std::make_shared<CertificateSet>();
  auto first = ParseCertificatePair(fallback.certificate_pem, fallback.key_pem);
  if (!first.ok()) return first.status().WithContext("serving certificate");
  set->certificates.push_back(*std::move(first));
  for (size_t i = 0; i < by_name.size(); ++i) {
    auto parsed = ParseCertificatePair(by_name[i].certificate_pem, by_name[i].key_pem);
    if (!parsed.ok()) {
      return parsed.status().WithContext("certificate " + std::to_string(i + 1) + " by name");
    }
    for (const std::string& raw : NamesOf(parsed->leaf.get())) {
      const std::string name = LowerCase(raw);
      // The first certificate with the name wins, in the order of the flags.
      if (name.starts_with("*.")) {
        set->wildcard.emplace(name.substr(1), set->certificates.size());
      } else {
        set->exact.emplace(name, set->certificates.size());
      }
    }
    set->certificates.push_back(*std::move(parsed));
  }
  return std::shared_ptr<const CertificateSet>(std::move(set));
}

// Converts IANA names to OpenSSL's cipher list. Names of TLS 1.3 suites are accepted without
// effect.
Result<std::string> CipherList(SSL_CTX* context, const std::vector<std::string>& iana_names) {
  if (SSL_CTX_set_cipher_list(context, "ALL:COMPLEMENTOFALL:@SECLEVEL=0") != 1) {
    return Status::Internal("TLS ciphers: " + OpenSslErrorText());
  }
  STACK_OF(SSL_CIPHER)* const all = SSL_CTX_get_ciphers(context);
  std::string list;
  for (const std::string& name : iana_names) {
    const SSL_CIPHER* found = nullptr;
    for (int i = 0; i < sk_SSL_CIPHER_num(all); ++i) {
      const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(all, i);
      const char* standard = SSL_CIPHER_standard_name(cipher);
      if (standard != nullptr && name == standard) found = cipher;
    }
    if (found == nullptr) return Status::BadRequest("unknown cipher suite " + name);
    if (SSL_CIPHER_get_kx_nid(found) == NID_kx_any) continue;  // TLS 1.3
    if (!list.empty()) list += ':';
    list += SSL_CIPHER_get_name(found);
  }
  return list.empty() ? std::string(kDefaultCiphers) : list;
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned int in_size, void*) {
  static constexpr unsigned char kOurs[] = "\x02h2\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_size, kOurs, sizeof(kOurs) - 1, in, in_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Accepts any certificate: the handshake proves possession of its key, and the authenticator
// verifies the chain.
int AcceptAnyChain(X509_STORE_CTX*, void*) { return 1; }

class OpenSslServerTls final : public ServerTls {
 public:
  explicit OpenSslServerTls(SslContextPtr context) : context_(std::move(context)) {}

  Status Init(const Options& options);
  Status Replace(CertificatePair certificate, std::vector<CertificatePair> by_name) const override;
  SSL_CTX* context() const override { return context_.get(); }

 private:
  static int OnCertificateWanted(SSL* ssl, void* self);

  const SslContextPtr context_;
  mutable Mutex mu_;
  mutable std::shared_ptr<const CertificateSet> set_ COX_GUARDED_BY(mu_);
};

bool Use(SSL* ssl, const ParsedCertificate& pair) {
  return SSL_use_cert_and_key(ssl, pair.leaf.get(), pair.key.get(), pair.chain.get(), 1) == 1;
}

int OpenSslServerTls::OnCertificateWanted(SSL* ssl, void* arg) {
  const auto* self = static_cast<const OpenSslServerTls*>(arg);
  std::shared_ptr<const CertificateSet> set;
  {
    MutexLock lock(self->mu_);
    set = self->set_;
  }
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const ParsedCertificate& chosen = set->For(name != nullptr ? name : "");
  return Use(ssl, chosen) ? 1 : 0;
}

Status OpenSslServerTls::Replace(CertificatePair certificate,
                                 std::vector<CertificatePair> by_name) const {
  COX_ASSIGN_OR_RETURN(std::shared_ptr<const CertificateSet> set, MakeSet(certificate, by_name));
  for (const ParsedCertificate& each : set->certificates) {
    const SslPtr ssl(SSL_new(context_.get()));
    if (ssl == nullptr || !Use(ssl.get(), each)) {
      return Status::BadRequest("serving certificate: " + OpenSslErrorText());
    }
  }
  MutexLock lock(mu_);
  set_.swap(set);
  return {};
}

Status OpenSslServerTls::Init(const Options& options) {
  SSL_CTX* const context = context_.get();
  std::string ciphers = kDefaultCiphers;
  if (!options.cipher_suites.empty()) {
    COX_ASSIGN_OR_RETURN(ciphers, CipherList(context, options.cipher_suites));
  }
  if (SSL_CTX_set_min_proto_version(context, options.min_version) != 1 ||
      SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1 ||
      SSL_CTX_set_ciphersuites(context, kTls13Ciphers) != 1 ||
      SSL_CTX_set1_groups_list(context, kGroups) != 1) {
    return Status::BadRequest("TLS options: " + OpenSslErrorText());
  }
  SSL_CTX_set_security_level(context, kTlsSecurityLevel);
  COX_RETURN_IF_ERROR(Replace(options.certificate, options.by_name));
  // No resumption: a session ticket contains only the leaf of the client's chain, and would accept
  // a client with a certificate that it no longer presents.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Buffers are freed between records, because there may be thousands of idle connections.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  SSL_CTX_set_cert_cb(context, OnCertificateWanted, this);
  if (options.request_client_certificate) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context, AcceptAnyChain, nullptr);
  }
  if (options.client_ca_pem.empty()) return {};
  auto cas = ParseCertificates(options.client_ca_pem);
  if (!cas.ok()) return cas.status().WithContext("client CA");
  NameStackPtr names(sk_X509_NAME_new_null());
  for (int i = 0; i < sk_X509_num(cas->get()); ++i) {
    sk_X509_NAME_push(names.get(),
                      X509_NAME_dup(X509_get_subject_name(sk_X509_value(cas->get(), i))));
  }
  SSL_CTX_set_client_CA_list(context, names.release());
  return {};
}

}  // namespace

Result<int> ParseTlsVersion(std::string_view text) {
  if (text == "VersionTLS12") return TLS1_2_VERSION;
  if (text == "VersionTLS13") return TLS1_3_VERSION;
  return Status::BadRequest("must be VersionTLS12 or VersionTLS13, not " + Quote(text));
}

Status CheckCipherSuites(const std::vector<std::string>& names) {
  const SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return Status::Internal("TLS: " + OpenSslErrorText());
  return CipherList(context.get(), names).status();
}

void PrepareTls() { RecordBuffers::Install(); }

Result<std::shared_ptr<const ServerTls>> ServerTls::Create(Options options) {
  RecordBuffers::Install();
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return Status::Internal("TLS: " + OpenSslErrorText());
  auto tls = std::make_shared<OpenSslServerTls>(std::move(context));
  COX_RETURN_IF_ERROR(tls->Init(options));
  return std::shared_ptr<const ServerTls>(std::move(tls));
}

}  // namespace cox::net
