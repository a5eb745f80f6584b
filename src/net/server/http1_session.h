// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/io/http1_parser.h"
#include "net/server/exchange.h"
#include "net/server/outgoing_body.h"
#include "net/server/session.h"

namespace cox::net {

// The server side of an HTTP/1.1 (or 1.0) connection: one request at a time. Pipelined requests are
// buffered up to a limit; beyond it, the peer must wait.
class Http1Session final : public Session, public ResponseSink {
 public:
  Http1Session(const SessionShared& shared, std::shared_ptr<const Peer> peer, Host& host);
  ~Http1Session() override;

  void Receive(std::string_view bytes) override;
  size_t Produce(char* to, size_t room) override;
  bool finished() const override {
    return state_ == State::kFinished || (link_ != nullptr && link_->finished());
  }
  bool aborted() const override { return link_ != nullptr && link_->aborted(); }
  bool patient() const override { return link_ != nullptr && link_->patient(); }
  bool wants_input() const override;
  bool InputEnded() override { return link_ != nullptr && link_->InputEnded(); }
  bool output_ended() const override {
    return link_ != nullptr && head_.empty() && link_->output_ended();
  }
  void CheckTime(Clock::SteadyTime now) override;
  void Drain() override;
  void StopStreams() override;

 private:
  enum class State {
    kIdle,      // between requests
    kHead,      // a request has begun
    kBody,      // its head is complete
    kHandling,  // waiting for the handler's response
    kSending,   // sending the response
    kUpgraded,  // a link has taken over the connection
    kFinished,
  };

  void OnResponse(Answer answer) override;
  void OnWake() override;
  void OnUpgrade(Answer answer);

  // Parses requests from input_ until one is dispatched or more bytes are needed.
  void ParseInput();
  void OnHead();
  // Updates the bytes of the current request in the server's total. False: there is no room.
  bool CountBytes();
  // Calls accepts_body, once for a request whose head has arrived without the whole body.
  void CheckHeaders();
  // Moves the request out of the parser.
  Request TakeRequest();
  void Dispatch();
  void Handle(Request request);
  // Answers an invalid request, and closes the connection.
  void Reject(int status, std::string_view detail);
  // Writes body bytes to `to`; changes the state at the end of the body.
  size_t ProduceBody(char* to, size_t room);
  size_t ProduceChunk(char* to, size_t room);
  void OnResponseDone();
  void ForgetBytes();

  const SessionShared& shared_;
  const std::shared_ptr<const Peer> peer_;
  Host& host_;
  const InFlight in_flight_;
  State state_ = State::kIdle;
  Clock::SteadyTime now_;
  Clock::SteadyTime since_;  // when the state was entered or last made progress
  std::string input_;        // not parsed yet
  std::optional<Http1Parser<true>> parser_;
  size_t head_bytes_ = 0;  // of the current request
  size_t counted_ = 0;     // bytes of the current request in the server's total
  bool checked_ = false;   // by CheckHeaders
  std::shared_ptr<ServerExchange> exchange_;
  bool busy_ = false;
  bool draining_ = false;
  bool one_zero_ = false;  // the current request is HTTP/1.0
  bool head_request_ = false;
  bool keep_alive_ = true;
  bool chunked_ = false;
  bool body_follows_ = false;
  bool streaming_ = false;
  bool waiting_ = false;  // for the source
  std::string head_;      // status line and fields, also "100 Continue"
  OutgoingBody body_;
  std::unique_ptr<Link> link_;
};

}  // namespace cox::net
