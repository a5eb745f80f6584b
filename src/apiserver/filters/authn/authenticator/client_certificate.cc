// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/authenticator/client_certificate.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "apiserver/registry/validation/pem.h"
#include "net/digest.h"
#include "net/tls.h"

namespace cox::apiserver {
namespace {

using X509Ptr = OpenSslPtr<X509, X509_free>;
using StoreContextPtr = OpenSslPtr<X509_STORE_CTX, X509_STORE_CTX_free>;
using BioPtr = OpenSslPtr<BIO, BIO_free>;
using ObjectPtr = OpenSslPtr<ASN1_OBJECT, ASN1_OBJECT_free>;

constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";
// The subject attribute with the user's uid.
constexpr char kUidAttribute[] = "1.3.6.1.4.1.57683.2";
// A certificate may expire during its connection.
constexpr std::chrono::minutes kVerifyAgain{1};

struct FreeChain {
  void operator()(STACK_OF(X509) * chain) const { sk_X509_pop_free(chain, X509_free); }
};

X509Ptr ParseDer(const std::string& der) {
  const auto* data = reinterpret_cast<const unsigned char*>(der.data());
  return X509Ptr(d2i_X509(nullptr, &data, static_cast<long>(der.size())));
}

std::vector<std::string> NameEntries(X509_NAME* name, const ASN1_OBJECT* attribute) {
  std::vector<std::string> entries;
  for (int at = -1; (at = X509_NAME_get_index_by_OBJ(name, attribute, at)) >= 0;) {
    ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, text);
    if (size < 0) continue;
    entries.emplace_back(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
    OPENSSL_free(utf8);
  }
  return entries;
}

// The cached results per connection, for different CA pools: clients and front proxies.
struct PeerResults {
  struct CachedResult {
    CaPoolPtr cas;
    Clock::SteadyTime until;
    Result<CertificateSubject> subject;
  };
  std::vector<CachedResult> cached_results;
};

class ClientCertificateMethod final : public AuthMethod {
 public:
  ClientCertificateMethod(CaSource cas, const Clock& clock) : cas_(std::move(cas)), clock_(clock) {}

  Result<std::optional<UserInfo>> Try(const net::Request& request) const override {
    COX_ASSIGN_OR_RETURN(std::optional<CertificateSubject> subject,
                         VerifyPeer(request, cas_(), clock_));
    // A certificate without a common name does not authenticate.
    if (!subject || subject->common_name.empty()) return std::optional<UserInfo>();
    UserInfo user{.name = std::move(subject->common_name),
                  .uid = std::move(subject->uid),
                  .groups = std::move(subject->organizations),
                  .extra = {}};
    user.extra[std::string(kCredentialId)] = {std::move(subject->credential_id)};
    return std::optional<UserInfo>(std::move(user));
  }

