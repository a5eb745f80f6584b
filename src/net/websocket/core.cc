// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "net/websocket/link.h"

namespace cox::net {

std::string WebSocketCore::Encode(Opcode opcode, std::string_view payload) const {
  std::string frame;
  if (!client_) {
    AppendFrame(opcode, payload, nullptr, &frame);
    return frame;
  }
  // A new mask for each frame, so that an attacker that controls the payload does not control the
  // bytes on the wire (RFC 6455, section 10.3).
  std::array<uint8_t, 4> mask{};
  COX_CHECK(RAND_bytes(mask.data(), static_cast<int>(mask.size())) == 1) << "no randomness";
  AppendFrame(opcode, payload, &mask, &frame);
  return frame;
}

Status WebSocketCore::SendError() const {
  if (closing_) return Status::Unavailable("the WebSocket is closed");
  if (peer_close_) return Status::Unavailable("the peer has closed the WebSocket");
  return ended_ ? end_ : Status();
}

Status WebSocketCore::Send(Context& ctx, std::string_view message) {
  std::string frame = Encode(Opcode::kBinary, message);
  {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
      return outbox_bytes_ < options_.window_bytes || !SendError().ok();
    }));
    COX_RETURN_IF_ERROR(SendError());
    outbox_bytes_ += frame.size();
    outbox_.push_back({std::move(frame), false});
  }
  Wake();
  return {};
}

Result<std::optional<Bytes>> WebSocketCore::Receive(Context& ctx) {
  Bytes message;
  bool resume = false;
  {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
      return !inbox_.empty() || peer_close_.has_value() || ended_;
    }));
    if (inbox_.empty()) {
      if (peer_close_) return std::optional<Bytes>();
      return end_;
    }
    message = std::move(inbox_.front());
    inbox_.pop_front();
    inbox_bytes_ -= message.size();
    // Resumes at half the window: resuming for every message would make the peer send small pieces.
    if (paused_ && inbox_bytes_ <= options_.window_bytes / 2) {
      paused_ = false;
      resume = true;
    }
  }
  if (resume) Wake();
  return std::optional<Bytes>(std::move(message));
}

Status WebSocketCore::Close(Context& ctx, int code, std::string_view reason) {
  MutexLock lock(mu_);
  if (!std::exchange(closing_, true)) {
    std::string frame = Encode(Opcode::kClose, ClosePayload(code, reason));
    outbox_bytes_ += frame.size();
    outbox_.push_back({std::move(frame), true});
    inbox_.clear();
    inbox_bytes_ = 0;
    paused_ = false;
    changed_.NotifyAll();
  }
  Wake();
  COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
    return ended_ || (peer_close_.has_value() && close_frame_sent_);
  }));
  return peer_close_ ? Status() : end_;
}

std::optional<WebSocketClose> WebSocketCore::closed() const {
  MutexLock lock(mu_);
  return peer_close_;
}

void WebSocketCore::Abort() {
  {
    MutexLock lock(mu_);
    aborted_ = true;
    paused_ = false;
    inbox_.clear();
    inbox_bytes_ = 0;
  }
  End(Status::Unavailable("the WebSocket was dropped"));
  Wake();
}

void WebSocketCore::Run() {
  if (link_ != nullptr) link_->OnWake();
}

void WebSocketCore::Deliver(std::string message) {
  Bytes bytes(std::move(message));
  MutexLock lock(mu_);
  if (closing_ || ended_) return;
  inbox_bytes_ += bytes.size();
  inbox_.push_back(std::move(bytes));
  // Empty messages use memory, too.
  if (inbox_bytes_ + inbox_.size() * sizeof(Bytes) >= options_.window_bytes) paused_ = true;
  changed_.NotifyAll();
}

void WebSocketCore::PeerClosed(int code, std::string reason) {
  MutexLock lock(mu_);
  if (ended_ || peer_close_) return;
  peer_close_ = WebSocketClose{code, std::move(reason)};
  changed_.NotifyAll();
}

void WebSocketCore::End(const Status& why) {
  MutexLock lock(mu_);
  outbox_.clear();
  outbox_bytes_ = 0;
  if (std::exchange(ended_, true)) return;
  end_ = why;
  changed_.NotifyAll();
}

std::optional<WebSocketCore::Frame> WebSocketCore::TakeFrame() {
  MutexLock lock(mu_);
  if (outbox_.empty()) return std::nullopt;
  Frame frame = std::move(outbox_.front());
  outbox_.pop_front();
  return frame;
}

void WebSocketCore::Sent(size_t bytes, bool close_frame) {
  MutexLock lock(mu_);
  outbox_bytes_ -= std::min(outbox_bytes_, bytes);
  if (close_frame) close_frame_sent_ = true;
  changed_.NotifyAll();
}

bool WebSocketCore::paused() const {
  MutexLock lock(mu_);
  return paused_;
}

bool WebSocketCore::aborted() const {
  MutexLock lock(mu_);
  return aborted_;
}

namespace {

class Handle final : public WebSocket {
 public:
  Handle(std::shared_ptr<WebSocketCore> core, std::string protocol)
      : core_(std::move(core)), protocol_(std::move(protocol)) {}
  ~Handle() override { core_->Abort(); }

  const std::string& protocol() const override { return protocol_; }
  Status Send(Context& ctx, std::string_view message) override { return core_->Send(ctx, message); }
  Result<std::optional<Bytes>> Receive(Context& ctx) override { return core_->Receive(ctx); }
  std::optional<WebSocketClose> closed() const override { return core_->closed(); }
  Status Close(Context& ctx, int code, std::string_view reason) override {
    return core_->Close(ctx, code, reason);
  }

 private:
  const std::shared_ptr<WebSocketCore> core_;
  const std::string protocol_;
};

}  // namespace

std::unique_ptr<WebSocket> MakeWebSocket(std::shared_ptr<WebSocketCore> core,
                                         std::string protocol) {
  return std::make_unique<Handle>(std::move(core), std::move(protocol));
}

}  // namespace cox::net
