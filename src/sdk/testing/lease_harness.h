// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "coxswain/leader_election.h"
#include "sdk/election/lease_lock.h"
#include "sdk/testing/function_client.h"

// For tests: one Lease on an in-memory server, and processes that compete for it.
namespace cox::sdk {

// Stores a Lease like an API server: increasing resourceVersions, Conflict for stale ones.
class FakeLeases {
 public:
  Result<Object> Execute(const Operation& operation) {
    MutexLock lock(mu_);
    if (operation.verb == Operation::Verb::kGet) {
      if (!lease_) return Status::NotFound("leases \"a\" not found");
      return Object::Of(*lease_);
    }
    const Lease& body = *operation.body->As<Lease>();
    if (operation.verb == Operation::Verb::kCreate) {
      if (lease_) return Status::AlreadyExists("leases \"a\" already exists");
    } else {
      if (!lease_) return Status::NotFound("leases \"a\" not found");
      if (body.metadata.resourceVersion != lease_->metadata.resourceVersion) {
        return Status::Conflict("the object has been modified");
      }
    }
    lease_ = body;
    lease_->metadata.resourceVersion = std::to_string(++version_);
    return Object::Of(*lease_);
  }

  std::optional<Lease> Read() const {
    MutexLock lock(mu_);
    return lease_;
  }
  // Writes as another client. If there is no Lease, `change` receives an empty one.
  void Write(const std::function<void(Lease&)>& change) {
    MutexLock lock(mu_);
    if (!lease_) lease_.emplace();
    change(*lease_);
    lease_->metadata.resourceVersion = std::to_string(++version_);
  }
  void Remove() {
    MutexLock lock(mu_);
    lease_.reset();
  }

 private:
  mutable Mutex mu_;
  std::optional<Lease> lease_ COX_GUARDED_BY(mu_);
  int64_t version_ COX_GUARDED_BY(mu_) = 0;
};

// A process that competes for the Lease: an elector whose work sleeps until its term ends.
class Candidate {
 public:
  // Intercepts requests; null: requests go directly to the server.
  using Way = std::function<Result<Object>(Context&, const Operation&, FakeLeases&)>;

  Candidate(const Context& ctx, FakeLeases& leases, LeaderElectionOptions options,
            Way way = nullptr)
      : leases_(leases), way_(std::move(way)), scope_(ctx, "candidate") {
    client_.execute = [this](Context& call, const Operation& operation) {
      return way_ ? way_(call, operation, leases_) : leases_.Execute(operation);
    };
    elector_ = LeaderElector::Create(client_, std::move(options), &metrics_);
  }
  ~Candidate() { scope_.Stop(); }

  // Calls Run once, or repeatedly until stopped.
  void Start(bool again = false) {
    EXPECT_TRUE(scope_
                    .Go("run",
                        [this, again](Context& ctx) {
                          do {
                            const Status ended =
                                elector_->Run(ctx, [this](Context& term) { Work(term); });
                            MutexLock lock(mu_);
                            ended_ = ended;
                            has_ended_ = true;
                            changed_.NotifyAll();
                          } while (again && !ctx.Done());
                        })
                    .ok());
  }
  void Stop() { scope_.Stop(); }
  void Join() { scope_.Wait(); }
  // Waits for Run to return and returns its status.
  Status AwaitEnd() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this] {
      mu_.AssertHeld();
      return has_ended_;
    });
    return ended_;
  }
  void AwaitLead() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this] {
      mu_.AssertHeld();
      return leads_;
    });
  }
  bool leads() const {
    MutexLock lock(mu_);
    return leads_;
  }
  // Number of terms that have begun.
  int terms() const {
    MutexLock lock(mu_);
    return terms_;
  }
  // Called when the work begins, and after the term ended before the work returns.
  std::function<void(Context&)> on_begin, on_end;

  LeaderElector& elector() { return *elector_; }
  FunctionClient& client() { return client_; }
  std::string Metrics() const { return metrics_.Render(); }

 private:
  void Work(Context& term) {
    Set(true);
    if (on_begin) on_begin(term);
    while (!term.Done()) (void)term.Sleep(std::chrono::hours(1));
    if (on_end) on_end(term);
    Set(false);
  }
  void Set(bool leads) {
    MutexLock lock(mu_);
    leads_ = leads;
    terms_ += leads ? 1 : 0;
    changed_.NotifyAll();
  }

  FakeLeases& leases_;
  const Way way_;
  FunctionClient client_;
  MetricsRegistry metrics_;
  std::unique_ptr<LeaderElector> elector_;
  mutable Mutex mu_;
  CondVar changed_;
  bool leads_ COX_GUARDED_BY(mu_) = false;
  bool has_ended_ COX_GUARDED_BY(mu_) = false;
  int terms_ COX_GUARDED_BY(mu_) = 0;
  Status ended_ COX_GUARDED_BY(mu_);
  Scope scope_;
};

}  // namespace cox::sdk
