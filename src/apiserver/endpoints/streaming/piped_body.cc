// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/piped_body.h"

#include <utility>

namespace cox::apiserver {

class PipedBody::Source final : public net::BodySource {
 public:
  explicit Source(std::shared_ptr<PipedBody> body) : body_(std::move(body)) {}
  ~Source() override { body_->CloseReader(); }

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    MutexLock lock(body_->mu_);
    size_t taken = 0;
    while (!body_->waiting_.empty() && taken < budget) {
      taken += body_->waiting_.front().size();
      out->push_back(std::move(body_->waiting_.front()));
      body_->waiting_.pop_front();
    }
    body_->bytes_ -= taken;
    body_->changed_.NotifyAll();
    if (!body_->waiting_.empty()) return State::kMore;
    return body_->ended_ ? State::kEnd : State::kWait;
  }

 private:
  const std::shared_ptr<PipedBody> body_;
};

std::unique_ptr<net::BodySource> PipedBody::MakeSource() {
  return std::make_unique<Source>(shared_from_this());
}

Status PipedBody::Write(const Context& ctx, Bytes bytes) {
  {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(
        mu_, changed_, [this]() COX_REQUIRES(mu_) { return bytes_ < kWindow || reader_closed_; }));
    if (reader_closed_) return Status::Unavailable("nobody reads any more");
    bytes_ += bytes.size();
    waiting_.push_back(std::move(bytes));
  }
  if (waker_ != nullptr) waker_->Wake();
  return {};
}

void PipedBody::End() {
  {
    MutexLock lock(mu_);
    ended_ = true;
  }
  if (waker_ != nullptr) waker_->Wake();
}

void PipedBody::StopOnReaderClosed(const Context& ctx) {
  Context mine = ctx;
  {
    MutexLock lock(mu_);
    if (!reader_closed_) return stopped_.push_back(ctx);
  }
  mine.Stop();
}

void PipedBody::CloseReader() {
  std::vector<Context> stopped;
  {
    MutexLock lock(mu_);
    reader_closed_ = true;
    waiting_.clear();
    bytes_ = 0;
    stopped.swap(stopped_);
    changed_.NotifyAll();
  }
  for (Context& ctx : stopped) ctx.Stop();
}

}  // namespace cox::apiserver