 private:
  const CaSource cas_;
  const Clock& clock_;
};

}  // namespace

Result<CaPoolPtr> CaPool::Parse(std::string_view pem) {
  OpenSslPtr<X509_STORE, X509_STORE_free> store(X509_STORE_new());
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  int found = 0;
  while (X509Ptr ca{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(store.get(), ca.get()) == 1) ++found;
  }
  if (found == 0) return Status::BadRequest("no certificate found in the PEM");
  // Configured CAs are trusted even if they are intermediates.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  return std::make_shared<const CaPool>(Private{}, std::move(store), std::string(pem));
}

Result<CertificateSubject> CaPool::Verify(const std::vector<std::string>& certificates,
                                          Clock::WallTime now) const {
  const Status refused(Reason::kUnauthorized, "client certificate is not accepted");
  X509Ptr leaf = ParseDer(certificates.front());
  if (leaf == nullptr) return refused;
  std::unique_ptr<STACK_OF(X509), FreeChain> chain(sk_X509_new_null());
  for (size_t i = 1; i < certificates.size(); ++i) {
    X509Ptr link = ParseDer(certificates[i]);
    if (link == nullptr || sk_X509_push(chain.get(), link.get()) == 0) return refused;
    link.release();  // the chain owns it now
  }
  StoreContextPtr ctx(X509_STORE_CTX_new());
  if (ctx == nullptr ||
      X509_STORE_CTX_init(ctx.get(), store_.get(), leaf.get(), chain.get()) != 1) {
    return refused;
  }
  X509_STORE_CTX_set_purpose(ctx.get(), X509_PURPOSE_SSL_CLIENT);
  X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(ctx.get()), net::kTlsSecurityLevel);
  X509_STORE_CTX_set_time(ctx.get(), 0, std::chrono::system_clock::to_time_t(now));
  if (X509_verify_cert(ctx.get()) != 1) return refused;
  X509_NAME* const subject = X509_get_subject_name(leaf.get());
  const ObjectPtr uid_attribute(OBJ_txt2obj(kUidAttribute, 1));
  std::vector<std::string> names = NameEntries(subject, OBJ_nid2obj(NID_commonName));
  std::vector<std::string> uids = NameEntries(subject, uid_attribute.get());
  if (uids.size() > 1) return refused;
  return CertificateSubject{
      .common_name = names.empty() ? std::string() : std::move(names.front()),
      .organizations = NameEntries(subject, OBJ_nid2obj(NID_organizationName)),
      .uid = uids.empty() ? std::string() : std::move(uids.front()),
      .credential_id = "X509SHA256=" + net::Sha256Hex(certificates.front())};
}

Result<std::optional<CertificateSubject>> VerifyPeer(const net::Request& request,
                                                     const CaPoolPtr& cas, const Clock& clock) {
  if (request.peer == nullptr || request.peer->certificates.empty()) {
    return std::optional<CertificateSubject>();
  }
  const Clock::SteadyTime now = clock.Monotonic();
  const auto known =
      std::static_pointer_cast<const PeerResults>(std::atomic_load(&request.peer->identity));
  if (known != nullptr) {
    for (const PeerResults::CachedResult& cached : known->cached_results) {
      if (cached.cas != cas || cached.until < now) continue;
      if (!cached.subject.ok()) return cached.subject.status();
      return std::optional(*cached.subject);
    }
  }
  Result<CertificateSubject> subject = cas->Verify(request.peer->certificates, clock.Now());
  auto next = std::make_shared<PeerResults>();
  next->cached_results.push_back({cas, now + kVerifyAgain, subject});
  if (known != nullptr) {
    for (const PeerResults::CachedResult& cached : known->cached_results) {
      // Keep at most one result of replaced CA pools.
      if (cached.cas != cas && next->cached_results.size() < 3)
        next->cached_results.push_back(cached);
    }
  }
  std::shared_ptr<const void> identity = std::move(next);
  std::atomic_store(&request.peer->identity, std::move(identity));
  if (!subject.ok()) return subject.status();
  return std::optional(std::move(*subject));
}

std::string CombineCertificates(std::string_view a, std::string_view b, Clock::WallTime now) {
  std::set<std::string> known;
  const BioPtr out(BIO_new(BIO_s_mem()));
  time_t seconds = std::chrono::system_clock::to_time_t(now);
  for (std::string_view rest : {a, b}) {
    while (std::optional<PemBlock> block = NextPemBlock(rest)) {
      const X509Ptr certificate = block->type == "CERTIFICATE" ? ParseDer(block->bytes) : nullptr;
      if (certificate == nullptr || !known.insert(std::move(block->bytes)).second) continue;
      if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &seconds) < 0) continue;
      PEM_write_bio_X509(out.get(), certificate.get());
    }
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::unique_ptr<const AuthMethod> NewClientCertificateMethod(CaSource cas, const Clock& clock) {
  return std::make_unique<ClientCertificateMethod>(std::move(cas), clock);
}

}  // namespace cox::apiserver
