// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/tls_pair.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <vector>

#include "apiserver/registry/validation/pem.h"

namespace cox::apiserver {
namespace {

template <class T, void (*kFree)(T*)>
struct Deleter {
  void operator()(T* pointer) const { kFree(pointer); }
};
using X509Ptr = std::unique_ptr<X509, Deleter<X509, X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY, EVP_PKEY_free>>;

std::string List(const std::vector<std::string>& types) {
  std::string text = "[";
  for (const std::string& type : types) text.append(text.size() == 1 ? "" : " ").append(type);
  return text + "]";
}

bool IsPrivateKey(std::string_view type) {
  return type == "PRIVATE KEY" || type.ends_with(" PRIVATE KEY");
}

// Returns the first certificate, or sets `problem`.
X509Ptr ReadCertificate(std::string_view text, std::string* problem) {
  std::vector<std::string> skipped;
  while (std::optional<PemBlock> block = NextPemBlock(text)) {
    if (block->type != "CERTIFICATE") {
      skipped.push_back(block->type);
      continue;
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(block->bytes.data());
    X509Ptr certificate(d2i_X509(nullptr, &bytes, static_cast<long>(block->bytes.size())));
    if (certificate == nullptr) *problem = "x509: malformed certificate";
    return certificate;
  }
  if (skipped.empty()) {
    *problem = "tls: failed to find any PEM data in certificate input";
  } else if (skipped.size() == 1 && IsPrivateKey(skipped[0])) {
    *problem =
        "tls: failed to find certificate PEM data in certificate input, but did find a private "
        "key; PEM inputs may have been switched";
  } else {
    *problem =
        "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM "
        "blocks of the following types: " +
        List(skipped);
  }
  return nullptr;
}

KeyPtr ReadKey(std::string_view text, std::string* problem) {
  std::vector<std::string> skipped;
  while (std::optional<PemBlock> block = NextPemBlock(text)) {
    if (!IsPrivateKey(block->type)) {
      skipped.push_back(block->type);
      continue;
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(block->bytes.data());
    KeyPtr key(d2i_AutoPrivateKey(nullptr, &bytes, static_cast<long>(block->bytes.size())));
    if (key == nullptr) *problem = "tls: failed to parse private key";
    return key;
  }
  if (skipped.empty()) {
    *problem = "tls: failed to find any PEM data in key input";
  } else if (skipped.size() == 1 && skipped[0] == "CERTIFICATE") {
    *problem = "tls: found a certificate rather than a key in the PEM for the private key";
  } else {
    *problem =
        "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after "
        "skipping PEM blocks of the following types: " +
        List(skipped);
  }
  return nullptr;
}

}  // namespace

std::string TlsPairProblem(std::string_view certificate, std::string_view key) {
  std::string problem;
  X509Ptr x509 = ReadCertificate(certificate, &problem);
  if (x509 == nullptr) return problem;
  KeyPtr private_key = ReadKey(key, &problem);
  if (private_key == nullptr) return problem;
  EVP_PKEY* public_key = X509_get0_pubkey(x509.get());
  if (public_key == nullptr) return "tls: unknown public key algorithm";
  switch (EVP_PKEY_eq(public_key, private_key.get())) {
    case 1:
      return "";
    case -1:
      return "tls: private key type does not match public key type";
    default:
      return "tls: private key does not match public key";
  }
}

}  // namespace cox::apiserver
