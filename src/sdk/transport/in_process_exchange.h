// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "net/client.h"
#include "net/server.h"
#include "net/websocket.h"
#include "sdk/client/response/stored_events.h"

namespace cox::sdk {

// One request between a caller and a handler in the same process.
//
// The caller's thread does the work of a connection's event loop: it waits for the response, and
// pulls the body's source when the caller reads. There is no queue in between, and bytes are passed
// without a copy.
// Threads: the handler's side (MakeHandle's result, Wake) may be used from any thread, the caller's
//   side by one thread at a time.
// Lifetime: shared by both sides; the caller ends it with Abandon().
class InProcessExchange final : public net::Waker,
                                public std::enable_shared_from_this<InProcessExchange> {
 public:
  // `server`: the parent of the request's context.
  InProcessExchange(const Context& server, net::Request request);
  ~InProcessExchange() override;

  // The handler's side. Call once.
  net::ExchangePtr MakeHandle();
  void Wake() override;

  // Waits for status and headers. Not OK if `ctx` or the server's context stops first.
  Status AwaitResponse(const Context& ctx);
  int status() const { return answer_.status; }
  net::Headers& headers() { return answer_.headers; }
  // The next piece of the body; empty at the end. REQUIRES: AwaitResponse was OK.
  Result<Bytes> Next(const Context& ctx);
  // See net::ClientStream::TryRead.
  Result<std::optional<Bytes>> TryNext(const std::function<void()>& ready);
  // The body as stored events, or null; see net::ClientStream::content. REQUIRES: AwaitResponse was
  // OK.
  StoredEventSource* events();
  // The next event. REQUIRES: events() is not null.
  Result<StoredEvent> NextEvent(const Context& ctx);
  Result<std::optional<StoredEvent>> TryNextEvent(const std::function<void()>& ready);
  // The caller's end of the WebSocket if the request was upgraded, otherwise null. REQUIRES:
  // AwaitResponse was OK.
  std::unique_ptr<net::WebSocket> TakeSocket() { return std::move(answer_.socket); }
  // Ends the caller's side: stops the request's context unless the body is complete, and destroys
  // the source.
  void Abandon();

 private:
  class Handle;
  struct Answer {
    int status = 500;
    net::Headers headers;
    std::vector<Bytes> body;
    std::unique_ptr<net::BodySource> source = {};  // null: the body is complete
    std::unique_ptr<net::WebSocket> socket = {};   // the caller's end, with status 101
  };
  enum class Phase { kWaiting, kResponded, kAbandoned };

  void Deliver(Answer answer);
  // The handler destroyed its last reference.
  void Drop();
  void Notify();
  // Blocks until the source may have data again.
  Status AwaitWake(const Context& ctx);
  // Does not block: `ready` is called when the source may have data again. False, without that
  // call, if it may have data now.
  bool CallWhenWoken(const std::function<void()>& ready);
  // Pulls once. False if the source has no data now.
  bool Pull();
  // The next piece that the source has, empty at the end; nothing if it has no data now.
  std::optional<Bytes> TakeAvailable();
  // The next event, or the end of the watch; nothing if there is no event now.
  Result<std::optional<StoredEvent>> TakeEvent();

  net::Request request_;  // used by the handler
  Context context_;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> woken_ = false;

  Mutex mu_;
  CondVar changed_;
  Phase phase_ COX_GUARDED_BY(mu_) = Phase::kWaiting;
  std::function<void()> ready_ COX_GUARDED_BY(mu_);  // of TryNext
  // Owned by the handler until kResponded, then by the caller.
  Answer answer_;
  // Used by the caller.
  size_t next_ = 0;  // index in answer_.body
  bool complete_ = false;

  StopHandle on_stop_;  // last: its callback uses the other members
};

}  // namespace cox::sdk
