// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/grpc/socket.h"

struct nghttp2_session;

// gRPC to one server, the little of it that etcd, containerd and KMS plugins need, on nghttp2.
//
// Why not libgrpc++: measured with 64 threads that each put 1.1 KB, a call took 75 us of CPU there
// and takes 25 us here, most of it the kernel's for switching threads; a process that had made one
// call took 16 MB of memory there and 6 MB here. The whole API server is to idle in 40 MB.
namespace cox::net::grpc {

// How a call, or the wait for a message of a stream, ended.
struct Reply {
  enum class Outcome : uint8_t {
    kMessage,  // `message` is what the server sent
    kStatus,   // the server said `code` and `text`; for a call that succeeded, kMessage instead
    kRefused,  // the server has not seen the call, for certain: it may be made again
    kBroken,   // the connection ended: the call may or may not have been executed
    kStopped,  // the context stopped; the call may or may not have been executed
  };
  Outcome outcome = Outcome::kBroken;
  int code = 0;         // gRPC's number
  std::string text;     // for people
  std::string message;  // protobuf, without gRPC's prefix
};

namespace internal {
class Exchange;
class CallExchange;
class StreamExchange;
}  // namespace internal

struct ConnectionOptions {
  ClientTls tls;
  std::chrono::milliseconds dial_timeout{5'000};
  // With calls under way and silence for this long, the server is asked for a sign of life, and
  // given up if none comes. etcd closes connections that ask more often than every 5 s, servers in
  // Go that say nothing else those that ask more often than every 5 minutes.
  std::chrono::milliseconds keepalive_time{10'000};
  std::chrono::milliseconds keepalive_timeout{10'000};
  // Header fields that each call carries.
  std::vector<std::pair<std::string, std::string>> metadata;
};

class MessageStream;

// One HTTP/2 connection that many threads share. A thread of its own reads; whoever calls, writes:
// one of the callers at a time carries what the others have queued meanwhile along, so that under
// load one write takes many calls, and without load a call waits for no other thread.
//
// Threads: all methods may be called concurrently.
// Ownership: shared by the channel and its streams. Run() is the reading thread's work and ends
//   when the connection has.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // REQUIRES: Run() is called once, on a thread that may block.
  Connection(Clock& clock, const Endpoint& endpoint, std::unique_ptr<Socket> socket,
             const ConnectionOptions& options);
  ~Connection();

  void Run();
  // Ends everything: the calls and streams under way are kBroken.
  void Close();
  // Takes no new calls, and ends when those under way have.
  void Retire();
  // Takes new calls: it neither broke nor did the server ask to leave.
  bool usable() const;
  const Endpoint& endpoint() const { return endpoint_; }

  // A call with one request and one response. `method` is "/package.Service/Method" and outlives
  // the connection; `framed` is the message with gRPC's prefix.
  Reply Call(const Context& ctx, std::string_view method, std::string_view framed);
  // A call with streams both ways.
  std::unique_ptr<MessageStream> Start(std::string_view method);
  // A call with one request whose answer is a stream: nothing can be sent after it.
  std::unique_ptr<MessageStream> Start(std::string_view method, std::string_view framed);

 private:
  friend class MessageStream;
  friend struct SessionCallbacks;

  std::unique_ptr<MessageStream> Begin(std::unique_ptr<internal::StreamExchange> exchange);
  // Queues the exchange, or what it has to send anew, and sees that it gets written. False: the
  // connection takes no new ones.
  bool Enqueue(internal::Exchange& exchange, bool fresh);
  void Flush();
  // Ends an exchange early. False: it has ended already, and the reading thread will have told it.
  bool Cancel(internal::Exchange& exchange);

  void TakeQueue() COX_REQUIRES(mu_);
  void Submit(internal::Exchange& exchange) COX_REQUIRES(mu_);
  void Pump() COX_REQUIRES(mu_);
  void Detach(internal::Exchange& exchange) COX_REQUIRES(mu_);
  void Ended(internal::Exchange& exchange, Reply::Outcome outcome) COX_REQUIRES(mu_);
  // Gives the peer room for what a stream's reader has taken.
  void Consumed(internal::StreamExchange& stream, size_t bytes);
  bool Receive(std::string_view bytes);
  bool ReadAll(std::string& buffer);
  // How long the reading thread may wait for the socket; nothing if the peer is to be given up.
  std::optional<std::chrono::milliseconds> CheckAlive();
  void Fail();

  // Constant after construction.
  Clock& clock_;
  const Endpoint endpoint_;
  const std::string authority_;
  const ConnectionOptions options_;
  const std::unique_ptr<Socket> socket_;
  WakeUp wake_;

  // Calls that are to be written. Taken while holding mu_, too.
  mutable Mutex queue_mu_ COX_ACQUIRED_AFTER(mu_);
  std::vector<internal::Exchange*> queue_ COX_GUARDED_BY(queue_mu_);
  bool flushing_ COX_GUARDED_BY(queue_mu_) = false;  // somebody is about to take the queue
  bool usable_ COX_GUARDED_BY(queue_mu_) = true;     // for new calls
  bool retired_ COX_GUARDED_BY(queue_mu_) = false;
  bool broken_ COX_GUARDED_BY(queue_mu_) = false;

  Mutex mu_;
  struct SessionFree {
    void operator()(nghttp2_session* session) const;
  };
  std::unique_ptr<nghttp2_session, SessionFree> session_ COX_GUARDED_BY(mu_);
  std::vector<internal::Exchange*> active_ COX_GUARDED_BY(mu_);  // each knows its place
  std::vector<internal::Exchange*> taken_ COX_GUARDED_BY(mu_);   // kept for its memory
  // Calls that have ended; their threads are woken without the lock.
  std::vector<internal::CallExchange*> finished_ COX_GUARDED_BY(mu_);
  std::string out_ COX_GUARDED_BY(mu_);          // frames
  size_t out_sent_ COX_GUARDED_BY(mu_) = 0;      // of it
  bool blocked_ COX_GUARDED_BY(mu_) = false;     // the socket takes no more for the moment
  Clock::SteadyTime heard_ COX_GUARDED_BY(mu_);  // when bytes came last
  Clock::SteadyTime pinged_ COX_GUARDED_BY(mu_) = Clock::kNever;      // kNever: none is out
  Clock::SteadyTime busy_since_ COX_GUARDED_BY(mu_) = Clock::kNever;  // kNever: no calls
};

// A message with gRPC's prefix of five bytes, as calls take it.
std::string Framed(std::string_view message);

// The caller's end of a call with streams both ways. Dropping it cancels the call.
//
// Messages that the reader does not take stay with the server: beyond a few MB the flow control of
// HTTP/2 stops it.
// Threads: Send() from any; Receive() one at a time.
class MessageStream {
 public:
  MessageStream(std::shared_ptr<Connection> connection,
                std::unique_ptr<internal::StreamExchange> exchange);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  // Does not block. What is sent after the end is dropped.
  void Send(std::string_view framed);
  // The next message, or how the stream ended.
  Reply Receive(const Context& ctx);
  const std::shared_ptr<Connection>& connection() const { return connection_; }

 private:
  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<internal::StreamExchange> exchange_;
};

}  // namespace cox::net::grpc
