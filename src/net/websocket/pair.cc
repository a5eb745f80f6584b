// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <utility>

#include "base/mutex.h"
#include "net/websocket.h"

namespace cox::net {
namespace {

// The state shared by two in-process ends, 0 and 1.
struct Pipe {
  explicit Pipe(const WebSocketOptions& limits) : options(limits) {}

  const WebSocketOptions options;
  Mutex mu;
  CondVar changed;
  struct End {
    std::deque<Bytes> inbox;
    size_t bytes = 0;
    std::optional<WebSocketClose> closed;  // its close frame
    bool dropped = false;
  };
  End ends[2] COX_GUARDED_BY(mu);
};

class PipeEnd final : public WebSocket {
 public:
  PipeEnd(std::shared_ptr<Pipe> pipe, int side, std::string protocol)
      : pipe_(std::move(pipe)), side_(side), protocol_(std::move(protocol)) {}
  ~PipeEnd() override {
    MutexLock lock(pipe_->mu);
    mine().dropped = true;
    mine().inbox.clear();
    pipe_->changed.NotifyAll();
  }

  const std::string& protocol() const override { return protocol_; }

  Status Send(Context& ctx, std::string_view message) override {
    Bytes copy = Bytes::Copy(message);
    MutexLock lock(pipe_->mu);
    if (copy.size() > pipe_->options.max_message_bytes) {
      return Status::TooLarge("WebSocket: message too big");
    }
    COX_RETURN_IF_ERROR(ctx.Await(pipe_->mu, pipe_->changed, [this]() COX_REQUIRES(pipe_->mu) {
      return theirs().bytes < pipe_->options.window_bytes || !SendError().ok();
    }));
    COX_RETURN_IF_ERROR(SendError());
    theirs().bytes += Weight(copy);
    theirs().inbox.push_back(std::move(copy));
    pipe_->changed.NotifyAll();
    return {};
  }

  Result<std::optional<Bytes>> Receive(Context& ctx) override {
    MutexLock lock(pipe_->mu);
    COX_RETURN_IF_ERROR(ctx.Await(pipe_->mu, pipe_->changed, [this]() COX_REQUIRES(pipe_->mu) {
      return !mine().inbox.empty() || !SendError().ok();
    }));
    if (mine().inbox.empty()) {
      if (ReceivedClose()) return std::optional<Bytes>();
      return SendError();
    }
    Bytes message = std::move(mine().inbox.front());
    mine().inbox.pop_front();
    mine().bytes -= Weight(message);
    pipe_->changed.NotifyAll();
    return std::optional<Bytes>(std::move(message));
  }

  std::optional<WebSocketClose> closed() const override {
    MutexLock lock(pipe_->mu);
    return ReceivedClose();
  }

  // Does not wait, because the close cannot get lost in-process.
  Status Close(Context&, int code, std::string_view reason) override {
    MutexLock lock(pipe_->mu);
    if (!ReceivedClose() && theirs().dropped) return SendError();
    if (!mine().closed) mine().closed = WebSocketClose{code, std::string(reason)};
    mine().inbox.clear();
    mine().bytes = 0;
    pipe_->changed.NotifyAll();
    return {};
  }

 private:
  // Empty messages use memory, too.
  static size_t Weight(const Bytes& message) { return message.size() + sizeof(Bytes); }

  Pipe::End& mine() const COX_REQUIRES(pipe_->mu) { return pipe_->ends[side_]; }
  Pipe::End& theirs() const COX_REQUIRES(pipe_->mu) { return pipe_->ends[1 - side_]; }
  // The peer's close, or its echo of this end's.
  std::optional<WebSocketClose> ReceivedClose() const COX_REQUIRES(pipe_->mu) {
    if (theirs().closed) return theirs().closed;
    if (mine().closed) return WebSocketClose{mine().closed->code, ""};
    return std::nullopt;
  }
  Status SendError() const COX_REQUIRES(pipe_->mu) {
    if (mine().closed) return Status::Unavailable("the WebSocket is closed");
    if (theirs().closed) return Status::Unavailable("the peer has closed the WebSocket");
    if (theirs().dropped) return Status::Unavailable("the peer has dropped the WebSocket");
    return {};
  }

  const std::shared_ptr<Pipe> pipe_;
  const int side_;
  const std::string protocol_;
};

}  // namespace

std::pair<std::unique_ptr<WebSocket>, std::unique_ptr<WebSocket>> MakeWebSocketPair(
    const std::string& protocol, const WebSocketOptions& options) {
  auto pipe = std::make_shared<Pipe>(options);
  return {std::make_unique<PipeEnd>(pipe, 0, protocol),
          std::make_unique<PipeEnd>(pipe, 1, protocol)};
}

}  // namespace cox::net
