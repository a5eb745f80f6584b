// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace cox::apiserver {

// Owns an OpenSSL object: OpenSslPtr<X509, X509_free>.
template <auto Free>
struct OpenSslFree {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
template <class T, auto Free>
using OpenSslPtr = std::unique_ptr<T, OpenSslFree<Free>>;

}  // namespace cox::apiserver
