// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "net/client/call.h"
#include "net/io/http2_output.h"

namespace cox::net {

// Header bytes that a stream holds until its headers are complete. They are part of a total of the
// process, because with HPACK one byte of a response can stand for a header of 4 KiB, and a process
// has many connections.
class HeldHeaders {
 public:
  static constexpr size_t kMaxTotal = size_t{64} * 1024 * 1024;
  // A stream may always hold this much.
  static constexpr size_t kAlways = size_t{16} * 1024;

  HeldHeaders() = default;
  HeldHeaders(HeldHeaders&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  HeldHeaders& operator=(HeldHeaders&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldHeaders() { Release(); }

  // False: the process holds too much.
  bool Add(size_t bytes);
  void Release();

 private:
  size_t bytes_ = 0;
};

// The client side of an HTTP/2 connection. A server that sends more headers than allowed loses the
// connection.
class Http2ClientSession final : public ClientSession {
 public:
  // `authority` and `scheme` apply to requests without a host of their own.
  Http2ClientSession(std::string authority, std::string scheme, size_t max_header_bytes,
                     Host& host);
  ~Http2ClientSession() override;

  size_t capacity() const override;
  size_t active() const override { return streams_.size(); }
  void Submit(std::shared_ptr<ClientCall> call) override;
  void Cancel(ClientCall& call) override;
  void Consumed(ClientCall& call, size_t size) override;
  void Ping() override;
  void Receive(std::string_view bytes) override;
  size_t Produce(char* to, size_t room) override;
  bool finished() const override;
  void Fail(const Status& why) override;

 private:
  struct Stream {
    std::shared_ptr<ClientCall> call;
    size_t sent = 0;  // bytes of the request's body
    int status = 0;
    Headers headers = {};
    size_t header_bytes = 0;  // received for this stream
    HeldHeaders held = {};    // in `headers`
  };
  static const nghttp2_session_callbacks* Callbacks();

  Stream* Find(int32_t id);
  // Returns the result of the nghttp2 callback.
  int OnHeader(Stream& stream, std::string_view name, std::string_view value);
  void OnFrame(const nghttp2_frame& frame);
  void OnData(int32_t id, std::string_view bytes);
  void OnStreamClosed(int32_t id, uint32_t error);

  const std::string authority_;
  const std::string scheme_;
  const size_t max_header_bytes_;
  Host& host_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, Stream> streams_;
  bool failed_ = false;
  bool busy_ = false;
  bool going_away_ = false;
  bool settings_seen_ = false;
  int32_t last_stream_ = 0;  // the last stream the server processes, once going_away_
  Http2Output output_;
};

}  // namespace cox::net
