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

// A handler's response.
struct Answer {
  int status = 200;
  Headers headers;
  std::vector<Bytes> body;
  std::unique_ptr<BodySource> source;  // replaces body, if not null
  std::unique_ptr<Link> upgrade;       // takes over the connection, if not null
  std::string protocol = {};           // of the upgrade: "websocket"
};

// The protocol's side of an exchange: an HTTP/2 stream or an HTTP/1.1 connection. Loop thread only.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void OnResponse(Answer answer) = 0;
  // The source has data again.
  virtual void OnWake() = 0;
};

// Counts requests that a handler has not answered yet, including those whose stream was reset.
using InFlight = std::shared_ptr<std::atomic<int>>;

// One request, shared by the handler on any thread and its sink on the loop. It outlives both: the
// sink detaches when the peer disconnects, and a later response is dropped on the loop.
class ServerExchange final : public LoopTask, public Waker {
 public:
  ServerExchange(std::shared_ptr<EventLoop> loop, const Context& parent, Request request,
                 ResponseSink& sink, InFlight in_flight);
  ~ServerExchange() override;

  // The handler's reference. Created once.
  ExchangePtr MakeHandle();

  // Loop thread: the sink is destroyed. Stops the context unless the response was complete.
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
  std::atomic<bool> response_ready_ = false;
  // Written by the answering thread before response_ready_, then used by the loop.
  Answer answer_;
  // Loop thread only.
  ResponseSink* sink_;
  InFlight in_flight_;
};

}  // namespace cox::net
