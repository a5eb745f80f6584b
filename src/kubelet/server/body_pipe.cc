// SPDX-License-Identifier: Apache-2.0
#include "kubelet/server/body_pipe.h"

#include <utility>

namespace cox::kubelet {
namespace {

constexpr size_t kWindow = size_t{256} * 1024;

}  // namespace

struct BodyPipe::Shared {
  Mutex mu;
  CondVar changed;
  std::deque<Bytes> pieces COX_GUARDED_BY(mu);
  size_t size COX_GUARDED_BY(mu) = 0;
  bool ended COX_GUARDED_BY(mu) = false;
  bool gone COX_GUARDED_BY(mu) = false;  // the reader was destroyed
  std::shared_ptr<net::Waker> waker COX_GUARDED_BY(mu);
};

class BodyPipe::PipeSource final : public net::BodySource {
 public:
  explicit PipeSource(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~PipeSource() override {
    MutexLock lock(shared_->mu);
    shared_->gone = true;
    shared_->pieces.clear();
    shared_->changed.NotifyAll();
  }

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    MutexLock lock(shared_->mu);
    size_t given = 0;
    while (!shared_->pieces.empty() && given < budget) {
      given += shared_->pieces.front().view().size();
      out->push_back(std::move(shared_->pieces.front()));
      shared_->pieces.pop_front();
    }
    shared_->size -= given;
    if (given > 0) shared_->changed.NotifyAll();
    if (!shared_->pieces.empty()) return State::kMore;
    return shared_->ended ? State::kEnd : State::kWait;
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

BodyPipe::BodyPipe() : shared_(std::make_shared<Shared>()) {}
BodyPipe::~BodyPipe() { End(); }

std::unique_ptr<net::BodySource> BodyPipe::Source() {
  return std::make_unique<PipeSource>(shared_);
}

void BodyPipe::SetWaker(std::shared_ptr<net::Waker> waker) {
  {
    MutexLock lock(shared_->mu);
    shared_->waker = waker;
  }
  waker->Wake();
}

Status BodyPipe::Write(const Context& ctx, std::string bytes) {
  if (bytes.empty()) return {};
  std::shared_ptr<net::Waker> waker;
  {
    MutexLock lock(shared_->mu);
    COX_RETURN_IF_ERROR(ctx.Await(
        shared_->mu, shared_->changed,
        [this]() COX_REQUIRES(shared_->mu) { return shared_->gone || shared_->size < kWindow; }));
    if (shared_->gone) return Status::Unavailable("nobody reads any more");
    shared_->size += bytes.size();
    shared_->pieces.emplace_back(std::move(bytes));
    waker = shared_->waker;
  }
  if (waker != nullptr) waker->Wake();
  return {};
}

void BodyPipe::End() {
  std::shared_ptr<net::Waker> waker;
  {
    MutexLock lock(shared_->mu);
    shared_->ended = true;
    waker = shared_->waker;
  }
  if (waker != nullptr) waker->Wake();
}

}  // namespace cox::kubelet
