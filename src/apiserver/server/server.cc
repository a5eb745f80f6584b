// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server/server.h"

#include <algorithm>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/plugins.h"
#include "apiserver/endpoints/router.h"
#include "apiserver/endpoints/streaming/connector.h"
#include "apiserver/filters/authz/authorization.h"
#include "apiserver/filters/authz/rbac/rbac_guard.h"
#include "apiserver/filters/chain.h"
#include "apiserver/filters/fairness/fairness_feed.h"
#include "apiserver/filters/fairness/inflight_limit.h"
#include "apiserver/filters/fencing/fenced_store.h"
#include "apiserver/filters/fencing/fencing.h"
#include "apiserver/internal/bootstrap/bootstrap.h"
#include "apiserver/internal/client/local_calls.h"
#include "apiserver/internal/client/service_resolver.h"
#include "apiserver/internal/controllers/cluster_trust.h"
#include "apiserver/internal/controllers/loops.h"
#include "apiserver/registry/kinds/core/service/alloc/repair.h"
#include "apiserver/registry/kinds/core/service/alloc/service_allocation.h"
#include "apiserver/registry/served/served.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/request/now.h"
#include "base/build_info.h"
#include "base/random.h"
#include "base/strings.h"
#include "base/worker_pool.h"

namespace cox::apiserver {
namespace {

// The API level, as clients compare it.
constexpr char kVersion[] = "v1.36.4";
constexpr std::chrono::seconds kBootstrapRetry{1};
// Of the service of the API, where the server itself does not listen.
constexpr uint16_t kUsualPort = 6443;
// Threads for requests that need no seat, beside one for each seat there is: then nobody who has
// been let in waits for the thread of another level.
constexpr size_t kUnseatedWorkers = 64;
// Older requests to etcd than this make it unhealthy.
constexpr std::chrono::seconds kHealthTimeout{2};

VersionInfo MakeVersion() {
  const BuildInfo& build = GetBuildInfo();
  VersionInfo info;
  info.git_version = build.git_version;
  info.git_commit = build.git_commit;
  info.git_tree_state = build.git_tree_state;
  info.build_date = build.build_date;
  info.go_version = "none";
  info.compiler = "g++ " __VERSION__;
  info.platform = "linux/amd64";
  return info;
}

void AddBuildInfo(const VersionInfo& info, MetricsRegistry& metrics) {
  metrics
      .AddGaugeVec({"kubernetes_build_info", "Always 1; the labels say what this program is.",
                    Stability::kBeta},
                   {"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date",
                    "go_version", "compiler", "platform"})
      .With({info.major, info.minor, info.git_version, info.git_commit, info.git_tree_state,
             info.build_date, info.go_version, info.compiler, info.platform})
      .Set(1);
}

size_t WorkersFor(const FairnessOptions& options) {
  return kUnseatedWorkers +
         static_cast<size_t>(std::max(0, options.max_requests_inflight) +
                             std::max(0, options.max_mutating_requests_inflight));
}

// Each resource may be kept, or encrypted, in a way of its own.
ServiceStores ServiceStoresFrom(const ApiServer::StoreOf& storage) {
  return {.services = storage("", "services"),
          .addresses = storage("networking.k8s.io", "ipaddresses"),
          .cidrs = storage("networking.k8s.io", "servicecidrs"),
          .ports = storage("", "servicenodeportallocations")};
}

class ServerImpl final : public ApiServer {
 public:
  ServerImpl(const Context& ctx, ServerOptions options, StoreOf storage, MetricsRegistry& metrics,
             std::unique_ptr<const Authentication> authentication,
             std::unique_ptr<Authorization> authorization, std::unique_ptr<Auditor> auditor)
      : options_(std::move(options)),
        ctx_(ctx.Child()),
        storage_(std::move(storage)),
        authentication_(std::move(authentication)),
        tokens_(authentication_->tokens()),
        auditor_(std::move(auditor)),
        authorization_(std::move(authorization)),
        impersonation_(*authorization_),
        fencing_(registry_, *authorization_),
        fenced_(fencing_),
        registry_(ctx_, {.storage = [this](const KindInfo& kind) -> storage::Store& {
                           return fenced_.Over(storage_(kind.group, kind.plural));
                         },
                         .root = options_.etcd_prefix,
                         .metrics = &metrics,
                         .event_ttl = options_.event_ttl,
                         .serves =
                             [](const KindInfo& kind) {
                               return IsServedByDefault(kind.group, kind.version, kind.plural);
                             }}),
        loopback_tokens_(options_.loopback_tokens != nullptr ? options_.loopback_tokens
                                                             : std::make_shared<LoopbackTokens>()),
        authenticator_(AuthenticationMethods()),
        rbac_guard_(registry_, *authorization_, authorization_->rbac()),
        allocation_(
            ServiceStoresFrom(storage_),
            {.cluster_ip_ranges = options_.service_cluster_ip_ranges,
             .node_ports = PortRange::Parse(options_.service_node_port_range).value_or(PortRange{}),
             .root = options_.etcd_prefix,
             .random = RandomBelow}),
        repair_(ServiceStoresFrom(storage_), allocation_),
        admission_metrics_(metrics),
        webhooks_(std::make_shared<WebhookConnections>(ctx_, ResolveServices(registry_))),
        admission_(MakeAdmission({.registry = registry_,
                                  .authorizer = *authorization_,
                                  .webhooks = webhooks_,
                                  .metrics = &admission_metrics_,
                                  .configs = options_.admission_configs},
                                 options_.enabled_admission_plugins,
                                 options_.disabled_admission_plugins)),
        resources_(registry_, admission_, options_.min_request_timeout),
        connector_(ctx_, *authorization_, options_.kubelets),
        reviews_({.authenticator = authenticator_,
                  .authorizer = *authorization_,
                  .tokens = tokens_,
                  .resources = resources_}),
        issuer_(*tokens_, options_.advertise_address),
        fairness_(MakeFairness(metrics)),
        in_flight_limit_(options_.fairness, ctx_.clock()),
        request_metrics_(metrics, kinds_),
        discovery_(kinds_),
        openapi_(kinds_, kVersion),
        health_(ApiServerChecks([this] { return EtcdHealth(); },
                                [this] { return registry_.ready(); }, started_, draining_,
                                options_.storage_checks)),
        router_({.resources = resources_,
                 .discovery = discovery_,
                 .openapi = openapi_,
                 .health = health_,
                 .reviews = reviews_,
                 .issuer = issuer_,
                 .metrics = metrics,
                 .server_address = options_.advertise_address,
                 .version = MakeVersion(),
                 .started = ctx_.clock().Now(),
                 .flags = options_.flags,
                 .fairness = fairness_.get()}),
        workers_(ctx_, {.name = "request", .max_threads = WorkersFor(options_.fairness)}),
        chain_(BuildChain(
            {.metrics = request_metrics_,
             .authenticator = authenticator_,
             .auditor = auditor_.get(),
             .impersonation = impersonation_,
             .gate = fairness_ != nullptr ? static_cast<RequestGate&>(*fairness_)
                                          : static_cast<RequestGate&>(in_flight_limit_),
             .authorizer = *authorization_,
             .fencing = &fencing_,
             .offload =
                 [this](std::shared_ptr<Call> call,
                        std::function<void(std::shared_ptr<Call>)> then) {
                   Offload(std::move(call), std::move(then));
                 },
             .dispatch = [this](const std::shared_ptr<Call>& call) { router_.Handle(call); },
             .request_timeout = options_.request_timeout})),
        local_(ctx_,
               [this](net::ExchangePtr exchange) { Serve(std::move(exchange), /*local=*/true); }),
        background_(ctx_, "apiserver") {
    registry_.Hub(core::v1::Service::kKind).store().set_hooks(&allocation_);
    resources_.set_connector(&connector_);
    AddBuildInfo(MakeVersion(), metrics);
    rbac_guard_.Install();
    if (auditor_ != nullptr) {
      auditor_->set_offload(
          [this](std::function<void()> work) { return workers_.Submit(std::move(work)); });
    }
  }

