// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace cox::runtime {
namespace {

// Waits for the result of an asynchronous call.
template <class T>
class Waiter {
 public:
  void Set(T value) {
    MutexLock lock(mu_);
    value_ = std::move(value);
    changed_.NotifyAll();
  }
  // The call ends when its context stops, so this wait has no limit of its own.
  T Wait() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() COX_REQUIRES(mu_) { return value_.has_value(); });
    return *std::move(value_);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::optional<T> value_ COX_GUARDED_BY(mu_);
};

}  // namespace

Status Runtime::StopContainer(const Context& ctx, const std::string& id,
                              std::chrono::seconds grace) {
  const auto waiter = std::make_shared<Waiter<Status>>();
  StopContainerAsync(ctx, id, grace, [waiter](Status status) { waiter->Set(std::move(status)); });
  return waiter->Wait();
}

Result<ExecResult> Runtime::Exec(const Context& ctx, const std::string& id,
                                 const List<std::string>& command, std::chrono::seconds timeout) {
  const auto waiter = std::make_shared<Waiter<Result<ExecResult>>>();
  ExecAsync(ctx, id, command, timeout,
            [waiter](Result<ExecResult> result) { waiter->Set(std::move(result)); });
  return waiter->Wait();
}

}  // namespace cox::runtime
