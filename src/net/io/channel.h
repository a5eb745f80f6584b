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

// A TCP connection, with or without TLS, on one event loop.
//
// Output is pulled: Flush calls OnOutput as long as the socket accepts bytes. The unsent rest of
//   the last chunk is kept (at most about EventLoop::kOutputChunk), and OnOutput is called again
//   only when that is written. An idle channel keeps no buffers.
// Threads: loop thread only.
// Lifetime: shared with its pending operations; `user` is called until Close or OnEnd, whichever is
//   first, and must live until then.
class Channel final : public Flushable {
 public:
  class User {
   public:
    virtual ~User() = default;
    // The TLS handshake is complete (immediate without TLS).
    virtual void OnOpen() = 0;
    virtual void OnBytes(std::string_view bytes) = 0;
    // Writes up to `room` bytes to `to`; 0: nothing to send now.
    virtual size_t OnOutput(char* to, size_t room) = 0;
    // All output has been written to the kernel. May call Close.
    virtual void OnFlushed() = 0;
    // The peer half-closed. True: output continues until EndOutput or Close; false: the connection
    // is closed.
    virtual bool OnInputEnd() { return false; }
    // The peer closed the connection (OK) or it broke; the last call.
    virtual void OnEnd(const Status& why) = 0;
  };

  // `ssl` null: plain text. It must be in accept or connect state. `tunnel`, if not null, is opened
  // first, and carries everything else.
  Channel(EventLoop& loop, boost::asio::ip::tcp::socket socket, SslPtr ssl, User& user,
          std::unique_ptr<Tunnel> tunnel = nullptr);
  ~Channel() override;

  void Start();
  void Flush() override;
  // While reading is off, the kernel's buffer fills and the peer must wait.
  void SetReading(bool on);
  // Closes gracefully and waits for the peer's close, so that sent data is not lost by a TCP reset;
  // the owner calls Close after a timeout. OnBytes is not called any more.
  void Shutdown();
  // Half-closes the connection when all output has been written to the kernel; input is still
  // received.
  void EndOutput();
  void Close();

  bool open() const { return open_; }
  bool handshaking() const { return state_ == State::kHandshake; }
  bool lingering() const { return state_ == State::kLinger; }
  bool closed() const { return state_ == State::kClosed; }
  // Whether output is waiting for the socket, and since when.
  bool blocked() const { return !unsent_.empty(); }
  Clock::SteadyTime blocked_since() const { return blocked_since_; }
  const TlsEngine* tls() const { return tls_.get(); }
  EventLoop& loop() { return loop_; }

 private:
  enum class State { kHandshake, kOpen, kLinger, kClosed };

  // Opens the channel after the tunnel. False if the channel was closed meanwhile.
  bool Begin();
  void WaitReadable();
  void OnReadable();
  // False if the channel was closed meanwhile.
  bool Take(std::string_view bytes);
  bool TakeTunnel(std::string_view bytes);
  bool TakeTls(std::string_view bytes);
  bool ContinueHandshake(std::string_view* bytes);
  void OnWritable();
  // Sends `bytes`, or keeps what the socket does not accept. False if the channel was closed.
  bool SendBytes(std::string_view bytes);
  // The same for bytes that the tunnel has wrapped.
  bool SendRaw(std::string_view bytes);
  bool SendCipher();
  // True: only the input ended, the connection stays open.
  bool TakeInputEnd();
  void EndSocketOutput();
  void End(const Status& why);

  EventLoop& loop_;
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsEngine> tls_;
  std::unique_ptr<Tunnel> tunnel_;  // null: none, or no longer needed
  User* user_;
  State state_ = State::kHandshake;
  bool open_ = false;
  bool begun_ = false;
  bool reading_ = true;
  bool wait_pending_ = false;
  bool input_ended_ = false;
  bool output_ended_ = false;
  bool flushing_ = false;
  bool receiving_ = false;  // flushes when receiving is done
  std::string unsent_;
  Clock::SteadyTime blocked_since_{};
};

}  // namespace cox::net
