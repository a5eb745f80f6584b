// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "net/client.h"
#include "net/server.h"
#include "net/websocket.h"

namespace cox::sdk {

// One request between a caller and a handler of the same process.
//
// The caller's thread does the work that a connection's loop does elsewhere: it waits for the
//   answer, and pulls the body's source when somebody wants to read. So there is no queue between
//   the two, and the bytes that the handler gave are the bytes that the caller gets.
// Threads: the handler's side (what MakeHandle gives, Wake) from any thread, the caller's side by
//   one thread at a time.
// Lifetime: shared by both sides; Leave() is the caller's end.
class InProcessExchange final : public net::Waker,
                                public std::enable_shared_from_this<InProcessExchange> {
 public:
  // `server`: what the request's context is a child of.
  InProcessExchange(const Context& server, net::Request request);
  ~InProcessExchange() override;

  // What the handler gets. Made once.
  net::ExchangePtr MakeHandle();
  void Wake() override;

  // Until status and headers are there. Not OK when `ctx` stops first, or the server's context.
  Status AwaitAnswer(const Context& ctx);
  int status() const { return answer_.status; }
  net::Headers& headers() { return answer_.headers; }
  // The next piece of the body; empty at the end. REQUIRES: AwaitAnswer was OK.
  Result<Bytes> Next(const Context& ctx);
  // The caller's end of the WebSocket that the request became; null if it did not.
  // REQUIRES: AwaitAnswer was OK.
  std::unique_ptr<net::WebSocket> TakeSocket() { return std::move(answer_.socket); }
  // The caller wants no more: the request's context stops unless the body has ended, and the source
  // goes.
  void Leave();

 private:
  class Handle;
  struct Answer {
    int status = 500;
    net::Headers headers;
    std::vector<Bytes> body;
    std::unique_ptr<net::BodySource> source = {};  // null: all is in the body
    std::unique_ptr<net::WebSocket> socket = {};   // the caller's end; with 101
  };
  enum class Phase { kWaiting, kAnswered, kLeft };

  void Deliver(Answer answer);
  // The handler let go of the request.
  void Drop();
  void Notify();
  // Pulls once more. False if the source has nothing for now.
  bool Pull();

  net::Request request_;  // the handler's
  Context context_;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> woken_ = false;

  Mutex mu_;
  CondVar changed_;
  Phase phase_ COX_GUARDED_BY(mu_) = Phase::kWaiting;
  // The handler's until kAnswered, then the caller's.
  Answer answer_;
  // The caller's.
  size_t next_ = 0;  // of answer_.body
  bool complete_ = false;

  StopHandle on_stop_;  // last: its callback uses the rest
};

}  // namespace cox::sdk
