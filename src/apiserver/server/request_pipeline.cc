// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server/request_pipeline.h"

#include <algorithm>
#include <utility>

#include "apiserver/filters/fairness/fairness_feed.h"
#include "apiserver/registry/store/names.h"
#include "base/random.h"

namespace cox::apiserver {
namespace {

// Threads for requests without a seat, in addition to one per seat, so that a request with seats
// never waits for a thread of another priority level.
constexpr size_t kUnseatedWorkers = 64;

size_t WorkersFor(const FairnessOptions& options) {
  return kUnseatedWorkers +
         static_cast<size_t>(std::max(0, options.max_requests_inflight) +
                             std::max(0, options.max_mutating_requests_inflight));
}

// Nodes and leaders are considered dead if these requests are late.
bool ConcernsLease(const RequestInfo& info) {
  return info.resource == "leases" && info.group == "coordination.k8s.io" && !info.long_running &&
         (info.verb == "get" || info.verb == "create" || info.verb == "update" ||
          info.verb == "patch");
}

// Whether the request runs on the event loop of its connection. These requests concern a single
// object and take little CPU time, so that they do not delay other connections of the loop. Lists,
// large bodies and signatures of tokens take milliseconds; streams occupy a thread.
bool RunsInFiber(const Call& call) {
  constexpr size_t kLargeBody = size_t{64} << 10;
  const RequestInfo& info = call.info;
  if (!info.is_resource || info.long_running || IsStreamSubresource(info.subresource) ||
      info.subresource == "token" || call.request().body.size() > kLargeBody) {
    return false;
  }
  return info.verb == "get" || info.verb == "create" || info.verb == "update" ||
         info.verb == "patch" || info.verb == "delete";
}

}  // namespace

RequestPipeline::RequestPipeline(const Context& ctx, const FairnessOptions& fairness,
                                 std::chrono::nanoseconds request_timeout, MetricsRegistry& metrics,
                                 const Registry& registry)
    : request_timeout_(request_timeout),
      write_lag_(ctx.clock()),
      request_metrics_(
          metrics, [&registry] { return registry.served(); }, &write_lag_),
      fairness_(MakeFairness(ctx, fairness, metrics, registry)),
      in_flight_limit_(fairness, ctx.clock()),
      shedding_(fairness_ != nullptr ? static_cast<RequestGate&>(*fairness_)
                                     : static_cast<RequestGate&>(in_flight_limit_),
                write_lag_, ctx.clock(), metrics),
      max_fibers_(WorkersFor(fairness)),
      workers_(ctx, {.name = "request", .max_threads = WorkersFor(fairness)}),
      lease_workers_(ctx, {.name = "lease", .max_threads = WorkersFor(fairness)}) {}

std::unique_ptr<PriorityAndFairness> RequestPipeline::MakeFairness(const Context& ctx,
                                                                   const FairnessOptions& options,
                                                                   MetricsRegistry& metrics,
                                                                   const Registry& registry) {
  if (!options.enabled) return nullptr;
  return std::make_unique<PriorityAndFairness>(PriorityAndFairness::Parts{
      .clock = ctx.clock(),
      .metrics = metrics,
      .options = options,
      .resume = [this](std::shared_ptr<Call> call) { ResumeWaited(std::move(call)); },
      .run_on_worker =
          [this](std::function<void()> work) {
            // Rejected only while the server stops; then destroying the call sends a response.
            (void)workers_.Submit(std::move(work));
          },
      .facts = [&registry](const RequestInfo& info) { return ReadWorkFacts(registry, info); },
      .request_timeout = request_timeout_,
      .seed = RandomBelow(UINT64_MAX)});
}

void RequestPipeline::Connect(Filters filters) {
  chain_ = BuildChain(
      {.metrics = request_metrics_,
       .authenticator = filters.authenticator,
       .auditor = filters.auditor,
       .impersonation = filters.impersonation,
       .gate = shedding_,
       .authorizer = filters.authorizer,
       .fencing = filters.fencing,
       .offload =
           [this](std::shared_ptr<Call> call, std::function<void(std::shared_ptr<Call>)> then) {
             Offload(std::move(call), std::move(then));
           },
       .dispatch = std::move(filters.dispatch),
       .request_timeout = request_timeout_});
}

void RequestPipeline::Serve(net::ExchangePtr exchange, bool local) {
  const std::optional<std::string_view> given = exchange->request().headers.Get("audit-id");
  std::string audit_id = given && !given->empty() ? std::string(*given) : NewUid();
  auto call = std::make_shared<Call>(std::move(exchange), std::move(audit_id));
  if (local) {
    call->set_releases_held_on_send();
    // The caller's thread waits for the response anyway. Executing the request there saves two
    // thread switches.
    call->may_wait = true;
  }
  RunChain(chain_, call);
}

void RequestPipeline::ResumeWaited(std::shared_ptr<Call> call) {
  Offload(std::move(call), [this](const std::shared_ptr<Call>& waited) {
    waited->may_wait = true;
    RunChain(chain_, waited, chain_.after_fairness);
  });
}

void RequestPipeline::Offload(std::shared_ptr<Call> call,
                              std::function<void(std::shared_ptr<Call>)> then) {
  Call& raw = *call;
  const bool lease = ConcernsLease(call->info);
  // The caller keeps no reference, so that the call is destroyed where it is executed.
  std::function<void()> work = [call = std::move(call), then = std::move(then)]() mutable {
    then(std::move(call));
  };
  std::atomic<size_t>& fibers = lease ? lease_fibers_ : fibers_;
  if (raw.has_loop() && RunsInFiber(raw) && fibers < max_fibers_) {
    ++fibers;
    raw.RunFiber([&fibers, work = std::move(work)]() mutable {
      std::exchange(work, nullptr)();
      --fibers;
    });
    return;
  }
  WorkerPool& workers = lease ? lease_workers_ : workers_;
  if (!workers.Submit(std::move(work))) {  // on failure `work` is unchanged and holds the call
    raw.RespondStatus(Status(Reason::kTooManyRequests, "too many requests, please try again later",
                             StatusDetails{.retry_after_seconds = 1}));
  }
}

}  // namespace cox::apiserver
