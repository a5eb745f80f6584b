// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/client.h"
#include "net/io/event_loop.h"
#include "net/io/link.h"

namespace cox::net {

class ClientCall;

// Accepts calls and assigns them to connections. Loop thread only.
class CallServer {
 public:
  virtual ~CallServer() = default;
  virtual void Begin(std::shared_ptr<ClientCall> call) = 0;
};

// The HTTP protocol of one client connection, without the socket. Loop thread only.
class ClientSession {
 public:
  // Receives notifications of a session.
  class Host {
   public:
    virtual ~Host() = default;
    // Output may be available outside of Receive and Produce.
    virtual void OnOutputReady() = 0;
    // capacity() may have grown.
    virtual void OnCapacity() = 0;
    // The server did not process the call: it may be retried on another connection.
    virtual void OnUnprocessed(std::shared_ptr<ClientCall> call) = 0;
  };

  virtual ~ClientSession() = default;
  // The number of calls it accepts now.
  virtual size_t capacity() const = 0;
  virtual size_t active() const = 0;
  // REQUIRES: capacity() > 0
  virtual void Submit(std::shared_ptr<ClientCall> call) = 0;
  virtual void Cancel(ClientCall& call) = 0;
  // The reader consumed `size` bytes of the body.
  virtual void Consumed(ClientCall& call, size_t size) = 0;
  virtual void Ping() = 0;

  virtual void Receive(std::string_view bytes) = 0;
  virtual size_t Produce(char* to, size_t room) = 0;
  virtual bool finished() const = 0;
  // The connection is closed (OK: by the server): all calls end.
  virtual void Fail(const Status& why) = 0;
};

// One request and its response, shared by the waiting thread and the session on the loop.
class ClientCall final : public LoopTask {
 public:
  // `reads`: body bytes count as read when Consume is called, not when the observer receives them.
  ClientCall(std::shared_ptr<EventLoop> loop, std::shared_ptr<CallServer> server, Request request,
             std::shared_ptr<ResponseObserver> observer, bool reads)
      : reads(reads),
        request(std::move(request)),
        loop_(std::move(loop)),
        server_(std::move(server)),
        observer_(std::move(observer)) {}

  // Any thread.
  void Start() { loop_->Enqueue(shared_from_this()); }
  void Cancel() {
    canceled_.store(true, std::memory_order_release);
    loop_->Enqueue(shared_from_this());
  }
  void Consume(size_t size) {
    consumed_.fetch_add(size, std::memory_order_release);
    loop_->Enqueue(shared_from_this());
  }
  bool canceled() const { return canceled_.load(std::memory_order_acquire); }

  // Loop thread.
  void OnHeaders(int status, Headers headers) {
    headers_seen = true;
    observer_->OnHeaders(status, std::move(headers));
  }
  void OnData(std::string_view bytes) { observer_->OnData(bytes); }
  void OnEnd(const Status& status) {
    session = nullptr;
    if (const auto observer = std::exchange(observer_, nullptr)) observer->OnEnd(status);
  }
  bool ended() const { return observer_ == nullptr; }

  const bool reads;
  const Request request;
  // If set, the request is a protocol upgrade; called with the headers of the 101. The response
  // ends there, and the link takes over the connection. Set before Start; HTTP/1.1 only.
  std::function<Result<std::unique_ptr<Link>>(const Headers&)> upgrade;
  std::string protocol = "websocket";  // of the upgrade
  ClientSession* session = nullptr;
  int32_t stream_id = 0;
  int attempts = 0;
  bool headers_seen = false;

 private:
  void Run() override {
    if (canceled() && !ended()) {
      if (session != nullptr) session->Cancel(*this);
      return OnEnd(Context::Canceled());
    }
    if (ended()) return;
    if (!std::exchange(begun_, true)) {
      return server_->Begin(std::static_pointer_cast<ClientCall>(shared_from_this()));
    }
    const size_t size = consumed_.exchange(0, std::memory_order_acquire);
    if (size > 0 && session != nullptr) session->Consumed(*this, size);
  }

  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<CallServer> server_;
  std::shared_ptr<ResponseObserver> observer_;
  bool begun_ = false;
  std::atomic<bool> canceled_ = false;
  std::atomic<size_t> consumed_ = 0;
};

}  // namespace cox::net
