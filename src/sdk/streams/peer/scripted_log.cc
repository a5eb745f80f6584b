// SPDX-License-Identifier: Apache-2.0
#include "sdk/streams/peer/scripted_log.h"

#include <algorithm>
#include <utility>

namespace cox::sdk {
namespace {

// The kubelet's format; all lines have the same time.
constexpr std::string_view kStamp = "2026-01-02T03:04:05.000000006Z ";

}  // namespace

class ScriptedLog::Source final : public net::BodySource {
 public:
  Source(std::shared_ptr<ScriptedLog> log, const LogRequest& request, size_t first)
      : log_(std::move(log)), request_(request), next_(first) {}

  State Pull(size_t budget, std::vector<Bytes>* out) override {
    MutexLock lock(log_->mu_);
    std::string text;
    while (next_ < log_->lines_.size() && text.size() < budget) {
      if (request_.timestamps) text += kStamp;
      text += log_->lines_[next_++];
      text += '\n';
    }
    if (request_.limit_bytes) {
      text.resize(std::min(text.size(), *request_.limit_bytes - given_));
      given_ += text.size();
    }
    if (!text.empty()) out->push_back(Bytes(std::move(text)));
    if (request_.limit_bytes && given_ == *request_.limit_bytes) return State::kEnd;
    if (next_ < log_->lines_.size()) return State::kMore;
    return log_->ended_ || !request_.follow ? State::kEnd : State::kWait;
  }

 private:
  const std::shared_ptr<ScriptedLog> log_;
  const LogRequest request_;
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

std::unique_ptr<net::BodySource> ScriptedLog::Read(const LogRequest& request) {
  MutexLock lock(mu_);
  const size_t tail = std::min(request.tail_lines.value_or(lines_.size()), lines_.size());
  return std::make_unique<Source>(shared_from_this(), request, lines_.size() - tail);
}

void ScriptedLog::AddWaker(std::shared_ptr<net::Waker> waker) {
  waker->Wake();
  MutexLock lock(mu_);
  wakers_.push_back(std::move(waker));
}

}  // namespace cox::sdk
