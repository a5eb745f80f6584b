// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "net/io/event_loop.h"
#include "net/io/link.h"
#include "net/websocket.h"
#include "net/websocket/frame.h"

namespace cox::net {

class WebSocketLink;

// The state of a WebSocket, shared by its user on any thread and its link on the loop: received
// messages, frames to send, and the final status. It outlives both.
class WebSocketCore final : public LoopTask {
 public:
  WebSocketCore(std::shared_ptr<EventLoop> loop, const WebSocketOptions& options, bool client)
      : options_(options), client_(client), loop_(std::move(loop)) {}

  // The user's side; see WebSocket.
  Status Send(Context& ctx, std::string_view message);
  Result<std::optional<Bytes>> Receive(Context& ctx);
  Status Close(Context& ctx, int code, std::string_view reason);
  std::optional<WebSocketClose> closed() const;
  void Abort();

 private:
  friend class WebSocketLink;
  struct Frame {
    std::string bytes;
    bool close = false;
  };

  void Run() override;
  std::string Encode(Opcode opcode, std::string_view payload) const;
  void Wake() { loop_->Enqueue(shared_from_this()); }
  // The reason why nothing can be sent any more.
  Status SendError() const COX_REQUIRES(mu_);

  // The link's side.
  void Deliver(std::string message);
  void PeerClosed(int code, std::string reason);
  void End(const Status& why);
  // The user's next frame; nullopt if there is none.
  std::optional<Frame> TakeFrame();
  void Sent(size_t bytes, bool close_frame);
  bool paused() const;
  bool aborted() const;

  const WebSocketOptions options_;
  const bool client_;
  const std::shared_ptr<EventLoop> loop_;
  WebSocketLink* link_ = nullptr;  // loop thread only
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Bytes> inbox_ COX_GUARDED_BY(mu_);
  size_t inbox_bytes_ COX_GUARDED_BY(mu_) = 0;
  bool paused_ COX_GUARDED_BY(mu_) = false;  // the user reads too slowly: stop input
  std::deque<Frame> outbox_ COX_GUARDED_BY(mu_);
  size_t outbox_bytes_ COX_GUARDED_BY(mu_) = 0;  // includes the frame being sent
  bool closing_ COX_GUARDED_BY(mu_) = false;     // Close was called
  bool aborted_ COX_GUARDED_BY(mu_) = false;
  bool close_frame_sent_ COX_GUARDED_BY(mu_) = false;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  Status end_ COX_GUARDED_BY(mu_);
  std::optional<WebSocketClose> peer_close_ COX_GUARDED_BY(mu_);
};

// The protocol: parses and writes frames, pings, closes; without the socket.
//
// Threads: loop thread only, after Start. Destruction ends the core, if it has not ended yet.
class WebSocketLink final : public Link {
 public:
  explicit WebSocketLink(std::shared_ptr<WebSocketCore> core);
  ~WebSocketLink() override;
  WebSocketLink(const WebSocketLink&) = delete;
  WebSocketLink& operator=(const WebSocketLink&) = delete;

  void Start(std::function<void()> on_change) override;
  void Receive(std::string_view bytes) override;
  size_t Produce(char* to, size_t room) override;
  bool wants_input() const override { return close_received_ || !core_->paused(); }
  bool finished() const override;
  bool aborted() const override;
  bool patient() const override { return !close_.has_value() && !close_sent_; }
  void Fail(const Status& why) override;
  // Closes with 1001.
  void GoAway() override;

 private:
  friend class WebSocketCore;

  void OnWake();
  bool NextFrame();
  Clock::SteadyTime NextDue() const;
  void ScheduleCheck();
  void CheckTime();
  void CloseWithError(std::string why);

  const std::shared_ptr<WebSocketCore> core_;
  std::function<void()> on_change_;
  FrameParser parser_;
  // Control frames of the protocol itself, sent between the user's frames.
  std::optional<std::string> pong_;  // only the newest: a flood of pings gets one pong
  bool ping_due_ = false;
  std::optional<std::string> close_;
  std::string sending_;
  size_t sent_ = 0;
  bool sending_data_ = false;  // sending_ counts against the window
  bool violated_ = false;
  bool given_up_ = false;
  bool close_sent_ = false;
  bool close_received_ = false;
  bool was_paused_ = false;
  Clock::SteadyTime heard_;        // when bytes last arrived
  Clock::SteadyTime sign_{};       // last unsolicited pong while paused
  Clock::SteadyTime pinged_{};     // zero: no ping is unanswered
  Clock::SteadyTime closed_at_{};  // when the close frame was sent
  Clock::SteadyTime armed_ = Clock::kNever;
  Timer timer_;
};

// The user's handle for a core: destruction aborts the connection.
std::unique_ptr<WebSocket> MakeWebSocket(std::shared_ptr<WebSocketCore> core, std::string protocol);

}  // namespace cox::net
