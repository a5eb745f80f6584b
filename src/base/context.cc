// SPDX-License-Identifier: Apache-2.0
#include "base/context.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace cox {
namespace internal {

// The cancellation state of a context: one node of the tree, with a pointer to its parent.
class StopState : public std::enable_shared_from_this<StopState> {
 public:
  StopState(Clock& clock, std::shared_ptr<StopState> parent, Clock::SteadyTime deadline)
      : clock_(clock), parent_(std::move(parent)), deadline_(deadline) {}

  // Second phase of construction: the callbacks need weak_from_this().
  void Start() {
    const bool earlier_than_parent = parent_ == nullptr || deadline_ < parent_->deadline_;
    if (earlier_than_parent && deadline_ != Clock::kNever) {
      const auto now = clock_.Monotonic();
      if (deadline_ <= now) {
        Stop(Context::DeadlineExceeded());
      } else {
        timer_ =
            clock_.After(deadline_ - now, [this] { StopIfAlive(Context::DeadlineExceeded()); });
      }
    }
    if (parent_ != nullptr) {
      on_parent_.emplace(parent_->source_.get_token(), [this] { StopIfAlive(parent_->status()); });
    }
  }

  void Stop(Status why) {
    {
      MutexLock lock(mu_);
      if (!why_.ok()) return;
      why_ = std::move(why);
    }
    source_.request_stop();  // after the reason is set, which woken threads read
  }

  Status status() const {
    if (!source_.stop_requested()) return {};
    MutexLock lock(mu_);
    return why_;
  }

  Clock& clock() const { return clock_; }
  Clock::SteadyTime deadline() const { return deadline_; }
  std::stop_token token() const { return source_.get_token(); }

 private:
  // For callbacks: the last handle to the state may be released concurrently, or by a callback
  // while Stop() runs.
  void StopIfAlive(const Status& why) {
    if (const auto self = weak_from_this().lock()) self->Stop(why);
  }

  Clock& clock_;
  const std::shared_ptr<StopState> parent_;
  const Clock::SteadyTime deadline_;
  std::stop_source source_;
  mutable Mutex mu_;
  Status why_ COX_GUARDED_BY(mu_);
  // Last, so that their callbacks end before the members they use are destroyed.
  Timer timer_;
  std::optional<std::stop_callback<std::function<void()>>> on_parent_;
};

struct ContextInfo {
  Logger logger;
  std::map<std::string, std::string, std::less<>> values;
};

namespace {

std::shared_ptr<StopState> MakeState(Clock& clock, std::shared_ptr<StopState> parent,
                                     Clock::SteadyTime deadline) {
  auto state = std::make_shared<StopState>(clock, std::move(parent), deadline);
  state->Start();
  return state;
}

}  // namespace
}  // namespace internal

using internal::ContextInfo;
using internal::MakeState;

Status Context::Canceled() { return Status::Unavailable("context canceled"); }
Status Context::DeadlineExceeded() { return Status::Timeout("context deadline exceeded"); }

Context::Context(Clock& clock, Logger logger)
    : Context(MakeState(clock, nullptr, Clock::kNever),
              std::make_shared<const ContextInfo>(ContextInfo{std::move(logger), {}})) {}

Context::Context(std::shared_ptr<internal::StopState> state,
                 std::shared_ptr<const ContextInfo> info)
    : state_(std::move(state)), info_(std::move(info)), token_(state_->token()) {}

Context Context::Child() const { return {MakeState(clock(), state_, deadline()), info_}; }

Context Context::WithDeadline(Clock::SteadyTime deadline) const {
  return {MakeState(clock(), state_, std::min(deadline, this->deadline())), info_};
}

Context Context::WithTimeout(Duration timeout) const { return WithDeadline(clock().In(timeout)); }

Context Context::WithValue(std::string_view key, std::string_view value) const {
  ContextInfo info = *info_;
  info.logger = info.logger.With({{key, value}});
  info.values.insert_or_assign(std::string(key), std::string(value));
  return {state_, std::make_shared<const ContextInfo>(std::move(info))};
}

Context Context::WithLogger(Logger logger) const {
  ContextInfo info{std::move(logger), info_->values};
  for (const auto& [key, value] : info.values) info.logger = info.logger.With({{key, value}});
  return {state_, std::make_shared<const ContextInfo>(std::move(info))};
}

void Context::Stop(Status why) {
  COX_CHECK(!why.ok()) << "a context stops for a reason";
  // Callbacks may destroy the caller's handle.
  const auto state = state_;
  state->Stop(std::move(why));
}

Status Context::status() const { return state_->status(); }
Clock::SteadyTime Context::deadline() const { return state_->deadline(); }
Clock& Context::clock() const { return state_->clock(); }
const Logger& Context::log() const { return info_->logger; }

std::string_view Context::Value(std::string_view key) const {
  const auto found = info_->values.find(key);
  return found == info_->values.end() ? std::string_view() : found->second;
}

Status Context::Sleep(Duration duration) const {
  if (Done() || duration <= Duration::zero()) return status();
  Waiter waiter;
  const std::stop_callback wake(token_, [&] { waiter.Wake(WakeCause::kStopped); });
  const WakeCause cause = clock().Park(waiter, clock().In(duration));
  return cause == WakeCause::kStopped ? status() : Status();
}

StopHandle Context::OnStop(std::function<void()> callback) const {
  StopHandle handle;
  handle.state_ = state_;
  handle.callback_ = std::make_unique<StopHandle::Callback>(token_, std::move(callback));
  return handle;
}

}  // namespace cox
