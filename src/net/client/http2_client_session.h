// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "net/client/call.h"
#include "net/io/http2_output.h"

namespace cox::net {

// The client side of an HTTP/2 connection.
class Http2ClientSession final : public ClientSession {
 public:
  // `authority` and `scheme` apply to requests without a host of their own.
  Http2ClientSession(std::string authority, std::string scheme, Host& host);
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
    Headers headers;
  };
  static const nghttp2_session_callbacks* Callbacks();

  Stream* Find(int32_t id);
  void OnFrame(const nghttp2_frame& frame);
  void OnData(int32_t id, std::string_view bytes);
  void OnStreamClosed(int32_t id, uint32_t error);

  const std::string authority_;
  const std::string scheme_;
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