  ~ServerImpl() override {
    background_.Stop();
    ctx_.Stop();
    authorization_->Stop();
    if (server_ != nullptr) server_->Stop();
    local_.Stop();
    workers_.Stop();
    connector_.Stop();
    background_.Wait();
    // Every request has ended: what is buffered of them is delivered now, or never.
    if (auditor_ != nullptr) auditor_->Stop();
  }

  Status Listen() {
    if (options_.listen_on_network) {
      COX_ASSIGN_OR_RETURN(
          server_, net::Server::Start(ctx_, options_.listen, [this](net::ExchangePtr exchange) {
            Serve(std::move(exchange), /*local=*/false);
          }));
    }
    COX_RETURN_IF_ERROR(authorization_->Start(background_, registry_));
    if (fairness_ != nullptr) {
      COX_RETURN_IF_ERROR(background_.Go("fairness", [this](Context& ctx) {
        if (!registry_.WaitReady(ctx).ok()) return;  // only when it stops
        RunOwnLoop(ctx, FairnessFeed(registry_, *fairness_));
      }));
      COX_RETURN_IF_ERROR(
          background_.Go("fairness-seats", [this](Context& ctx) { fairness_->Run(ctx); }));
    }
    return background_.Go("bootstrap", [this](Context& ctx) { Bootstrap(ctx); });
  }

