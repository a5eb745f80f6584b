// SPDX-License-Identifier: Apache-2.0
// The clients of all components against a hostile server. net/client/hostile_test.cc covers the
// clients of the net module, and dns/server/server_test.cc the upstreams of DNS.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "api/cri/v1.h"
#include "apiserver/filters/authn/oidc/fetch.h"
#include "apiserver/webhook/webhook_client.h"
#include "coxswain/client.h"
#include "coxswain/config.h"
#include "kubelet/testing/run_probe.h"
#include "net/testing/hostile_server.h"
#include "runtime/cri/client.h"
#include "storage/encryption/kms/service.h"
#include "storage/etcd/etcd_store.h"

namespace cox {
namespace {

using net::HostileServer;
using Transport = net::HostileTransport;
using std::chrono::seconds;

struct ClientCase {
  std::string name;
  Transport transport = Transport::kTcp;
  std::vector<net::Hostility> hostilities;
  std::function<Status(Context& ctx, const HostileServer& server)> call;

  friend void PrintTo(const ClientCase& client, std::ostream* out) { *out << client.name; }
};

std::vector<net::Hostility> AllHttp() {
  auto all = net::HostileHttp1();
  for (net::Hostility& each : net::HostileHttp2()) all.push_back(std::move(each));
  return all;
}

std::vector<net::Hostility> AllHttpWithBody() {
  auto all = AllHttp();
  all.push_back(net::EndlessHttp1Body());
  return all;
}

// For clients that retry until their deadline.
std::vector<net::Hostility> Retried(std::vector<net::Hostility> all) {
  for (net::Hostility& each : all) each.needs_deadline = true;
  return all;
}

Status ProbeStatus(const kubelet::ProbeReply& reply) {
  if (reply.kind == kubelet::ProbeReply::Kind::kSuccess) return {};
  return Status::Unavailable(reply.message);
}

Status HttpProbe(Context& ctx, const HostileServer& server, const char* scheme) {
  kubelet::ProbeTarget target{.pod_ip = "127.0.0.1", .timeout = seconds(60)};
  target.handler.httpGet = core::v1::HTTPGetAction{.port = server.port(), .scheme = scheme};
  return ProbeStatus(kubelet::testing::RunProbe(ctx, target));
}

Status GrpcProbe(Context& ctx, const HostileServer& server) {
  kubelet::ProbeTarget target{.pod_ip = "127.0.0.1", .timeout = seconds(60)};
  target.handler.grpc = core::v1::GRPCAction{.port = server.port()};
  return ProbeStatus(kubelet::testing::RunProbe(ctx, target));
}

std::string Url(const HostileServer& server) {
  return "https://127.0.0.1:" + std::to_string(server.port());
}

Status CallWebhook(Context& ctx, const HostileServer& server) {
  apiserver::WebhookConfig config;
  config.url = Url(server);
  config.ca_pem = server.ca_pem();
  COX_ASSIGN_OR_RETURN(const auto client,
                       apiserver::WebhookClient::Create(
                           std::make_shared<apiserver::WebhookConnections>(ctx), config));
  return client.Post(ctx, "{}").status();
}

Status FetchIssuer(Context& ctx, const HostileServer& server) {
  return apiserver::FetchOverTls(server.ca_pem())(ctx, Url(server) + "/keys").status();
}

Status GetPod(Context& ctx, const HostileServer& server) {
  Config config;
  config.server = Url(server);
  config.ca_pem = server.ca_pem();
  config.retry_for = std::chrono::milliseconds(0);
  COX_ASSIGN_OR_RETURN(const auto client, Connect(ctx, config));
  return client->Get<core::v1::Pod>(ctx, {"default", "a"}).status();
}

Status ReadEtcd(Context& ctx, const HostileServer& server) {
  storage::EtcdOptions options;
  options.servers = {"http://127.0.0.1:" + std::to_string(server.port())};
  COX_ASSIGN_OR_RETURN(const auto store, storage::ConnectEtcd(ctx, options));
  return store->Get(ctx, "/a").status();
}

Status CallKms(Context& ctx, const HostileServer& server) {
  COX_ASSIGN_OR_RETURN(const auto plugin,
                       storage::kms::Connect(ctx,
                                             {.name = "hostile",
                                              .endpoint = "unix://" + server.path(),
                                              .timeout = std::chrono::seconds(60)},
                                             nullptr));
  return plugin->Status(ctx).status();
}

Status CallRuntime(Context& ctx, const HostileServer& server) {
  COX_ASSIGN_OR_RETURN(const auto client,
                       runtime::CriClient::Create(ctx, "unix://" + server.path()));
  return client
      ->Call<cri::v1::VersionResponse>(ctx, "/runtime.v1.RuntimeService/Version",
                                       cri::v1::VersionRequest())
      .status();
}

std::vector<ClientCase> Clients() {
  const auto http = [](const char* scheme) {
    return [scheme](Context& ctx, const HostileServer& s) { return HttpProbe(ctx, s, scheme); };
  };
  return {
      // Probes ignore the rest of a body that is too long.
      {"HttpProbe", Transport::kTcp, net::HostileHttp1(), http("HTTP")},
      {"HttpsProbe", Transport::kTls, net::HostileHttp1(), http("HTTPS")},
      {"GrpcProbe", Transport::kTcp, net::HostileHttp2(), GrpcProbe},
      {"Webhook", Transport::kTls, AllHttpWithBody(), CallWebhook},
      {"Oidc", Transport::kTls, AllHttpWithBody(), FetchIssuer},
      // The limit of a body is 256 MiB, because lists are large.
      {"ApiClient", Transport::kTls, AllHttp(), GetPod},
      {"Etcd", Transport::kTcp, Retried(net::HostileHttp2()), ReadEtcd},
      {"Kms", Transport::kUnix, Retried(net::HostileHttp2()), CallKms},
      {"Cri", Transport::kUnix, Retried(net::HostileHttp2()), CallRuntime},
  };
}

class HostileServersTest : public testing::TestWithParam<ClientCase> {};

TEST_P(HostileServersTest, CallsEndWithErrorAndBoundedMemory) {
  net::ExpectLimits(GetParam().hostilities, GetParam().transport, GetParam().call);
}

INSTANTIATE_TEST_SUITE_P(All, HostileServersTest, testing::ValuesIn(Clients()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cox
