// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"
#include "net/io/event_loop.h"
#include "net/io/tunnel.h"
#include "net/tls/tls_engine.h"

namespace cox::net {

// A TCP connection, with or without TLS, on one loop: bytes in, bytes out on demand.
//
// Output is pulled: Flush asks the user for bytes as long as the socket takes them. What the socket
//   did not take of the last chunk waits here (at most about EventLoop::kOutputChunk), and the user
//   is asked again only when that is gone. An idle channel keeps no buffers.
// Threads: the loop's only.
// Lifetime: shared with its pending operations; `user` is called until Close or OnEnd, whichever is
//   first, and must live until then.
class Channel final : public Flushable {
 public:
  class User {
   public:
    virtual ~User() = default;
    // TLS is up (at once without TLS).
    virtual void OnOpen() = 0;
    virtual void OnBytes(std::string_view bytes) = 0;
    // Puts up to `room` bytes at `to`; 0: nothing to send now.
    virtual size_t OnOutput(char* to, size_t room) = 0;
    // All that OnOutput gave is with the kernel. May Close.
    virtual void OnFlushed() = 0;
    // The peer has sent all it will. True: it is still sent to, until EndOutput or Close; false:
    // that ends the connection.
    virtual bool OnInputEnd() { return false; }
    // The peer ended the connection (OK) or it broke; nothing will be called after it.
    virtual void OnEnd(const Status& why) = 0;
  };

  // `ssl` null: plain text. It must be in accept or connect state. `tunnel`, if not null, is gone
  // through first, and all else happens inside of it.
  Channel(EventLoop& loop, boost::asio::ip::tcp::socket socket, SslPtr ssl, User& user,
          std::unique_ptr<Tunnel> tunnel = nullptr);
  ~Channel() override;

  void Start();
  void Flush() override;
  // While reading is off, the kernel's buffer fills and the peer has to wait.
  void SetReading(bool on);
  // Says goodbye and waits for the peer's, so that what was sent is not lost to a reset; the owner
  // ends that by Close after a while. The user's OnBytes is not called any more.
  void Shutdown();
  // Tells the peer that nothing follows, once all is with the kernel; what it sends is still taken.
  void EndOutput();
  void Close();

  bool open() const { return open_; }
  bool handshaking() const { return state_ == State::kHandshake; }
  bool lingering() const { return state_ == State::kLinger; }
  bool closed() const { return state_ == State::kClosed; }
  // Output that the socket does not take, and since when it takes nothing.
  bool blocked() const { return !unsent_.empty(); }
  Clock::SteadyTime blocked_since() const { return blocked_since_; }
  const TlsEngine* tls() const { return tls_.get(); }
  EventLoop& loop() { return loop_; }

 private:
  enum class State { kHandshake, kOpen, kLinger, kClosed };

  // Opens it, now that the way is free. False when the channel ended meanwhile.
  bool Begin();
  void WaitReadable();
  void OnReadable();
  // False when the channel ended meanwhile.
  bool Take(std::string_view bytes);
  bool TakeTunnel(std::string_view bytes);
  bool TakeTls(std::string_view bytes);
  bool ContinueHandshake(std::string_view* bytes);
  void OnWritable();
  // Sends `bytes`, or keeps what the socket does not take. False when the channel ended.
  bool SendBytes(std::string_view bytes);
  // The same of what the tunnel has wrapped.
  bool SendRaw(std::string_view bytes);
  bool SendCipher();
  // True: the peer's end is not the connection's.
  bool TakeInputEnd();
  void EndSocketOutput();
  void End(const Status& why);

  EventLoop& loop_;
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsEngine> tls_;
  std::unique_ptr<Tunnel> tunnel_;  // null: none, or not any more
  User* user_;
  State state_ = State::kHandshake;
  bool open_ = false;
  bool begun_ = false;
  bool reading_ = true;
  bool wait_pending_ = false;
  bool input_ended_ = false;
  bool output_ended_ = false;
  bool flushing_ = false;
  bool receiving_ = false;  // the receiver flushes when it is done
  std::string unsent_;
  Clock::SteadyTime blocked_since_{};
};

}  // namespace cox::net
