// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "net/http.h"
#include "net/io/event_loop.h"
#include "net/io/link.h"
#include "net/server.h"

namespace cox::net {

// What a handler answered.
struct Answer {
  int status = 200;
  Headers headers;
  std::vector<Bytes> body;
  std::unique_ptr<BodySource> source;  // instead of body, if not null
  std::unique_ptr<Link> upgrade;       // the connection is this from now on, if not null
  std::string protocol = {};           // of the upgrade: "websocket"
};

// The protocol's side of an exchange: an HTTP/2 stream, an HTTP/1.1 connection. Loop thread only.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void OnAnswer(Answer answer) = 0;
  // The source has something again.
  virtual void OnWake() = 0;
};

// Counts a request that a handler has not answered yet, also after its stream is gone.
using InFlight = std::shared_ptr<std::atomic<int>>;

// One request between the handler, on any thread, and its sink, on the loop. It outlives both: the
// sink detaches when the peer goes away, and an answer that comes later is dropped on the loop.
class ServerExchange final : public LoopTask, public Waker {
 public:
  ServerExchange(std::shared_ptr<EventLoop> loop, const Context& parent, Request request,
                 AnswerSink& sink, InFlight in_flight);
  ~ServerExchange() override;

  // What the handler gets. Made once.
  ExchangePtr MakeHandle();

  // Loop thread: the sink is gone. Stops the context unless the answer was complete.
  void Detach(bool complete);
  Context& context() { return context_; }

  void Wake() override;

 private:
  class Handle;

  void Run() override;
  void Deliver(Answer answer);
  Result<std::unique_ptr<WebSocket>> Upgrade(const std::vector<std::string>& protocols,
                                             const WebSocketOptions& options);
  Result<std::unique_ptr<ByteStream>> SwitchProtocols(Headers headers);
  void Abandon();

  const std::shared_ptr<EventLoop> loop_;
  Context context_;
  Request request_;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> answer_there_ = false;
  // Written by the answering thread before answer_there_, then the loop's.
  Answer answer_;
  // The loop's.
  AnswerSink* sink_;
  InFlight in_flight_;
};

}  // namespace cox::net
