// SPDX-License-Identifier: Apache-2.0
#include "coxswain/manager.h"

#include <utility>

#include "base/await_stop.h"
#include "base/process_metrics.h"
#include "sdk/manager/manager_impl.h"

namespace cox {
namespace sdk {
namespace {

// The value of kube-controller-manager; a leader that cannot renew normally exits much earlier.
constexpr std::chrono::seconds kElectionTolerance{20};

}  // namespace

ManagerImpl::ManagerImpl(const Context& ctx, std::unique_ptr<MetricsRegistry> metrics,
                         std::shared_ptr<Client> client, ManagerOptions options)
    : ctx_(ctx),
      options_(std::move(options)),
      life_(ctx.clock(), ctx.log()),
      caching_(life_.Child()),
      metrics_(std::move(metrics)),
      process_metrics_(AddProcessMetrics(*metrics_)),
      client_(std::move(client)),
      always_("runnables", [this](Status why) { Fail(std::move(why)); }),
      leading_("leading", [this](Status why) { Fail(std::move(why)); }) {}

ManagerImpl::~ManagerImpl() {
  // Waits for runnables that exceeded the limit of Run, because they use members of this object.
  const Context as_long_as_it_takes(ctx_.clock());
  (void)leading_.Stop(as_long_as_it_takes);
  (void)always_.Stop(as_long_as_it_takes);
  life_.Stop();
}

Status ManagerImpl::Prepare() {
  COX_RETURN_IF_ERROR(net::ParseBindAddress(options_.health_address).status());
  COX_RETURN_IF_ERROR(net::ParseBindAddress(options_.metrics_address).status());
  Client* writes_to = client_.get();
  if (options_.leader_election) {
    elector_ = LeaderElector::Create(*client_, *options_.leader_election, metrics_.get());
    fenced_ = elector_->FencedClient(*client_);
    writes_to = fenced_.get();
    healthz_.Add("leaderElection",
                 [this](Context&) { return elector_->Healthy(kElectionTolerance); });
  }
  cache_ = Cache::Create(caching_, *client_, options_.cache, metrics_.get());
  writing_ = cache_->WritingThrough(*writes_to);
  return {};
}

EventRecorder& ManagerImpl::events() {
  MutexLock lock(mu_);
  if (events_ == nullptr) {
    events_ = EventRecorder::Create(
        caching_, *client_,
        {.controller = options_.name, .instance = "", .metrics = metrics_.get()});
  }
  return *events_;
}

Status ManagerImpl::Add(std::string name, Runnable runnable, bool needs_leader_election) {
  if (runnable == nullptr) return Status::BadRequest(name + ": nothing to run");
  {
    MutexLock lock(mu_);
    if (!names_.insert(name).second) {
      return Status::BadRequest("the manager runs something of the name " + name + " already");
    }
  }
  RunnableGroup& group = needs_leader_election ? leading_ : always_;
  return group.Add(std::move(name), std::move(runnable));
}

void ManagerImpl::AddHealthCheck(std::string name, Check check) {
  healthz_.Add(std::move(name), std::move(check));
}

void ManagerImpl::AddReadyCheck(std::string name, Check check) {
  readyz_.Add(std::move(name), std::move(check));
}

Result<Cache*> ManagerImpl::AddCluster(std::string name, std::shared_ptr<Client> client,
                                       CacheOptions options) {
  if (client == nullptr) return Status::BadRequest("cluster " + name + ": no client");
  MutexLock lock(mu_);
  if (clusters_.contains(name)) {
    return Status::BadRequest("the manager has a cluster of the name " + name + " already");
  }
  // No metrics: its sizes would be added to those of the manager's cache for the same resources.
  std::unique_ptr<Cache> cache = Cache::Create(caching_, *client, std::move(options), nullptr);
  Cache* const added = cache.get();
  clusters_.emplace(std::move(name), Cluster{std::move(client), std::move(cache)});
  return added;
}

bool ManagerImpl::IsLeader() const {
  return elector_ != nullptr ? elector_->IsLeader() : leads_.load();
}

Status ManagerImpl::Run(Context& ctx) {
  Context run = ctx.Child();
  {
    MutexLock lock(mu_);
    if (std::exchange(ran_, true)) return Status::BadRequest("a manager runs once");
    run_ = run;
  }
  return RunPhases(run);
}

void ManagerImpl::Fail(Status why) {
  std::optional<Context> run;
  {
    MutexLock lock(mu_);
    if (failure_.ok()) failure_ = why;
    run = run_;
  }
  if (run) run->Stop(std::move(why));
}

Context& ManagerImpl::Limit() {
  MutexLock lock(mu_);
  if (!limit_) {
    limit_ = Context(ctx_.clock(), ctx_.log()).WithTimeout(options_.graceful_shutdown);
  }
  return *limit_;
}

Status ManagerImpl::StartHealth(Context&) {
  COX_ASSIGN_OR_RETURN(const std::optional<net::BindAddress> address,
                       net::ParseBindAddress(options_.health_address));
  if (!address) return {};
  COX_ASSIGN_OR_RETURN(
      health_server_,
      net::Endpoint::Start(life_, "health", *address,
                           [this](Context& ctx, const net::Request& request) -> net::Response {
                             for (const HealthChecks* checks : {&healthz_, &readyz_}) {
                               if (!checks->Owns(request.path())) continue;
                               return checks->Answer(ctx, request.path(), request.query());
                             }
                             return {.status = 404, .headers = {}, .body = {}};
                           }));
  health_port_ = health_server_->port();
  COX_INFO(ctx_.log(), "Serving health probes", {"address", options_.health_address},
           {"port", health_server_->port()});
  return {};
}

Status ManagerImpl::StopHealth(Context&) {
  health_server_.reset();
  return {};
}

Status ManagerImpl::StartMetrics(Context&) {
  COX_ASSIGN_OR_RETURN(const std::optional<net::BindAddress> address,
                       net::ParseBindAddress(options_.metrics_address));
  if (!address) return {};
  COX_ASSIGN_OR_RETURN(
      metrics_server_,
      net::Endpoint::Start(
          life_, "metrics", *address,
          [this](Context&, const net::Request& request) -> net::Response {
            std::optional<std::string> page = MetricsPage(request.path());
            if (!page) return {.status = 404, .headers = {}, .body = {}};
            return {.status = 200,
                    .headers = {{"content-type", std::string(MetricsRegistry::kContentType)}},
                    .body = {Bytes(*std::move(page))}};
          }));
  metrics_port_ = metrics_server_->port();
  COX_INFO(ctx_.log(), "Serving metrics", {"address", options_.metrics_address},
           {"port", metrics_server_->port()});
  return {};
}

Status ManagerImpl::StopMetrics(Context&) {
  metrics_server_.reset();
  return {};
}

Status ManagerImpl::WarmCaches(Context& run) {
  std::vector<Cache*> caches = {cache_.get()};
  {
    MutexLock lock(mu_);
    for (const auto& [name, cluster] : clusters_) caches.push_back(cluster.cache.get());
  }
  for (Cache* cache : caches) COX_RETURN_IF_ERROR(cache->WaitForSync(run));
  return {};
}

Status ManagerImpl::StopCaches(Context& limit) {
  FlushEvents(limit);
  caching_.Stop();
  return {};
}

Status ManagerImpl::StartRunnables(Context&) { return always_.Start(caching_); }

Status ManagerImpl::StopRunnables(Context& limit) { return always_.Stop(limit); }

Status ManagerImpl::Lead(Context& run) {
  if (elector_ == nullptr) {
    RunLeading(run);
    return {};
  }
  COX_INFO(run.log(), "Waiting to lead", {"lease", options_.leader_election->lease.ToString()});
  const Status status = elector_->Run(run, [this](Context& term) { RunLeading(term); });
  // An OK status without a stop is unexpected, and nothing would run afterwards.
  if (run.Done()) return {};
  return status.ok() ? Status::Unavailable("leadership ended") : status;
}

// Runs until the term ends. After it returns, the Lease may be released: all leader runnables have
// ended or, if they exceeded the limit, their writes are fenced.
void ManagerImpl::RunLeading(Context& term) {
  leads_ = true;
  Status status = leading_.Start(term);
  if (!status.ok() && !term.Done()) Fail(status);
  (void)AwaitStop(term);
  if (status = leading_.Stop(Limit()); !status.ok()) Fail(status);
  FlushEvents(Limit());
  leads_ = false;
}

void ManagerImpl::FlushEvents(Context limit) {
  EventRecorder* events = nullptr;
  {
    MutexLock lock(mu_);
    events = events_.get();
  }
  if (events == nullptr) return;
  const Status status = events->Flush(limit);
  if (!status.ok()) COX_WARNING(ctx_.log(), "Events were not sent", {"err", status});
}

Status ManagerImpl::StopLeading(Context& limit) { return leading_.Stop(limit); }

}  // namespace sdk

namespace {

Result<std::unique_ptr<Manager>> CreateOver(const Context& ctx,
                                            std::unique_ptr<MetricsRegistry> metrics,
                                            std::shared_ptr<Client> client,
                                            ManagerOptions options) {
  if (client == nullptr) return Status::BadRequest("a manager needs a client");
  auto manager = std::make_unique<sdk::ManagerImpl>(ctx, std::move(metrics), std::move(client),
                                                    std::move(options));
  COX_RETURN_IF_ERROR(manager->Prepare());
  return std::unique_ptr<Manager>(std::move(manager));
}

}  // namespace

Result<std::unique_ptr<Manager>> Manager::Create(const Context& ctx, const Config& config,
                                                 ManagerOptions options) {
  auto metrics = std::make_unique<MetricsRegistry>(options.metric_style);
  Config named = config;
  // The server derives the default field manager from it.
  if (named.user_agent.empty()) named.user_agent = options.name;
  COX_ASSIGN_OR_RETURN(std::shared_ptr<Client> client,
                       Connect(ctx, named, MakeClientMetrics(*metrics)));
  return CreateOver(ctx, std::move(metrics), std::move(client), std::move(options));
}

Result<std::unique_ptr<Manager>> Manager::Create(const Context& ctx, std::shared_ptr<Client> client,
                                                 ManagerOptions options) {
  auto metrics = std::make_unique<MetricsRegistry>(options.metric_style);
  return CreateOver(ctx, std::move(metrics), std::move(client), std::move(options));
}

}  // namespace cox
