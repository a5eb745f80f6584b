// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/runnable_group.h"

#include <exception>

namespace cox::sdk {
namespace {

Status Guarded(const Runnable& runnable, Context& ctx) {
  try {
    return runnable(ctx);
  } catch (const std::exception& exception) {
    return Status::Internal(std::string("an exception escaped: ") + exception.what());
  } catch (...) {
    return Status::Internal("an exception of an unknown type escaped");
  }
}

}  // namespace

RunnableGroup::RunnableGroup(std::string name, std::function<void(Status)> on_error)
    : name_(std::move(name)), on_error_(std::move(on_error)) {}

Status RunnableGroup::Add(std::string name, Runnable runnable) {
  MutexLock lock(mu_);
  if (stopped_) return Status::Unavailable("the manager has stopped");
  if (scope_ != nullptr) return Go(*scope_, std::move(name), std::move(runnable));
  pending_.emplace_back(std::move(name), std::move(runnable));
  return {};
}

Status RunnableGroup::Start(const Context& ctx) {
  MutexLock lock(mu_);
  if (stopped_) return Status::Unavailable("the manager has stopped");
  scope_ = std::make_unique<Scope>(ctx, name_);
  for (auto& [name, runnable] : std::exchange(pending_, {})) {
    COX_RETURN_IF_ERROR(Go(*scope_, std::move(name), std::move(runnable)));
  }
  return {};
}

Status RunnableGroup::Go(Scope& scope, std::string name, Runnable runnable) {
  std::string thread = name;
  return scope.Go(std::move(thread),
                  [this, name = std::move(name), runnable = std::move(runnable)](Context& ctx) {
                    const Status status = Guarded(runnable, ctx);
                    if (!status.ok() && !ctx.Done()) on_error_(status.WithContext(name));
                  });
}

Status RunnableGroup::Stop(const Context& limit) {
  Scope* scope = nullptr;
  {
    MutexLock lock(mu_);
    stopped_ = true;
    pending_.clear();
    scope = scope_.get();
  }
  if (scope == nullptr) return {};
  scope->Stop();
  return scope->Wait(limit);
}

}  // namespace cox::sdk
