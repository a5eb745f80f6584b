// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/tls/openssl.h"

namespace cox::net {

// TLS without a socket and without buffers. Received ciphertext is passed to one call and consumed
// by it; ciphertext to send is appended to a string that the loop's connections share, so an idle
// connection keeps nothing but the SSL object.
//
// Threads: one at a time (the connection's loop).
class TlsEngine {
 public:
  enum class State { kOk, kWantMore, kClosed, kFailed };

  explicit TlsEngine(SslPtr ssl);
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  // Continues the handshake. kOk: it is complete, and the rest of `in` is for Read. kWantMore: all
  // of `in` is consumed. kFailed: see error().
  State Handshake(std::string_view* in, std::string* out);
  // Decrypts at most one record into `to`. kOk: *got > 0; kWantMore: `in` is consumed; kClosed: the
  // peer sent close_notify. `out` receives replies of TLS itself (key updates).
  State Read(std::string_view* in, std::string* out, char* to, size_t room, size_t* got);
  // Encrypts all of `plain`, appended to `out`.
  State Write(std::string_view plain, std::string* out);
  // Sends close_notify.
  void Shutdown(std::string* out);

  bool server() const { return SSL_is_server(ssl_.get()) == 1; }
  // The ALPN protocol after the handshake; empty if none was negotiated.
  std::string_view protocol() const;
  // The peer's chain, leaf first, DER.
  std::vector<std::string> PeerCertificates() const;
  const std::string& error() const { return error_; }
  // The peer sent HTTP without TLS.
  bool plain_http() const { return plain_http_; }

 private:
  static BIO_METHOD* Method();
  static int BioRead(BIO* bio, char* to, size_t room, size_t* got);
  static int BioWrite(BIO* bio, const char* data, size_t size, size_t* written);
  static long BioControl(BIO* bio, int command, long number, void* pointer);
  State Explain(int result);
  // Sets error_ to the reason why the server's certificate was rejected, in the words of Go's
  // crypto/tls.
  void SetVerificationError();

  SslPtr ssl_;
  // Set for the duration of one call.
  std::string_view* in_ = nullptr;
  std::string* out_ = nullptr;
  std::string error_;
  bool plain_http_ = false;
};

}  // namespace cox::net
