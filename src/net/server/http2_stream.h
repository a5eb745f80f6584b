// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server/http2_session.h"

namespace cox::net {

// One request and its response. Private to the session.
class Http2Session::Stream final : public AnswerSink {
 public:
  Stream(Http2Session& session, int32_t id) : session_(session), id(id) {}
  ~Stream() override;

  void OnAnswer(Answer answer) override;
  void OnWake() override;
  // Gives back what the request's body counts in the server's total.
  void ForgetBodyBytes();

 private:
  Http2Session& session_;

 public:
  const int32_t id;
  Request request;  // until it is dispatched
  size_t header_bytes = 0;
  bool refused = false;     // nothing of it matters any more
  bool dispatched = false;  // the handler has it, or we answered ourselves
  bool head = false;        // HEAD: the answer has no body
  bool answered = false;
  bool deferred = false;  // the source will wake us
  bool streaming = false;
  bool complete = false;  // the last frame of the answer is out
  bool too_large = false;
  size_t body_counted = 0;       // in the server's total
  size_t discarded = 0;          // of a body that is too large
  Clock::SteadyTime progress{};  // since when nothing moved: request, then response
  std::shared_ptr<ServerExchange> exchange;
  OutgoingBody body;
};

}  // namespace cox::net