  uint16_t port() const override { return server_ == nullptr ? 0 : server_->port(); }
  net::Handler handler() const override { return local_.handler(); }
  LoopbackTokens& loopback_tokens() override { return *loopback_tokens_; }

  Status WaitReady(Context& ctx) override {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, [this] { return started_->load(); });
  }

  Status Drain(Context& ctx) override {
    draining_->store(true);
    // Time for whoever sends requests here to see it and send them elsewhere.
    if (options_.shutdown_delay.count() > 0)
      COX_RETURN_IF_ERROR(ctx.Sleep(options_.shutdown_delay));
    COX_RETURN_IF_ERROR(local_.Drain(ctx));
    if (server_ == nullptr) return {};
    // Watches end in peace: nobody waits for those who would stay for half an hour.
    server_->StopStreams();
    return server_->Drain(ctx);
  }

 private:
  void Serve(net::ExchangePtr exchange, bool local) {
    const std::optional<std::string_view> given = exchange->request().headers.Get("audit-id");
    std::string audit_id = given && !given->empty() ? std::string(*given) : NewUid();
    auto call = std::make_shared<Call>(std::move(exchange), std::move(audit_id));
    if (local) {
      call->set_taken_at_once();
      // The thread that called waits for the answer anyway: it may as well do the work, which saves
      // two changes of threads.
      call->on_worker = true;
    }
    RunChain(chain_, call);
  }

  // Our own callers first: they are many, and known by a look at a table.
  Authenticator::Options AuthenticationMethods() const {
    Authenticator::Options options = authentication_->MethodsOver(registry_);
    options.methods.insert(options.methods.begin(), NewLoopbackTokenMethod(*loopback_tokens_));
    return options;
  }

  // Null where it is switched off.
  std::unique_ptr<PriorityAndFairness> MakeFairness(MetricsRegistry& metrics) {
    if (!options_.fairness.enabled) return nullptr;
    return std::make_unique<PriorityAndFairness>(PriorityAndFairness::Parts{
        .clock = ctx_.clock(),
        .metrics = metrics,
        .options = options_.fairness,
        .resume = [this](std::shared_ptr<Call> call) { ResumeWaited(std::move(call)); },
        .elsewhere =
            [this](std::function<void()> work) {
              // Dropped only while the server stops; then the call says so itself.
              (void)workers_.Submit(std::move(work));
            },
        .facts = [this](const RequestInfo& info) { return ReadWorkFacts(registry_, info); },
        .request_timeout = options_.request_timeout,
        .seed = RandomBelow(UINT64_MAX)});
  }

  // A call whose turn has come. Whoever gave it its seats has other things to do: a worker goes on.
  void ResumeWaited(std::shared_ptr<Call> call) {
    Offload(std::move(call), [this](const std::shared_ptr<Call>& waited) {
      waited->on_worker = true;
      RunChain(chain_, waited, chain_.after_fairness);
    });
  }

  void Offload(std::shared_ptr<Call> call, std::function<void(std::shared_ptr<Call>)> then) {
    Call& raw = *call;
    // Not shared with this thread: the call ends where it is worked on.
    std::function<void()> work = [call = std::move(call), then = std::move(then)]() mutable {
      then(std::move(call));
    };
    if (!workers_.Submit(std::move(work))) {  // then `work` is as it was, and holds the call
      raw.RespondStatus(Status(Reason::kTooManyRequests,
                               "too many requests, please try again later",
                               StatusDetails{.retry_after_seconds = 1}));
    }
  }

  Status EtcdHealth() {
    Context ctx = ctx_.WithTimeout(kHealthTimeout);
    return storage_("", "").Healthy(ctx);
  }

  // Everything that must be there before the server is ready. May be called again if it failed.
  Status Prepare(Context& ctx) {
    COX_RETURN_IF_ERROR(registry_.WaitReady(ctx));
    COX_RETURN_IF_ERROR(allocation_.Start(ctx, NowOf(ctx)));
    // Before services are created: what a server that died left taken or unrecorded would be given
    // out twice.
    COX_RETURN_IF_ERROR(repair_.RunOnce(ctx).status());
    return WriteBootstrapObjects(
        ctx, registry_,
        {.service_cluster_ip_range = options_.service_cluster_ip_ranges.front(),
         .port = port() == 0 ? kUsualPort : port(),
         .admission = &admission_});
  }

