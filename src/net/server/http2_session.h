// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/io/http2_output.h"
#include "net/server/exchange.h"
#include "net/server/flood_guard.h"
#include "net/server/outgoing_body.h"
#include "net/server/session.h"

namespace cox::net {

// The server side of an HTTP/2 connection.
//
// Enforces these limits in addition to nghttp2's: header list size (431), request bodies (see
//   server.h), requests whose handler still runs although their stream was reset (REFUSED_STREAM
//   from max_streams on), resets, pings, settings and empty frames per second (GOAWAY with
//   ENHANCE_YOUR_CALM), and the time to receive a request and to send a response.
// A response with `connection: close` ends the connection gracefully, as in HTTP/1.1.
class Http2Session final : public Session {
 public:
  Http2Session(const SessionShared& shared, std::shared_ptr<const Peer> peer, Host& host);
  ~Http2Session() override;

  void Receive(std::string_view bytes) override;
  size_t Produce(char* to, size_t room) override;
  bool finished() const override;
  void CheckTime(Clock::SteadyTime now) override;
  void Drain() override;
  void StopStreams() override;

 private:
  class Stream;
  struct Callbacks;  // nghttp2's, see http2_callbacks.cc
  enum class Draining { kNo, kNotice, kFinal };

  Stream* Find(int32_t id);
  // Each returns the result of the nghttp2 callback.
  int OnBeginRequest(int32_t id);
  int OnHeader(Stream& stream, std::string_view name, std::string_view value);
  void OnHeadersComplete(Stream& stream, bool end_of_stream);
  // Calls accepts_body for requests whose headers have just arrived without the whole body.
  void CheckHeaders();
  int OnData(Stream& stream, std::string_view bytes);
  int OnControlFrame(const nghttp2_frame& frame);
  void OnStreamClosed(int32_t id);
  ssize_t ReadBody(Stream& stream, size_t length, uint32_t* flags);
  int WriteData(Stream& stream, const uint8_t* frame_header, size_t length);
  void AfterLastFrame(int32_t id);

  void Dispatch(Stream& stream);
  void SubmitResponse(Stream& stream, Answer answer);
  void Reset(int32_t id, uint32_t error);
  // Ends the connection: GOAWAY with `error`.
  void Terminate(uint32_t error);
  void SendFinalGoAway();

  const SessionShared& shared_;
  const std::shared_ptr<const Peer> peer_;
  Host& host_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, std::unique_ptr<Stream>> streams_;
  std::vector<int32_t> unchecked_;  // for CheckHeaders
  const InFlight in_flight_;
  FloodGuard guard_;
  bool failed_ = false;
  bool busy_ = false;  // inside Receive or Produce: their caller checks for output
  Draining draining_ = Draining::kNo;
  bool settings_seen_ = false;
  Clock::SteadyTime now_;
  Clock::SteadyTime started_;
  Clock::SteadyTime idle_since_;
  Clock::SteadyTime headers_since_{};  // start of an incomplete header block
  Clock::SteadyTime drain_since_{};
  Http2Output output_;
};

}  // namespace cox::net
