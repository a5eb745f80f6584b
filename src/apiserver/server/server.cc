// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server/server.h"

#include "apiserver/filters/authn/authentication.h"
#include "apiserver/filters/fairness/fairness_feed.h"
#include "apiserver/internal/bootstrap/bootstrap.h"
#include "apiserver/internal/client/local_calls.h"
#include "apiserver/internal/controllers/cluster_trust.h"
#include "apiserver/internal/controllers/internal_controllers.h"
#include "apiserver/registry/store/names.h"
#include "apiserver/server/request_pipeline.h"
#include "apiserver/server/server_endpoints.h"
#include "apiserver/server/server_registry.h"

namespace cox::apiserver {
namespace {

constexpr std::chrono::seconds kBootstrapRetry{1};
// The port of the Service "kubernetes" if this server does not listen.
constexpr uint16_t kUsualPort = 6443;
// etcd is unhealthy if it does not respond within this time.
constexpr std::chrono::seconds kHealthTimeout{2};

// The parts that may fail to open. ApiServer::Start opens them before it constructs the server.
struct Security {
  std::unique_ptr<const Authentication> authentication;
  std::unique_ptr<Authorization> authorization;
  std::unique_ptr<Auditor> auditor;  // null: no auditing
};

// Cheap and common methods come first: loopback tokens are a table lookup.
Authenticator::Options AuthenticationMethods(const Authentication& authentication,
                                             const LoopbackTokens& loopback_tokens,
                                             const Registry& registry) {
  Authenticator::Options options = authentication.MethodsOver(registry);
  options.methods.insert(options.methods.begin(), NewLoopbackTokenMethod(loopback_tokens));
  return options;
}

// Built in phases, each from the previous ones: security, registry, pipeline, endpoints. Then the
// pipeline is connected to the endpoints, and Listen accepts requests.
class ServerImpl final : public ApiServer {
 public:
  ServerImpl(const Context& ctx, ServerOptions options, StoreOf storage, MetricsRegistry& metrics,
             Security security)
      : options_(std::move(options)),
        ctx_(ctx.Child()),
        storage_(std::move(storage)),
        security_(std::move(security)),
        impersonation_(*security_.authorization),
        loopback_tokens_(options_.loopback_tokens != nullptr ? options_.loopback_tokens
                                                             : std::make_shared<LoopbackTokens>()),
        stored_(ctx_, options_, storage_, metrics, *security_.authorization),
        registry_(stored_.registry()),
        authenticator_(
            AuthenticationMethods(*security_.authentication, *loopback_tokens_, registry_)),
        pipeline_(ctx_, options_.fairness, options_.request_timeout, metrics, registry_),
        endpoints_(ctx_, {.options = options_,
                          .metrics = metrics,
                          .registry = registry_,
                          .authorization = *security_.authorization,
                          .authenticator = authenticator_,
                          .tokens = security_.authentication->tokens(),
                          .fairness = pipeline_.fairness(),
                          .etcd_health = [this] { return EtcdHealth(); },
                          .own_port = [this] { return port(); },
                          .started = started_,
                          .draining = draining_}),
        local_(ctx_,
               [this](net::ExchangePtr exchange) {
                 pipeline_.Serve(std::move(exchange), /*local=*/true);
               }),
        background_(ctx_, "apiserver") {
    pipeline_.Connect(
        {.authenticator = authenticator_,
         .auditor = security_.auditor.get(),
         .impersonation = impersonation_,
         .authorizer = *security_.authorization,
         .fencing = &stored_.fencing(),
         .dispatch = [this](const std::shared_ptr<Call>& call) { endpoints_.Handle(call); }});
    if (security_.auditor != nullptr) {
      security_.auditor->set_offload(
          [this](std::function<void()> work) { return pipeline_.Submit(std::move(work)); });
    }
  }

  ~ServerImpl() override {
    background_.Stop();
    ctx_.Stop();
    security_.authorization->Stop();
    if (server_ != nullptr) server_->Stop();
    local_.Stop();
    pipeline_.Stop();
    endpoints_.Stop();
    background_.Wait();
    // Every request has ended. This delivers the buffered audit events.
    if (security_.auditor != nullptr) security_.auditor->Stop();
  }