  // Prepares until it worked, then keeps what needs looking after.
  void Bootstrap(Context& ctx) {
    for (Status status = Prepare(ctx); !status.ok(); status = Prepare(ctx)) {
      if (ctx.Done()) return;
      COX_ERROR(ctx.log(), status, "Could not write bootstrap objects yet");
      if (!ctx.Sleep(kBootstrapRetry).ok()) return;
    }
    {
      MutexLock lock(mu_);
      started_->store(true);
      changed_.NotifyAll();
    }
    StartLoops();
    repair_.Run(ctx);
  }

  void StartLoops() {
    std::vector<OwnLoop> loops = OwnLoops(registry_, &admission_);
    loops.push_back(ClusterTrustLoop(registry_, *authentication_));
    for (OwnLoop& loop : loops) {
      std::string name = loop.name;
      const Status started = background_.Go(
          name, [loop = std::move(loop)](Context& loop_ctx) { RunOwnLoop(loop_ctx, loop); });
      if (!started.ok()) return;  // only while it stops
    }
  }

  const ServerOptions options_;
  Context ctx_;
  const StoreOf storage_;
  const std::shared_ptr<std::atomic<bool>> started_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<std::atomic<bool>> draining_ = std::make_shared<std::atomic<bool>>(false);
  Mutex mu_;
  CondVar changed_;
  const std::unique_ptr<const Authentication> authentication_;
  const std::shared_ptr<const ServiceAccountTokens> tokens_;
  const std::unique_ptr<Auditor> auditor_;  // null: nothing is audited
  const std::unique_ptr<Authorization> authorization_;
  const Impersonation impersonation_;
  const Fencing fencing_;
  FencedStores fenced_;
  Registry registry_;
  const std::shared_ptr<LoopbackTokens> loopback_tokens_;
  const Authenticator authenticator_;
  RbacGuard rbac_guard_;
  ServiceAllocation allocation_;
  ServiceRepair repair_;  // the bootstrap thread's
  AdmissionMetrics admission_metrics_;
  const std::shared_ptr<WebhookConnections> webhooks_;
  const AdmissionChain admission_;
  ResourceHandlers resources_;
  NodeConnector connector_;
  const Reviews reviews_;
  const IssuerDiscovery issuer_;
  const std::vector<ServedKind> kinds_ = DefaultServedKinds();
  const std::unique_ptr<PriorityAndFairness> fairness_;
  InFlightLimit in_flight_limit_;
  RequestMetrics request_metrics_;
  Discovery discovery_;
  OpenApi openapi_;
  Health health_;
  Router router_;
  WorkerPool workers_;
  const Chain chain_;
  std::unique_ptr<net::Server> server_;  // null: it does not listen
  LocalCalls local_;
  Scope background_;
};

}  // namespace

Result<std::unique_ptr<ApiServer>> ApiServer::Start(const Context& ctx, ServerOptions options,
                                                    StoreOf storage, MetricsRegistry& metrics) {
  COX_RETURN_IF_ERROR(
      CheckPluginNames(options.enabled_admission_plugins).WithContext("enable-admission-plugins"));
  COX_RETURN_IF_ERROR(CheckPluginNames(options.disabled_admission_plugins)
                          .WithContext("disable-admission-plugins"));
  COX_RETURN_IF_ERROR(
      CheckPluginConfigs(options.admission_configs).WithContext("admission-control-config-file"));
  COX_ASSIGN_OR_RETURN(std::shared_ptr<ServiceAccountTokens> tokens,
                       ServiceAccountTokens::Create(std::move(options.service_accounts)));
  COX_ASSIGN_OR_RETURN(
      std::unique_ptr<const Authentication> authentication,
      Authentication::Open(ctx, std::move(options.authentication), std::move(tokens), metrics));
  COX_ASSIGN_OR_RETURN(std::unique_ptr<Authorization> authorization,
                       Authorization::Create(ctx, options.authorization));
  COX_ASSIGN_OR_RETURN(std::unique_ptr<Auditor> auditor,
                       Auditor::Create(ctx, options.audit, metrics));
  auto server = std::make_unique<ServerImpl>(ctx, std::move(options), std::move(storage), metrics,
                                             std::move(authentication), std::move(authorization),
                                             std::move(auditor));
  COX_RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<ApiServer>(std::move(server));
}

}  // namespace cox::apiserver
