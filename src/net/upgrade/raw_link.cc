// SPDX-License-Identifier: Apache-2.0
#include "net/upgrade/raw_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cox::net {

Result<Bytes> RawCore::Read(const Context& ctx) {
  Bytes bytes;
  bool resume = false;
  {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
      return !inbox_.empty() || peer_ended_ || ended_;
    }));
    if (inbox_.empty()) {
      if (peer_ended_) return Bytes();
      return end_;
    }
    bytes = std::move(inbox_.front());
    inbox_.pop_front();
    inbox_bytes_ -= bytes.size();
    // Resumes at half the window: resuming for every piece would make the peer send small pieces.
    if (paused_ && inbox_bytes_ <= kStreamWindow / 2) {
      paused_ = false;
      resume = true;
    }
  }
  if (resume) Wake();
  return bytes;
}

Status RawCore::Write(const Context& ctx, std::string_view bytes) {
  if (bytes.empty()) return {};
  {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) {
      return outbox_bytes_ < kStreamWindow || ended_ || writing_ended_;
    }));
    if (ended_) return end_;
    if (writing_ended_) return Status::Unavailable("writing was ended before");
    outbox_bytes_ += bytes.size();
    outbox_.emplace_back(bytes);
  }
  Wake();
  return {};
}

void RawCore::EndWriting() {
  {
    MutexLock lock(mu_);
    writing_ended_ = true;
    changed_.NotifyAll();
  }
  Wake();
}

void RawCore::Drop() {
  {
    MutexLock lock(mu_);
    dropped_ = true;
    paused_ = false;
    inbox_.clear();
    inbox_bytes_ = 0;
  }
  Wake();
}

Status RawCore::AwaitSent(const Context& ctx) {
  MutexLock lock(mu_);
  return ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return output_done_ || ended_; });
}

void RawCore::Run() {
  if (link_ != nullptr) link_->on_change_();
}

void RawCore::Deliver(std::string_view bytes) {
  if (bytes.empty()) return;
  MutexLock lock(mu_);
  if (dropped_ || ended_) return;
  inbox_.push_back(Bytes::Copy(bytes));
  inbox_bytes_ += bytes.size();
  if (inbox_bytes_ >= kStreamWindow) paused_ = true;
  changed_.NotifyAll();
}

void RawCore::PeerEnded() {
  MutexLock lock(mu_);
  peer_ended_ = true;
  changed_.NotifyAll();
}

void RawCore::End(const Status& why) {
  MutexLock lock(mu_);
  outbox_.clear();
  outbox_bytes_ = 0;
  if (std::exchange(ended_, true)) return;
  end_ = why;
  changed_.NotifyAll();
}

size_t RawCore::Take(char* to, size_t room) {
  MutexLock lock(mu_);
  size_t used = 0;
  while (!outbox_.empty() && used < room) {
    const std::string& first = outbox_.front();
    const size_t size = std::min(first.size() - sent_, room - used);
    std::memcpy(to + used, first.data() + sent_, size);
    used += size;
    sent_ += size;
    if (sent_ < first.size()) break;
    sent_ = 0;
    outbox_.pop_front();
  }
  if (used > 0) {
    outbox_bytes_ -= std::min(outbox_bytes_, used);
    changed_.NotifyAll();
  }
  return used;
}

RawLink::~RawLink() {
  if (on_change_ != nullptr) core_->link_ = nullptr;
  Fail({});
}

void RawLink::Start(std::function<void()> on_change) {
  on_change_ = std::move(on_change);
  core_->link_ = this;
}

bool RawLink::wants_input() const {
  MutexLock lock(core_->mu_);
  return !core_->paused_;
}

bool RawLink::finished() const {
  MutexLock lock(core_->mu_);
  if (core_->ended_) return true;
  const bool all_sent = core_->writing_ended_ && core_->outbox_.empty();
  return all_sent && (core_->peer_ended_ || core_->dropped_);
}

bool RawLink::aborted() const {
  MutexLock lock(core_->mu_);
  return core_->dropped_ && !core_->writing_ended_;
}

bool RawLink::output_ended() const {
  MutexLock lock(core_->mu_);
  return core_->writing_ended_ && core_->outbox_.empty();
}

void RawLink::OutputDone() {
  MutexLock lock(core_->mu_);
  core_->output_done_ = true;
  core_->changed_.NotifyAll();
}

bool RawLink::InputEnded() {
  core_->PeerEnded();
  return !finished();
}

void RawLink::Fail(const Status& why) {
  core_->End(why.ok() ? Status::Unavailable("the connection was closed") : why);
}

void RawLink::GoAway() {
  core_->End(Status::Unavailable("the server is going away"));
  on_change_();
}

namespace {

class Handle final : public ByteStream {
 public:
  explicit Handle(std::shared_ptr<RawCore> core) : core_(std::move(core)) {}
  ~Handle() override { core_->Drop(); }

  Result<Bytes> Read(const Context& ctx) override { return core_->Read(ctx); }
  Status Write(const Context& ctx, std::string_view bytes) override {
    return core_->Write(ctx, bytes);
  }
  void EndWriting() override { core_->EndWriting(); }

 private:
  const std::shared_ptr<RawCore> core_;
};

}  // namespace

std::unique_ptr<ByteStream> MakeByteStream(std::shared_ptr<RawCore> core) {
  return std::make_unique<Handle>(std::move(core));
}

}  // namespace cox::net
