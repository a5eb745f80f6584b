// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "apiserver/filters/chain.h"
#include "apiserver/filters/fairness/fairness.h"
#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/fairness/inflight_limit.h"

#include "apiserver/filters/metrics/request_metrics.h"
#include "apiserver/registry/served/registry.h"
#include "base/context.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "net/http.h"

namespace cox::apiserver {

// Takes requests from connections and runs them through the chain of filters, on the threads that
// they need.
//
// Threads: all methods may be called concurrently, except that Connect comes before the others.
// Lifetime: Stop ends the workers; the calls have ended then.
class RequestPipeline {
 public:
  // The registry and the metrics outlive it.
  RequestPipeline(const Context& ctx, const FairnessOptions& fairness,
                  std::chrono::nanoseconds request_timeout, MetricsRegistry& metrics,
                  const Registry& registry);

  // The parts of the chain that come from elsewhere. They outlive it.
  struct Filters {
    const Authenticator& authenticator;
    Auditor* auditor = nullptr;  // null: nothing is audited
    const Impersonation& impersonation;
    const Authorizer& authorizer;
    const Fencing* fencing = nullptr;
    std::function<void(const std::shared_ptr<Call>&)> dispatch;  // answers by path
  };
  void Connect(Filters filters);

  // `local`: the caller is inside the process, and its thread does the work.
  void Serve(net::ExchangePtr exchange, bool local);
  // False while it stops; then `work` is as it was.
  bool Submit(std::function<void()> work) { return workers_.Submit(std::move(work)); }
  void Stop() { workers_.Stop(); }

  // Null if priority and fairness is switched off.
  PriorityAndFairness* fairness() const { return fairness_.get(); }

 private:
  std::unique_ptr<PriorityAndFairness> MakeFairness(const Context& ctx,
                                                    const FairnessOptions& options,
                                                    MetricsRegistry& metrics,
                                                    const Registry& registry);
  // Continues with a call that waited in a queue. The thread that gave it its seats has other work,
  // so a worker continues.
  void ResumeWaited(std::shared_ptr<Call> call);
  void Offload(std::shared_ptr<Call> call, std::function<void(std::shared_ptr<Call>)> then);

  const std::chrono::nanoseconds request_timeout_;
  RequestMetrics request_metrics_;
  const std::unique_ptr<PriorityAndFairness> fairness_;
  InFlightLimit in_flight_limit_;
  WorkerPool workers_;
  Chain chain_;
};

}  // namespace cox::apiserver
