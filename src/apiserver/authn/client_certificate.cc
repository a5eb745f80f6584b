// SPDX-License-Identifier: Apache-2.0
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>

#include "apiserver/authn/authenticator.h"
#include "apiserver/authn/openssl_ptr.h"

namespace cox::apiserver {
namespace {

using X509Ptr = OpenSslPtr<X509, X509_free>;
using StorePtr = OpenSslPtr<X509_STORE, X509_STORE_free>;
using StoreContextPtr = OpenSslPtr<X509_STORE_CTX, X509_STORE_CTX_free>;
using BioPtr = OpenSslPtr<BIO, BIO_free>;

struct FreeChain {
  void operator()(STACK_OF(X509) * chain) const { sk_X509_pop_free(chain, X509_free); }
};

X509Ptr ParseDer(const std::string& der) {
  const auto* data = reinterpret_cast<const unsigned char*>(der.data());
  return X509Ptr(d2i_X509(nullptr, &data, static_cast<long>(der.size())));
}

std::vector<std::string> NameEntries(X509_NAME* name, int nid) {
  std::vector<std::string> entries;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, text);
    if (size < 0) continue;
    entries.emplace_back(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
    OPENSSL_free(utf8);
  }
  return entries;
}

class ClientCertificateMethod final : public AuthMethod {
 public:
  explicit ClientCertificateMethod(StorePtr store) : store_(std::move(store)) {}

  Result<std::optional<UserInfo>> Try(const net::Request& request) const override {
    if (request.peer == nullptr || request.peer->certificates.empty()) {
      return std::optional<UserInfo>();
    }
    // Verified once per connection: the certificate does not change while it lasts.
    if (auto known = std::atomic_load(&request.peer->identity)) {
      return std::optional<UserInfo>(*std::static_pointer_cast<const UserInfo>(known));
    }
    Result<UserInfo> user = Verify(request.peer->certificates);
    if (!user.ok()) return user.status();
    std::shared_ptr<const void> identity = std::make_shared<const UserInfo>(*user);
    std::atomic_store(&request.peer->identity, identity);
    return std::optional<UserInfo>(std::move(*user));
  }

 private:
  Result<UserInfo> Verify(const std::vector<std::string>& certificates) const {
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
    if (X509_verify_cert(ctx.get()) != 1) return refused;
    X509_NAME* subject = X509_get_subject_name(leaf.get());
    const std::vector<std::string> names = NameEntries(subject, NID_commonName);
    if (names.empty()) return refused;
    return UserInfo{.name = names.front(),
                    .uid = {},
                    .groups = NameEntries(subject, NID_organizationName),
                    .extra = {}};
  }

  const StorePtr store_;
};

}  // namespace

Result<std::unique_ptr<const AuthMethod>> NewClientCertificateMethod(std::string_view ca_pem) {
  StorePtr store(X509_STORE_new());
  BioPtr bio(BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())));
  int found = 0;
  while (X509Ptr ca{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(store.get(), ca.get()) == 1) ++found;
  }
  if (found == 0) return Status::BadRequest("client CA: no certificate found in the PEM");
  return std::unique_ptr<const AuthMethod>(
      std::make_unique<ClientCertificateMethod>(std::move(store)));
}

}  // namespace cox::apiserver