  Status Listen() {
    if (options_.listen_on_network) {
      net::ServerOptions listen = options_.listen;
      listen.accepts_body = [this](const net::Request& request) {
        return AcceptsBody(request, authenticator_, *security_.authorization);
      };
      COX_ASSIGN_OR_RETURN(
          server_, net::Server::Start(ctx_, std::move(listen), [this](net::ExchangePtr exchange) {
            pipeline_.Serve(std::move(exchange), /*local=*/false);
          }));
      port_ = server_->port();
    }
    COX_RETURN_IF_ERROR(security_.authorization->Start(background_, registry_));
    if (PriorityAndFairness* const fairness = pipeline_.fairness()) {
      COX_RETURN_IF_ERROR(background_.Go("fairness", [this, fairness](Context& ctx) {
        if (!registry_.WaitReady(ctx).ok()) return;  // only at shutdown
        RunInternalController(ctx, FairnessFeed(registry_, *fairness));
      }));
      COX_RETURN_IF_ERROR(
          background_.Go("fairness-seats", [fairness](Context& ctx) { fairness->Run(ctx); }));
    }
    return background_.Go("bootstrap", [this](Context& ctx) { Bootstrap(ctx); });
  }

  uint16_t port() const override { return port_; }
  net::Handler handler() const override { return local_.handler(); }
  LoopbackTokens& loopback_tokens() override { return *loopback_tokens_; }
  Registry& registry() override { return registry_; }

  Status WaitReady(Context& ctx) override {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, [this] { return started_->load(); });
  }

  Status Drain(Context& ctx) override {
    draining_->store(true);
    // Gives load balancers time to detect it and to use other servers.
    if (options_.shutdown_delay.count() > 0)
      COX_RETURN_IF_ERROR(ctx.Sleep(options_.shutdown_delay));
    COX_RETURN_IF_ERROR(local_.Drain(ctx));
    if (server_ == nullptr) return {};
    // Ends watches, which could last for half an hour.
    server_->StopStreams();
    return server_->Drain(ctx);
  }

 private:
  Status EtcdHealth() {
    Context ctx = ctx_.WithTimeout(kHealthTimeout);
    return storage_("", "").Healthy(ctx);
  }

  // Does everything that must precede readiness. May be called again if it failed.
  Status Prepare(Context& ctx) {
    COX_RETURN_IF_ERROR(stored_.Prepare(ctx));
    return WriteBootstrapObjects(
        ctx, registry_,
        {.service_cluster_ip_range = options_.service_cluster_ip_ranges.front(),
         .port = port() == 0 ? kUsualPort : port(),
         .admission = &endpoints_.admission()});
  }

  // Retries Prepare until it succeeds, then runs the server's own controllers.
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
    stored_.RunRepair(ctx);
  }

  void StartLoops() {
    std::vector<InternalController> loops = InternalControllers(registry_, &endpoints_.admission());
    loops.push_back(ClusterTrustLoop(registry_, *security_.authentication));
    for (InternalController& loop : loops) {
      std::string name = loop.name;
      const Status started = background_.Go(name, [loop = std::move(loop)](Context& loop_ctx) {
        RunInternalController(loop_ctx, loop);
      });
      if (!started.ok()) return;  // only at shutdown
    }
  }

  const ServerOptions options_;
  Context ctx_;
  const StoreOf storage_;
  const std::shared_ptr<std::atomic<bool>> started_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<std::atomic<bool>> draining_ = std::make_shared<std::atomic<bool>>(false);
  Mutex mu_;
  CondVar changed_;
  const Security security_;
  const Impersonation impersonation_;
  const std::shared_ptr<LoopbackTokens> loopback_tokens_;
  ServerRegistry stored_;
  Registry& registry_;  // owned by stored_
  const Authenticator authenticator_;
  RequestPipeline pipeline_;
  ServerEndpoints endpoints_;
  std::unique_ptr<net::Server> server_;  // null: the server does not listen
  std::atomic<uint16_t> port_ = 0;       // of server_; requests read it while the server starts
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
  Security security;
  const std::string id = NewUid();
  const auto reloads_of = [&](std::string_view config) {
    return std::make_shared<ConfigReloadMetrics>(metrics, config, id);
  };
  COX_ASSIGN_OR_RETURN(
      security.authentication,
      Authentication::Open(ctx, std::move(options.authentication), std::move(tokens), metrics,
                           reloads_of("authentication")));
  COX_ASSIGN_OR_RETURN(security.authorization, Authorization::Create(ctx, options.authorization,
                                                                     reloads_of("authorization")));
  COX_ASSIGN_OR_RETURN(security.auditor, Auditor::Create(ctx, options.audit, metrics));
  auto server = std::make_unique<ServerImpl>(ctx, std::move(options), std::move(storage), metrics,
                                             std::move(security));
  COX_RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<ApiServer>(std::move(server));
}

}  // namespace cox::apiserver
