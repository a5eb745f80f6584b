// SPDX-License-Identifier: Apache-2.0
#include "controllers/shared/controller_view.h"

#include <utility>

namespace cox::controllers {
namespace {

constexpr std::chrono::seconds kLastEvents{2};

}  // namespace

ControllerView::ControllerView(Manager& manager, std::string reporter,
                               std::shared_ptr<Client> client, Gauge& running)
    : manager_(manager),
      reporter_(std::move(reporter)),
      own_client_(std::move(client)),
      running_(running),
      recording_(manager.context().clock(), manager.context().log()) {}

ControllerView::~ControllerView() {
  MutexLock lock(mu_);
  if (events_ == nullptr) return;
  Context limit = recording_.WithTimeout(kLastEvents);
  (void)events_->Flush(limit);
  recording_.Stop();
  events_.reset();
}

EventRecorder& ControllerView::events() {
  MutexLock lock(mu_);
  if (events_ == nullptr) {
    events_ = EventRecorder::Create(recording_, client(),
                                    {.controller = reporter_, .instance = "", .metrics = nullptr});
  }
  return *events_;
}

Status ControllerView::Add(std::string name, Runnable runnable, bool needs_leader_election) {
  if (runnable == nullptr) return Status::BadRequest(name + ": nothing to run");
  return manager_.Add(
      std::move(name),
      [self = shared_from_this(), run = std::move(runnable)](Context& ctx) {
        self->running_.Inc();
        Status status = run(ctx);
        self->running_.Dec();
        return status;
      },
      needs_leader_election);
}

Result<Cache*> ControllerView::AddCluster(std::string name, std::shared_ptr<Client> client,
                                          CacheOptions options) {
  // Caches read through the manager's client: also while not leading, and beyond the lifetime of
  // this view.
  if (client.get() == own_client_.get()) {
    client = std::shared_ptr<Client>(std::shared_ptr<void>(), &manager_.client());
  }
  return manager_.AddCluster(std::move(name), std::move(client), std::move(options));
}

}  // namespace cox::controllers
