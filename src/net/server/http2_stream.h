// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server/http2_session.h"

namespace cox::net {

// One request and its response. Private to the session.
class Http2Session::Stream final : public ResponseSink {
 public:
  Stream(Http2Session& session, int32_t id) : session_(session), id(id) {}
  ~Stream() override;

  void OnResponse(Answer answer) override;
  void OnWake() override;
  // Subtracts the request's bytes from the server's total.
  void ForgetBytes();

 private:
  Http2Session& session_;

 public:
  const int32_t id;
  Request request;  // until it is dispatched
  size_t header_bytes = 0;
  bool refused = false;     // ignored from now on
  bool dispatched = false;  // passed to the handler, or answered by the session
  bool head = false;        // HEAD: the response has no body
  bool answered = false;
  bool deferred = false;  // waiting for the source's wake-up
  bool streaming = false;
  bool complete = false;  // the last frame of the response was sent
  bool too_large = false;
  size_t counted = 0;            // in the server's total
  size_t discarded = 0;          // bytes of a body that is too large
  Clock::SteadyTime progress{};  // last progress: of the request, then of the response
  std::shared_ptr<ServerExchange> exchange;
  OutgoingBody body;
};

}  // namespace cox::net
