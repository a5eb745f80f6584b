// SPDX-License-Identifier: Apache-2.0
#include "sdk/streams/peer/scripted_log.h"

#include <algorithm>
#include <utility>

namespace cox::sdk {
namespace {

// As the kubelet writes them; all lines are of the same moment.
constexpr std::string_view kStamp = "2026-01-02T03:04:05.000000006Z ";

}  // namespace

class ScriptedLog::Source final : public net::BodySource {
 public:
  Source(std::shared_ptr<ScriptedLog> log, const Wish& wish, size_t first)
      : log_(std::move(log)), wish_(wish), next_(first) {}

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    MutexLock lock(log_->mu_);
    std::string text;
    while (next_ < log_->lines_.size() && text.size() < budget) {
      if (wish_.timestamps) text += kStamp;
      text += log_->lines_[next_++];
      text += '\n';
    }
    if (wish_.limit_bytes) {
      text.resize(std::min(text.size(), *wish_.limit_bytes - given_));
      given_ += text.size();
    }
    if (!text.empty()) out->push_back(Bytes(std::move(text)));
    if (wish_.limit_bytes && given_ == *wish_.limit_bytes) return State::kEnd;
    if (next_ < log_->lines_.size()) return State::kMore;
    return log_->ended_ || !wish_.follow ? State::kEnd : State::kWait;
  }

 private:
  const std::shared_ptr<ScriptedLog> log_;
  const Wish wish_;
  size_t next_;
  size_t given_ = 0;
};

void ScriptedLog::Append(std::string line) {
  MutexLock lock(mu_);
  lines_.push_back(std::move(line));
  for (const auto& waker : wakers_) waker->Wake();
}

void ScriptedLog::End() {
  MutexLock lock(mu_);
  ended_ = true;
  for (const auto& waker : wakers_) waker->Wake();
}

std::unique_ptr<net::BodySource> ScriptedLog::Read(const Wish& wish) {
  MutexLock lock(mu_);
  const size_t tail = std::min(wish.tail_lines.value_or(lines_.size()), lines_.size());
  return std::make_unique<Source>(shared_from_this(), wish, lines_.size() - tail);
}

void ScriptedLog::AddWaker(std::shared_ptr<net::Waker> waker) {
  waker->Wake();
  MutexLock lock(mu_);
  wakers_.push_back(std::move(waker));
}

}  // namespace cox::sdk
