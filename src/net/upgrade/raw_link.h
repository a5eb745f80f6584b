// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "net/byte_stream.h"
#include "net/io/event_loop.h"
#include "net/io/link.h"

namespace cox::net {

class RawLink;

// The state of a byte stream, shared by its user on any thread and its link on the loop: received
// and unread bytes, bytes to send, and the final status. It outlives both.
class RawCore final : public LoopTask {
 public:
  explicit RawCore(std::shared_ptr<EventLoop> loop) : loop_(std::move(loop)) {}

  // The user's side; see ByteStream.
  Result<Bytes> Read(const Context& ctx);
  Status Write(const Context& ctx, std::string_view bytes);
  void EndWriting();
  void Drop();
  // Waits until all output before EndWriting has been written to the kernel, or the stream has
  // ended.
  Status AwaitSent(const Context& ctx);

 private:
  friend class RawLink;

  void Run() override;
  void Wake() { loop_->Enqueue(shared_from_this()); }

  // The link's side.
  void Deliver(std::string_view bytes);
  void PeerEnded();
  void End(const Status& why);
  size_t Take(char* to, size_t room);

  const std::shared_ptr<EventLoop> loop_;
  RawLink* link_ = nullptr;  // loop thread only
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Bytes> inbox_ COX_GUARDED_BY(mu_);
  size_t inbox_bytes_ COX_GUARDED_BY(mu_) = 0;
  bool paused_ COX_GUARDED_BY(mu_) = false;  // the user reads too slowly: stop input
  std::deque<std::string> outbox_ COX_GUARDED_BY(mu_);
  size_t outbox_bytes_ COX_GUARDED_BY(mu_) = 0;
  size_t sent_ COX_GUARDED_BY(mu_) = 0;             // bytes of the first outbox entry
  bool writing_ended_ COX_GUARDED_BY(mu_) = false;  // EndWriting was called
  bool output_done_ COX_GUARDED_BY(mu_) = false;    // and all output is written to the kernel
  bool dropped_ COX_GUARDED_BY(mu_) = false;
  bool peer_ended_ COX_GUARDED_BY(mu_) = false;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  Status end_ COX_GUARDED_BY(mu_);
};

class RawLink final : public Link {
 public:
  explicit RawLink(std::shared_ptr<RawCore> core) : core_(std::move(core)) {}
  ~RawLink() override;

  void Start(std::function<void()> on_change) override;
  void Receive(std::string_view bytes) override { core_->Deliver(bytes); }
  size_t Produce(char* to, size_t room) override { return core_->Take(to, room); }
  bool wants_input() const override;
  bool finished() const override;
  bool aborted() const override;
  bool patient() const override { return true; }
  bool InputEnded() override;
  bool output_ended() const override;
  void OutputDone() override;
  void Fail(const Status& why) override;
  void GoAway() override;

 private:
  friend class RawCore;
  const std::shared_ptr<RawCore> core_;
  std::function<void()> on_change_;
};

// The user's handle for a core.
std::unique_ptr<ByteStream> MakeByteStream(std::shared_ptr<RawCore> core);

}  // namespace cox::net
