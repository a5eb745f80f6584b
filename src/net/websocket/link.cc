// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/link.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cox::net {

WebSocketLink::WebSocketLink(std::shared_ptr<WebSocketCore> core)
    : core_(std::move(core)),
      parser_(/*masked=*/!core_->client_, core_->options_.max_message_bytes),
      heard_(core_->loop_->clock().Monotonic()) {}

WebSocketLink::~WebSocketLink() {
  timer_.Cancel();
  if (on_change_ != nullptr) core_->link_ = nullptr;
  Fail({});
}

void WebSocketLink::Start(std::function<void()> on_change) {
  on_change_ = std::move(on_change);
  core_->link_ = this;
  heard_ = core_->loop_->clock().Monotonic();
  ScheduleCheck();
}

void WebSocketLink::Fail(const Status& why) {
  core_->End(why.ok() ? Status::Unavailable("the connection ended without a WebSocket close")
                      : why);
}

void WebSocketLink::GoAway() {
  if (close_ || close_sent_) return;
  close_ = ClosePayload(close_code::kGoingAway, "the server is going away");
  on_change_();
}

bool WebSocketLink::finished() const {
  return given_up_ || (close_sent_ && (close_received_ || violated_));
}

bool WebSocketLink::aborted() const {
  // A pending close frame is still sent.
  return given_up_ || (core_->aborted() && !close_ && !close_received_ && !violated_);
}

void WebSocketLink::OnWake() {
  CheckTime();
  on_change_();
}

void WebSocketLink::Receive(std::string_view bytes) {
  heard_ = core_->loop_->clock().Monotonic();
  pinged_ = {};
  while (!close_received_ && !violated_) {
    switch (parser_.Parse(&bytes)) {
      case FrameParser::Outcome::kMore:
        return ScheduleCheck();
      case FrameParser::Outcome::kMessage:
        core_->Deliver(std::move(parser_.payload));
        break;
      case FrameParser::Outcome::kPing:
        pong_ = std::move(parser_.payload);
        break;
      case FrameParser::Outcome::kPong:
        break;
      case FrameParser::Outcome::kClose:
        close_received_ = true;
        if (!close_sent_) close_ = ClosePayload(parser_.code, {});
        core_->PeerClosed(parser_.code, parser_.reason);
        break;
      case FrameParser::Outcome::kBad: {
        violated_ = true;
        close_ = ClosePayload(parser_.code, parser_.reason);
        const std::string what = "WebSocket: " + parser_.reason;
        core_->End(parser_.code == close_code::kTooBig ? Status::TooLarge(what)
                                                       : Status::BadRequest(what));
        break;
      }
    }
  }
}

bool WebSocketLink::NextFrame() {
  sent_ = 0;
  sending_data_ = false;
  if (close_sent_) return false;  // nothing may follow a close frame
  if (close_) {
    sending_ = core_->Encode(Opcode::kClose, *close_);
    close_sent_ = true;
  } else if (pong_) {
    sending_ = core_->Encode(Opcode::kPong, *std::exchange(pong_, std::nullopt));
  } else if (std::exchange(ping_due_, false)) {
    sending_ = core_->Encode(Opcode::kPing, {});
    // Starts when the ping is sent: a ping queued behind data in a full socket is no evidence of a
    // dead peer.
    pinged_ = core_->loop_->clock().Monotonic();
    ScheduleCheck();
  } else if (auto frame = core_->TakeFrame()) {
    sending_ = std::move(frame->bytes);
    sending_data_ = true;
    close_sent_ = frame->close;
  } else {
    return false;
  }
  return true;
}

// Returns at most one frame, so that each starts a TLS record: some clients (the official Python
// one) wait for the socket to become readable while their TLS library holds the rest of a record.
size_t WebSocketLink::Produce(char* to, size_t room) {
  if (given_up_ || (sending_.empty() && !NextFrame())) return 0;
  const size_t size = std::min(sending_.size() - sent_, room);
  std::memcpy(to, sending_.data() + sent_, size);
  sent_ += size;
  if (sent_ < sending_.size()) return size;
  core_->Sent(sending_data_ ? sending_.size() : 0, close_sent_);
  sending_ = {};
  if (close_sent_ && closed_at_ == Clock::SteadyTime{}) {
    closed_at_ = core_->loop_->clock().Monotonic();
    ScheduleCheck();
  }
  return size;
}

Clock::SteadyTime WebSocketLink::NextDue() const {
  const WebSocketOptions& options = core_->options_;
  if (finished()) return Clock::kNever;
  if (closed_at_ != Clock::SteadyTime{}) return closed_at_ + options.close_timeout;
  if (options.ping_after.count() <= 0 || ping_due_) return Clock::kNever;
  if (was_paused_) return sign_ + options.ping_after / 2;
  if (pinged_ != Clock::SteadyTime{}) return pinged_ + options.ping_after / 2;
  return heard_ + options.ping_after;
}

void WebSocketLink::ScheduleCheck() {
  if (on_change_ == nullptr) return;
  const Clock::SteadyTime now = core_->loop_->clock().Monotonic();
  if (const bool paused = core_->paused(); paused != was_paused_) {
    was_paused_ = paused;
    (paused ? sign_ : heard_) = now;
    pinged_ = {};
  }
  const Clock::SteadyTime due = NextDue();
  if (due >= armed_) return;  // the armed timer reschedules
  armed_ = due;
  timer_ = core_->loop_->clock().After(std::max<Clock::Duration>(due - now, Clock::Duration(0)),
                                       [core = core_] { core->Wake(); });
}

void WebSocketLink::CheckTime() {
  const Clock::SteadyTime now = core_->loop_->clock().Monotonic();
  if (now >= armed_) armed_ = Clock::kNever;
  if (now >= NextDue()) {
    if (closed_at_ != Clock::SteadyTime{}) {
      return CloseWithError("the peer did not answer the close of the WebSocket");
    }
    if (was_paused_) {
      pong_ = std::string();  // unsolicited: one-way heartbeat, RFC 6455 section 5.5.3
      sign_ = now;
    } else if (pinged_ != Clock::SteadyTime{}) {
      return CloseWithError("the peer does not answer pings");
    } else {
      ping_due_ = true;
    }
  }
  ScheduleCheck();
}

void WebSocketLink::CloseWithError(std::string why) {
  given_up_ = true;
  core_->End(Status::Unavailable(std::move(why)));
}

}  // namespace cox::net
