// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/cluster_impl.h"

#include <algorithm>
#include <utility>

#include "apiserver/filters/authn/jose/keys.h"
#include "base/check.h"
#include "object/codec/json/text.h"
#include "storage/etcd/etcd_store.h"
#include "storage/memory/memory_store.h"

namespace cox::testkit {
namespace {

constexpr char kAddress[] = "127.0.0.1";
constexpr char kAdmin[] = "test-admin";
constexpr char kServiceAccountPlugin[] = "ServiceAccount";
// Time limits of start and drain.
constexpr std::chrono::seconds kStartLimit{60};
constexpr std::chrono::seconds kDrainLimit{10};

std::unique_ptr<Clock> MakeClock(const TestClusterOptions& options) {
  if (options.clock != nullptr) return nullptr;
  if (options.time == TestClusterOptions::Time::kTest) return std::make_unique<TestClock>();
  return std::make_unique<RealClock>();
}

Status Broken() { return Status::Unavailable("the connection to the test cluster broke"); }

}  // namespace

TestCluster::Impl::Impl(TestClusterOptions given)
    : options(std::move(given)),
      own_clock(MakeClock(options)),
      clock(own_clock != nullptr ? *own_clock : *options.clock),
      context(clock, options.log),
      real_context(real_clock, options.log) {}

TestCluster::Impl::~Impl() {
  // Fails if the server is stopped already.
  (void)StopServer(Down::kBreak);
  context.Stop();
  real_context.Stop();
}

Status TestCluster::Impl::Prepare() {
  COX_RETURN_IF_ERROR(OpenStore());
  if (options.decorate_store) decorated = options.decorate_store(*store);
  COX_ASSIGN_OR_RETURN(signing_key, apiserver::GenerateSigningKeyPem());
  return options.https ? MakeCertificates() : Status();
}

Status TestCluster::Impl::OpenStore() {
  if (options.storage == TestClusterOptions::Storage::kMemory) {
    store = storage::NewMemoryStore(clock);
    return {};
  }
  if (!storage::EtcdServer::Available()) return Status::NotFound("no etcd is installed here");
  Context limit = real_context.WithTimeout(kStartLimit);
  COX_ASSIGN_OR_RETURN(etcd, storage::EtcdServer::Start(limit));
  COX_ASSIGN_OR_RETURN(store, storage::ConnectEtcd(real_context, etcd->ClientOptions()));
  return {};
}

Status TestCluster::Impl::MakeCertificates() {
  COX_ASSIGN_OR_RETURN(const net::CertificatePair ca,
                       net::MakeCertificate({.common_name = "test-cluster-ca",
                                             .organizations = {},
                                             .dns_names = {},
                                             .ip_addresses = {},
                                             .is_ca = true},
                                            nullptr));
  COX_ASSIGN_OR_RETURN(
      net::CertificatePair serving,
      net::MakeCertificate({.common_name = "kube-apiserver",
                            .organizations = {},
                            .dns_names = {"localhost", "kubernetes", "kubernetes.default.svc"},
                            .ip_addresses = {kAddress}},
                           &ca));
  ca_pem = ca.certificate_pem;
  COX_ASSIGN_OR_RETURN(
      tls, net::ServerTls::Create(
               {.certificate = std::move(serving), .by_name = {}, .client_ca_pem = {}}));
  return {};
}

apiserver::ServerOptions TestCluster::Impl::MakeOptions() const {
  apiserver::ServerOptions made;
  made.listen_on_network = options.https;
  made.listen.bind_address = kAddress;
  made.listen.port = port;  // the same port after a restart
  made.listen.loops = 1;
  made.listen.tls = tls;
  made.authorization.modes = options.authorization;
  made.service_accounts.signing_key_pem = signing_key;
  made.loopback_tokens = tokens;
  made.enabled_admission_plugins = options.enable_admission_plugins;
  made.disabled_admission_plugins = options.disable_admission_plugins;
  const auto& enabled = options.enable_admission_plugins;
  if (std::find(enabled.begin(), enabled.end(), kServiceAccountPlugin) == enabled.end()) {
    made.disabled_admission_plugins.emplace_back(kServiceAccountPlugin);
  }
  if (options.tune) options.tune(made);
  return made;
}

Result<std::unique_ptr<ServerLife>> TestCluster::Impl::StartOn(storage::Store& on,
                                                               apiserver::ServerOptions with) {
  auto started = std::make_unique<ServerLife>(context);
  COX_ASSIGN_OR_RETURN(
      started->server,
      apiserver::ApiServer::Start(
          context, std::move(with),
          [&on](std::string_view, std::string_view) -> storage::Store& { return on; },
          started->metrics));
  Context limit = real_context.WithTimeout(kStartLimit);
  COX_RETURN_IF_ERROR(started->server->WaitReady(limit));
  return started;
}

Status TestCluster::Impl::StartServer() {
  if (life != nullptr) return Status::BadRequest("the server runs already");
  COX_ASSIGN_OR_RETURN(life, StartOn(decorated ? *decorated : *store, MakeOptions()));
  port = life->server->port();
  slot->Put(life->server->handler(), life->connections);
  return {};
}

Status TestCluster::Impl::StopServer(Down how) {
  if (life == nullptr) return Status::BadRequest("the server does not run");
  slot->Clear();
  if (how == Down::kDrain) {
    Context limit = real_context.WithTimeout(kDrainLimit);
    // Requests that do not finish in time are aborted.
    (void)life->server->Drain(limit);
  } else {
    life->connections.Stop(Broken());
  }
  life.reset();
  return {};
}

Secret<std::string> TestCluster::Impl::AddToken(std::string user, std::vector<std::string> groups) {
  return tokens->Add(
      {.name = std::move(user), .uid = {}, .groups = std::move(groups), .extra = {}});
}

Secret<std::string> TestCluster::Impl::AdminToken() {
  MutexLock lock(mu);
  if (!admin_token) admin_token = AddToken(kAdmin, {std::string(apiserver::kMastersGroup)});
  return *admin_token;
}

std::shared_ptr<Transport> TestCluster::Impl::TransportWith(const Secret<std::string>& token) {
  return std::make_shared<ClusterTransport>(context, slot, "Bearer " + token.Reveal());
}

std::shared_ptr<Transport> TestCluster::Impl::AdminTransport() {
  const Secret<std::string> token = AdminToken();
  MutexLock lock(mu);
  if (admin_transport == nullptr) admin_transport = TransportWith(token);
  return admin_transport;
}

Config TestCluster::Impl::ConfigWith(const Secret<std::string>& token) const {
  COX_CHECK(options.https) << "a cluster without HTTPS has no address: set options.https";
  Config config;
  config.server = "https://" + std::string(kAddress) + ":" + std::to_string(port);
  config.ca_pem = ca_pem;
  config.token = token;
  return config;
}

std::string TestCluster::Impl::Kubeconfig() {
  const Config config = ConfigWith(AdminToken());
  std::string ca;
  json::WriteBase64(config.ca_pem, &ca);
  // JSON is valid YAML, and no value needs escaping.
  return R"({"apiVersion":"v1","kind":"Config","current-context":"test","contexts":[{"name":"test",)"
         R"("context":{"cluster":"test","user":"admin"}}],"clusters":[{"name":"test","cluster":{)"
         R"("server":")" +
         config.server + R"(","certificate-authority-data":")" + ca +
         R"("}}],"users":[{"name":"admin","user":{"token":")" + config.token.Reveal() + "\"}}]}\n";
}

}  // namespace cox::testkit
