// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

// Smart pointers for OpenSSL's objects, and PEM parsing. For the files of this folder only.
namespace cox::net {

template <auto Free>
struct OpenSslFree {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

inline void FreeX509Stack(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }
inline void FreeNameStack(STACK_OF(X509_NAME) * stack) {
  sk_X509_NAME_pop_free(stack, X509_NAME_free);
}
inline void FreeGeneralNames(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }
inline void FreeBio(BIO* bio) { BIO_free_all(bio); }

using SslPtr = std::unique_ptr<SSL, OpenSslFree<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslFree<SSL_CTX_free>>;
using X509Ptr = std::unique_ptr<X509, OpenSslFree<X509_free>>;
using X509StackPtr = std::unique_ptr<STACK_OF(X509), OpenSslFree<FreeX509Stack>>;
using NameStackPtr = std::unique_ptr<STACK_OF(X509_NAME), OpenSslFree<FreeNameStack>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslFree<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, OpenSslFree<FreeBio>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, OpenSslFree<FreeGeneralNames>>;

// Returns and clears OpenSSL's error queue of this thread. "unknown error" if it is empty.
std::string OpenSslErrorText();

// A chain, leaf first, and the key of the leaf.
struct ParsedCertificate {
  X509Ptr leaf;
  X509StackPtr chain;  // without the leaf; never null
  KeyPtr key;
};

// BadRequest if one PEM is invalid, with its name, or if key and certificate do not match.
Result<ParsedCertificate> ParseCertificatePair(std::string_view certificate_pem,
                                               std::string_view key_pem);
// All certificates of a bundle. BadRequest if there is none or one does not parse.
Result<X509StackPtr> ParseCertificates(std::string_view pem);

}  // namespace cox::net
