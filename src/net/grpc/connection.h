// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/grpc/socket.h"
#include "net/io/event_loop.h"

struct nghttp2_session;

// A gRPC client for one server on nghttp2, with the subset that etcd, containerd and KMS plugins
// need.
//
// Why not libgrpc++: measured with 64 threads that each put 1.1 KB, a call took 75 us of CPU with
// libgrpc++ and takes 25 us here, most of it the kernel's thread switches; a process that had made
// one call took 16 MB of memory with libgrpc++ and 6 MB here. The target for an idle API server is
// 40 MB.
namespace cox::net::grpc {

// The result of a call, or of waiting for a message of a stream.
struct Reply {
  enum class Outcome : uint8_t {
    kMessage,  // `message` is the server's message
    kStatus,   // the server sent `code` and `text`; a successful call has kMessage instead
    kRefused,  // the server certainly did not process the call: it may be retried
    kBroken,   // the connection ended: the call may or may not have been executed
    kStopped,  // the context stopped; the call may or may not have been executed
  };
  Outcome outcome = Outcome::kBroken;
  int code = 0;         // gRPC status code
  std::string text;     // human-readable
  std::string message;  // protobuf, without gRPC's prefix
};

namespace internal {
class Exchange;
class CallExchange;
class LoopReader;
class StreamExchange;
}  // namespace internal

struct ConnectionOptions {
  ClientTls tls;
  std::chrono::milliseconds dial_timeout{5'000};
  // With calls in progress and no input for this long, the server is pinged, and the connection is
  // closed without a response. etcd closes connections that ping more often than every 5 s; the
  // default of grpc-go servers is 5 minutes.
  std::chrono::milliseconds keepalive_time{10'000};
  std::chrono::milliseconds keepalive_timeout{10'000};
  // Maximum size of one message from the server; a larger one ends its call.
  size_t max_message_bytes = size_t{16} * 1024 * 1024;
  // Header fields added to each call.
  std::vector<std::pair<std::string, std::string>> metadata;
};

class MessageStream;

// One HTTP/2 connection shared by many threads. A dedicated thread reads; the callers write: one
// caller at a time also writes what the others have queued, so that under load one write carries
// many calls, and without load a call waits for no other thread.
//
// A connection of an event loop has no thread: the loop reads, and writes the calls of its fibers
// when it has served the current batch of events.
//
// Threads: all methods may be called concurrently.
// Ownership: shared by the channel and its streams. Run() is the body of the reading thread and
//   returns when the connection has ended. A connection of a loop is also kept by calls in
//   progress.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // REQUIRES: Run() is called once, on a thread that may block; with a loop, Start() before the
  // first call.
  Connection(Clock& clock, const Endpoint& endpoint, std::unique_ptr<Socket> socket,
             const ConnectionOptions& options, std::shared_ptr<EventLoop> loop = nullptr);
  ~Connection();

  void Run();
  void Start();
  // Closes the connection: calls and streams in progress return kBroken.
  void Close();
  // Rejects new calls, and closes when the calls in progress have ended.
  void Retire();
  // Accepts new calls: it is not broken, and the server has not sent GOAWAY.
  bool usable() const;
  const Endpoint& endpoint() const { return endpoint_; }

  // A unary call. `method` is "/package.Service/Method" and must outlive the connection; `framed`
  // is the message with gRPC's prefix.
  Reply Call(const Context& ctx, std::string_view method, std::string_view framed);
  // The same without a waiting thread. `done` is called exactly once, on the reading thread, on the
  // thread that stops `ctx`, or inside of this function; it must not block.
  void CallAsync(const Context& ctx, std::string_view method, std::string framed,
                 std::function<void(Reply)> done);
  // A bidirectional streaming call.
  std::unique_ptr<MessageStream> Start(std::string_view method);
  // A server-streaming call: nothing can be sent after the request.
  std::unique_ptr<MessageStream> Start(std::string_view method, std::string_view framed);

 private:
  class AsyncCall;
  friend class MessageStream;
  friend class internal::LoopReader;
  friend struct SessionCallbacks;

  std::unique_ptr<MessageStream> Begin(std::unique_ptr<internal::StreamExchange> exchange);
  // Queues the exchange, or its new output, and ensures that it is written. False: the connection
  // accepts no new exchanges.
  bool Enqueue(internal::Exchange& exchange, bool fresh);
  void Flush();
  // Ends an exchange early. False: it has already ended, and the reading thread completes it.
  bool Cancel(internal::Exchange& exchange);

  void TakeQueue() COX_REQUIRES(mu_);
  void Submit(internal::Exchange& exchange) COX_REQUIRES(mu_);
  void Pump() COX_REQUIRES(mu_);
  void Detach(internal::Exchange& exchange) COX_REQUIRES(mu_);
  void Ended(internal::Exchange& exchange, Reply::Outcome outcome) COX_REQUIRES(mu_);
  // Returns flow-control window to the peer for bytes that a stream's reader has consumed.
  void Consumed(internal::StreamExchange& stream, size_t bytes);
  bool Receive(std::string_view bytes);
  bool ReadAll(std::span<char> buffer);
  // The socket accepts bytes again.
  void OnWritable();
  bool WaitsToWrite();
  bool HasCalls();
  // The reading thread or loop must check the state of the connection.
  void WakeReader();
  // How long the reading thread may wait for the socket; nullopt if the peer is considered dead.
  std::optional<std::chrono::milliseconds> CheckAlive();
  void Fail();

  // Constant after construction.
  Clock& clock_;
  const Endpoint endpoint_;
  const std::string authority_;
  const ConnectionOptions options_;
  const std::unique_ptr<Socket> socket_;
  WakeUp wake_;
  const std::shared_ptr<internal::LoopReader> loop_reader_;  // null: a thread reads

  // Calls to be written. Also locked while holding mu_.
  mutable Mutex queue_mu_ COX_ACQUIRED_AFTER(mu_);
  std::vector<internal::Exchange*> queue_ COX_GUARDED_BY(queue_mu_);
  bool flushing_ COX_GUARDED_BY(queue_mu_) = false;  // a thread is about to take the queue
  bool usable_ COX_GUARDED_BY(queue_mu_) = true;     // for new calls
  bool retired_ COX_GUARDED_BY(queue_mu_) = false;
  bool broken_ COX_GUARDED_BY(queue_mu_) = false;

  Mutex mu_;
  struct SessionFree {
    void operator()(nghttp2_session* session) const;
  };
  std::unique_ptr<nghttp2_session, SessionFree> session_ COX_GUARDED_BY(mu_);
  std::vector<internal::Exchange*> active_ COX_GUARDED_BY(mu_);  // each stores its index
  std::vector<internal::Exchange*> taken_ COX_GUARDED_BY(mu_);   // reused for its capacity
  // Calls that have ended; their threads are woken without the lock.
  std::vector<internal::CallExchange*> finished_ COX_GUARDED_BY(mu_);
  std::string out_ COX_GUARDED_BY(mu_);          // frames
  size_t out_sent_ COX_GUARDED_BY(mu_) = 0;      // bytes of out_
  bool blocked_ COX_GUARDED_BY(mu_) = false;     // the socket accepts no more for now
  Clock::SteadyTime heard_ COX_GUARDED_BY(mu_);  // when bytes last arrived
  Clock::SteadyTime pinged_ COX_GUARDED_BY(mu_) = Clock::kNever;      // kNever: no ping pending
  Clock::SteadyTime busy_since_ COX_GUARDED_BY(mu_) = Clock::kNever;  // kNever: no calls
};

// A message with gRPC's five-byte prefix.
std::string Framed(std::string_view message);

// The caller's end of a streaming call. Destruction cancels the call.
//
// Unread messages stay on the server: beyond a few MB, HTTP/2 flow control stops it.
// Threads: Send() from any thread; Receive() from one thread at a time.
class MessageStream {
 public:
  MessageStream(std::shared_ptr<Connection> connection,
                std::unique_ptr<internal::StreamExchange> exchange);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  // Does not block. Messages sent after the end of the stream are dropped.
  void Send(std::string_view framed);
  // The next message, or the end of the stream.
  Reply Receive(const Context& ctx);
  const std::shared_ptr<Connection>& connection() const { return connection_; }

 private:
  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<internal::StreamExchange> exchange_;
};

}  // namespace cox::net::grpc
