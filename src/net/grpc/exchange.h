// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "net/grpc/connection.h"

namespace cox::net::grpc::internal {

// Splits a response body into messages. gRPC's prefix of each message is one byte that must be 0
// (not compressed, because the client does not offer compression) and four bytes of length.
class Assembler {
 public:
  explicit Assembler(size_t max_message_bytes) : max_message_bytes_(max_message_bytes) {}

  // Calls `got(std::string)` for each message that `bytes` completes. False if the bytes are
  // malformed or a message is too large.
  template <class Got>
  bool Append(std::string_view bytes, Got got);
  bool empty() const { return prefix_size_ == 0; }

 private:
  static constexpr size_t kPrefix = 5;
  const size_t max_message_bytes_;
  char prefix_[kPrefix];
  size_t prefix_size_ = 0;
  size_t missing_ = 0;  // remaining bytes of the message, once the prefix is complete
  std::string message_;
};

// One HTTP/2 stream and the state of its response. Guarded by the connection's mutex, except where
// noted.
class Exchange {
 public:
  Exchange(std::string_view method, bool streaming) : method(method), streaming(streaming) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // False: the bytes are malformed, and the stream must be reset.
  virtual bool Data(std::string_view bytes) = 0;

  // The result of the exchange, given how the transport ended it.
  Reply Ending(Reply::Outcome outcome) const;

  static constexpr size_t kDetached = SIZE_MAX;

  const std::string_view method;
  const bool streaming;  // may send more after `out`
  int32_t id = -1;
  size_t slot = kDetached;  // in Connection::active_
  bool sends_once = false;  // `out` is the whole output: the stream then only reads
  bool queued = false;      // in Connection::queue_; guarded by queue_mu_
  // Output: the caller's bytes for a call, StreamExchange::sending for a stream.
  std::string_view out;
  size_t sent = 0;
  // The response.
  size_t header_bytes = 0;
  int http_status = 0;
  int grpc_status = -1;
  std::string grpc_message;
};

// A unary call; lives on the caller's stack or in an AsyncCall.
class CallExchange final : public Exchange {
 public:
  CallExchange(std::string_view method, std::string_view framed, size_t max_message_bytes)
      : Exchange(method, false), assembler_(max_message_bytes) {
    out = framed;
  }
  bool Data(std::string_view bytes) override {
    bool single = true;
    const bool good = assembler_.Append(bytes, [&](std::string message) {
      single = !std::exchange(complete, true);
      response = std::move(message);
    });
    return good && single;
  }

  // The reply, when the call has ended.
  Reply TakeReply();

  // Wakes the threads of calls that have ended, or calls their functions. The calls may be
  // destroyed when this returns.
  static void NotifyDone(const std::vector<CallExchange*>& calls);

  std::string response;
  bool complete = false;
  Reply::Outcome outcome = Reply::Outcome::kBroken;
  // For a call without a waiting thread. Constant while the call is in progress.
  std::function<void()> on_done;

  // Completion, signalled to the caller's thread. The notifying thread holds `mu` while notifying,
  // so that the exchange can be destroyed as soon as `done` is seen.
  Mutex mu;
  CondVar changed;
  bool done COX_GUARDED_BY(mu) = false;

 private:
  Assembler assembler_;
};

// A streaming call; owned by its MessageStream.
class StreamExchange final : public Exchange {
 public:
  StreamExchange(std::string_view method, size_t max_message_bytes)
      : Exchange(method, true), assembler_(max_message_bytes) {}

  bool Data(std::string_view bytes) override;
  void End(const Reply& reply);

  // Bytes the server may send before the reader consumes them.
  static constexpr size_t kMaxWaiting = 1u << 20;

  Mutex mu;
  CondVar changed;
  std::deque<std::string> messages COX_GUARDED_BY(mu);
  size_t waiting COX_GUARDED_BY(mu) = 0;   // bytes in `messages`
  size_t withheld COX_GUARDED_BY(mu) = 0;  // bytes not yet returned to the peer as window
  bool ended COX_GUARDED_BY(mu) = false;
  Reply end COX_GUARDED_BY(mu);
  std::string unsent COX_GUARDED_BY(mu);
  std::string sending;  // guarded like `out`, which refers to it

 private:
  Assembler assembler_;
};

template <class Got>
bool Assembler::Append(std::string_view bytes, Got got) {
  while (!bytes.empty()) {
    if (prefix_size_ < kPrefix) {
      const size_t n = std::min(kPrefix - prefix_size_, bytes.size());
      bytes.copy(prefix_ + prefix_size_, n);
      prefix_size_ += n;
      bytes.remove_prefix(n);
      if (prefix_size_ < kPrefix) return true;
      if (prefix_[0] != 0) return false;
      for (size_t i = 1; i < kPrefix; ++i) {
        missing_ = missing_ << 8 | static_cast<unsigned char>(prefix_[i]);
      }
      if (missing_ > max_message_bytes_) return false;
      // Reserves the exact size to waste no memory, but limits it, because the prefix is not
      // trusted.
      constexpr size_t kTrusted = 16u << 20;
      message_.reserve(std::min(missing_, kTrusted));
    }
    const size_t n = std::min(missing_, bytes.size());
    message_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    missing_ -= n;
    if (missing_ > 0) return true;
    prefix_size_ = 0;
    got(std::move(message_));
    message_ = {};
  }
  return true;
}

}  // namespace cox::net::grpc::internal
