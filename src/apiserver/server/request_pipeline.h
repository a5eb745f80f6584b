// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "apiserver/filters/chain.h"
#include "apiserver/filters/fairness/event_shedding.h"
#include "apiserver/filters/fairness/fairness.h"
#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/fairness/inflight_limit.h"
#include "apiserver/filters/fairness/write_lag.h"
#include "apiserver/filters/metrics/request_metrics.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "net/http.h"

namespace cox::apiserver {

// Receives requests from connections and runs them through the filter chain, on event loops, in
// fibers of them, and on workers (ADR 22).
//
// Threads: All methods may be called concurrently, except that Connect must come before the others.
// Lifetime: Stop ends the workers. It must come after the event loops have stopped; then no calls
//   are running.
class RequestPipeline {
 public:
  // The registry and the metrics must outlive it.
  RequestPipeline(const Context& ctx, const FairnessOptions& fairness,
                  std::chrono::nanoseconds request_timeout, MetricsRegistry& metrics,
                  const Registry& registry);

  // The externally owned parts of the chain. They must outlive it.
  struct Filters {
    const Authenticator& authenticator;
    Auditor* auditor = nullptr;  // null: no auditing
    const Impersonation& impersonation;
    const Authorizer& authorizer;
    const Fencing* fencing = nullptr;
    std::function<void(const std::shared_ptr<Call>&)> dispatch;  // selects the endpoint by path
  };
  void Connect(Filters filters);

  // `local`: the caller is inside the process, and its thread executes the request.
  void Serve(net::ExchangePtr exchange, bool local);
  // False while it stops; then `work` is unchanged.
  bool Submit(std::function<void()> work) { return workers_.Submit(std::move(work)); }
  void Stop() {
    workers_.Stop();
    lease_workers_.Stop();
  }

  // Null if priority and fairness is disabled.
  PriorityAndFairness* fairness() const { return fairness_.get(); }

 private:
  std::unique_ptr<PriorityAndFairness> MakeFairness(const Context& ctx,
                                                    const FairnessOptions& options,
                                                    MetricsRegistry& metrics,
                                                    const Registry& registry);
  // Continues a call that waited in a queue, elsewhere, because the thread that released the seats
  // has other work.
  void ResumeWaited(std::shared_ptr<Call> call);
  void Offload(std::shared_ptr<Call> call, std::function<void(std::shared_ptr<Call>)> then);

  const std::chrono::nanoseconds request_timeout_;
  WriteLag write_lag_;
  RequestMetrics request_metrics_;
  const std::unique_ptr<PriorityAndFairness> fairness_;
  InFlightLimit in_flight_limit_;
  EventShedding shedding_;
  // Calls that run in fibers. Beyond the limit, calls are queued for a worker.
  const size_t max_fibers_;
  std::atomic<size_t> fibers_ = 0;
  std::atomic<size_t> lease_fibers_ = 0;
  WorkerPool workers_;
  // Renewals of Leases never wait for a thread behind other requests: exempt requests, which have
  // no limit, can occupy all threads of the other pool.
  WorkerPool lease_workers_;
  Chain chain_;
};

}  // namespace cox::apiserver
