// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "net/testing/loopback.h"
#include "net/testing/relay.h"
#include "net/websocket.h"
#include "sdk/transport/request_headers.h"

namespace cox::sdk {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Sends one event and does not end until it is destroyed.
struct Silent final : net::BodySource {
  State Pull(size_t, std::vector<Bytes>* out) override {
    if (!std::exchange(said, true)) {
      out->push_back(Bytes::Static("event"));
      return State::kMore;
    }
    return State::kWait;
  }
  bool said = false;
};

// A server that records requests.
class ConnectTest : public testing::Test {
 protected:
  ConnectTest() : server_([this](const net::ExchangePtr& exchange) { Answer(exchange); }) {}

  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cox_connectXXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    config_.server = "https://127.0.0.1:" + std::to_string(server_.server->port());
    config_.ca_pem = server_.ca.certificate_pem;
    options_.environment.variable = [](const std::string&) { return std::string(); };
    options_.environment.program = "tester";
  }
  void TearDown() override { fs::remove_all(dir_); }

  void Answer(const net::ExchangePtr& exchange) {
    const net::Request& request = exchange->request();
    const std::string authorization(request.headers.Get("authorization").value_or(""));
    {
      MutexLock lock(mu_);
      last_ = request;
    }
    if (request.path().ends_with("/watch")) {
      exchange->Stream(200, {}, std::make_unique<Silent>());
      return;
    }
    if (!wanted_.empty() && authorization != wanted_) return exchange->Send({.status = 401});
    if (request.path().ends_with("/socket")) {
      auto socket = exchange->Upgrade({"b", "c"}, {});
      if (!socket.ok()) return exchange->Send({.status = 400});
      EXPECT_TRUE((*socket)->Send(context(), authorization).ok());
      MutexLock lock(mu_);
      socket_ = *std::move(socket);
      return;
    }
    exchange->Send({.body = {Bytes(authorization)}});
  }
  net::Request Last() {
    MutexLock lock(mu_);
    return last_;
  }

  std::shared_ptr<Transport> Connected() {
    auto transport = Connect(context(), config_, options_);
    EXPECT_TRUE(transport.ok()) << transport.status().ToString();
    return transport.ok() ? *transport : nullptr;
  }
  Context& context() { return server_.context; }
  // The authorization that the server received; an error in parentheses.
  std::string Ask(Transport& transport, std::string target = "/api") {
    auto response = transport.Do(context(), {.method = "GET", .target = std::move(target)});
    if (!response.ok()) return "(" + response.status().ToString() + ")";
    return std::to_string(response->status) + " " + net::TextOf(*response);
  }
  // Replaces the file atomically, like a rotation.
  fs::path Write(const std::string& name, std::string_view text) {
    std::ofstream(dir_ / "aside", std::ios::binary) << text;
    fs::rename(dir_ / "aside", dir_ / name);
    return dir_ / name;
  }

  Mutex mu_;
  net::Request last_ COX_GUARDED_BY(mu_);
  std::unique_ptr<net::WebSocket> socket_ COX_GUARDED_BY(mu_);
  std::string wanted_;
  fs::path dir_;
  Config config_;
  ConnectOptions options_;
  net::Loopback server_;
};

TEST_F(ConnectTest, AddsPrefixAndHeaders) {
  config_.server += "/k8s/cluster/";
  config_.token = Secret<std::string>("t1");
  config_.impersonate.user = "jane";
  config_.impersonate.uid = "42";
  config_.impersonate.groups = {"dev", "ops"};
  config_.impersonate.extra = {{"Scopes", {"a", "b"}}, {"acme.com/project", {"x"}}};
  const auto transport = Connected();
  net::Request request{.method = "POST", .target = "/api/v1/pods?limit=1"};
  request.headers.Add("authorization", "Bearer of-somebody-else");
  request.headers.Add("impersonate-user", "admin");
  request.body = "in";
  auto response = transport->Do(context(), std::move(request));
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  const net::Request seen = Last();
  EXPECT_EQ(seen.target, "/k8s/cluster/api/v1/pods?limit=1");
  EXPECT_EQ(seen.body, "in");
  EXPECT_EQ(seen.version, 2);
  EXPECT_THAT(seen.headers.All("authorization"), ElementsAre("Bearer t1"));
  EXPECT_THAT(seen.headers.All("impersonate-user"), ElementsAre("jane"));
  EXPECT_THAT(seen.headers.All("impersonate-uid"), ElementsAre("42"));
  EXPECT_THAT(seen.headers.All("impersonate-group"), ElementsAre("dev", "ops"));
  EXPECT_THAT(seen.headers.All("impersonate-extra-scopes"), ElementsAre("a", "b"));
  EXPECT_THAT(seen.headers.All("impersonate-extra-acme.com%2fproject"), ElementsAre("x"));
  EXPECT_THAT(std::string(*seen.headers.Get("user-agent")), HasSubstr("tester/v0 (linux/"));
}

TEST_F(ConnectTest, SendsBasicAuthAndUserAgent) {
  config_.username = "joe";
  config_.password = Secret<std::string>("pass word");
  config_.user_agent = "mine/1.0";
  const auto transport = Connected();
  EXPECT_EQ(Ask(*transport), "200 Basic am9lOnBhc3Mgd29yZA==");
  EXPECT_EQ(Last().headers.Get("user-agent"), "mine/1.0");
}

TEST_F(ConnectTest, PlainHttpUsesHttp1) {
  net::Loopback plain([this](const net::ExchangePtr& exchange) { Answer(exchange); }, {}, false);
  config_.server = "http://127.0.0.1:" + std::to_string(plain.server->port());
  const auto transport = Connected();
  EXPECT_EQ(Ask(*transport), "200 ");
  EXPECT_EQ(Last().version, 1);
}

TEST_F(ConnectTest, RejectsInconsistentConfigurationWithoutSecrets) {
  struct Case {
    const char* name;
    std::function<void(Config&)> change;
    const char* says;
  };
  const Case cases[] = {
      {"no server", [](Config& c) { c.server = ""; }, "server"},
      {"ftp", [](Config& c) { c.server = "ftp://host"; }, "want https://"},
      {"user in URL", [](Config& c) { c.server = "https://u:sesame@h"; }, "want https://"},
      {"bad CA", [](Config& c) { c.ca_pem = "sesame"; }, "CA"},
      {"insecure with CA", [](Config& c) { c.insecure_skip_tls_verify = true; }, "exclude"},
      {"certificate without key", [](Config& c) { c.certificate_pem = "sesame"; }, "key"},
      {"key without certificate", [](Config& c) { c.key_pem = Secret<std::string>("sesame"); },
       "key"},
      {"bad pair",
       [](Config& c) {
         c.certificate_pem = "sesame";
         c.key_pem = Secret<std::string>("sesame");
       },
       "client certificate"},
      {"token and password",
       [](Config& c) {
         c.token = Secret<std::string>("sesame");
         c.username = "u";
       },
       "not both"},
      {"token of two lines", [](Config& c) { c.token = Secret<std::string>("sesame\r\nx: y"); },
       "token"},
      {"groups alone", [](Config& c) { c.impersonate.groups = {"g"}; }, "needs a user"},
      {"user of two lines", [](Config& c) { c.impersonate.user = "a\r\nb: c"; }, "line breaks"},
      {"no token file", [](Config& c) { c.token_file = "/nowhere/token"; }, "/nowhere/token"},
      {"no CA file", [](Config& c) { c.ca_file = "/nowhere/ca"; }, "/nowhere/ca"},
      {"old plugin",
       [](Config& c) {
         c.exec =
             ExecPlugin{.command = "p", .api_version = "client.authentication.k8s.io/v1alpha1"};
       },
       "client.authentication.k8s.io/v1"},
      {"plugin that must ask",
       [](Config& c) {
         c.exec = ExecPlugin{.command = "p",
                             .api_version = "client.authentication.k8s.io/v1",
                             .interactive_mode = "Always"};
       },
       "no terminal"},
  };
  for (const Case& c : cases) {
    Config config = config_;
    c.change(config);
    const auto transport = Connect(context(), config, options_);
    ASSERT_FALSE(transport.ok()) << c.name;
    EXPECT_THAT(transport.status().message(), HasSubstr(c.says)) << c.name;
    EXPECT_THAT(transport.status().message(), Not(HasSubstr("sesame"))) << c.name;
  }
}

TEST_F(ConnectTest, VerifiesTheServerCertificate) {
  const net::CertificatePair other =
      net::Loopback::Made({.common_name = "other-ca", .is_ca = true}, nullptr);
  config_.ca_pem = other.certificate_pem;
  const auto distrusting = Connected();
  auto refused = distrusting->Do(context(), {.method = "GET", .target = "/"});
  EXPECT_EQ(refused.status().reason(), Reason::kServiceUnavailable);
  EXPECT_TRUE(NotSent(refused.status())) << refused.status().ToString();

  config_.ca_pem = server_.ca.certificate_pem;
  config_.tls_server_name = "wrong.example";
  EXPECT_THAT(Ask(*Connected()), HasSubstr("hostname mismatch"));
  config_.tls_server_name = "localhost";
  EXPECT_EQ(Ask(*Connected()), "200 ");
  config_.tls_server_name = "";
  config_.ca_pem = "";
  config_.insecure_skip_tls_verify = true;
  EXPECT_EQ(Ask(*Connected()), "200 ");
}

TEST_F(ConnectTest, TokenFileIsReloaded) {
  config_.token_file = Write("token", "first\n");
  config_.token = Secret<std::string>("not this");
  const auto transport = Connected();
  EXPECT_EQ(Ask(*transport), "200 Bearer first");
  Write("token", "second\n");
  while (Ask(*transport) == "200 Bearer first") {
  }
  EXPECT_EQ(Ask(*transport), "200 Bearer second");
  EXPECT_EQ(server_.server->stats().connections, 1U);  // reuses the connection
}

TEST_F(ConnectTest, CaFileIsReloadedAndRunningStreamsContinue) {
  config_.ca_pem = "";
  config_.ca_file = Write("ca", server_.ca.certificate_pem);
  const auto transport = Connected();
  auto watch = transport->Start(context(), {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok()) << watch.status().ToString();
  EXPECT_EQ((*watch)->Read(context())->view(), "event");

  const net::CertificatePair ca =
      net::Loopback::Made({.common_name = "new-ca", .is_ca = true}, nullptr);
  const net::CertificatePair leaf =
      net::Loopback::Made({.common_name = "localhost", .ip_addresses = {"127.0.0.1"}}, &ca);
  ASSERT_TRUE(server_.server_tls->Replace(leaf, {}).ok());
  Write("ca", ca.certificate_pem);
  // The existing connection is used until the change is detected.
  while (server_.server->stats().connections < 2) ASSERT_EQ(Ask(*transport), "200 ");
  Context moment = context().WithTimeout(20ms);
  EXPECT_EQ((*watch)->Read(moment).status(), Context::DeadlineExceeded());  // the watch still runs
  watch->reset();
  while (server_.server->stats().connections > 1) ASSERT_EQ(Ask(*transport), "200 ");
}

TEST_F(ConnectTest, ClientCertificateIsSentAndReloaded) {
  const auto made = [this](const char* name) {
    return net::Loopback::Made({.common_name = name, .client_auth = true}, &server_.ca);
  };
  const auto first = made("first");
  const auto second = made("second");
  config_.certificate_file = Write("crt", first.certificate_pem);
  config_.key_file = Write("key", first.key_pem);
  const auto transport = Connected();
  EXPECT_EQ(Ask(*transport), "200 ");
  ASSERT_EQ(Last().peer->certificates.size(), 1U);
  const std::string before = Last().peer->certificates[0];
  // While certificate and key do not match, the old pair is used.
  Write("crt", second.certificate_pem);
  EXPECT_EQ(Ask(*transport), "200 ");
  Write("key", second.key_pem);
  while (Last().peer->certificates[0] == before) ASSERT_EQ(Ask(*transport), "200 ");
}

// Half-open connection: packets are lost without a close.
TEST_F(ConnectTest, UnresponsiveConnectionIsClosed) {
  net::Relay relay({.port = server_.server->port()});
  config_.server = "https://127.0.0.1:" + std::to_string(relay.port());
  options_.ping_after = 1s;  // even a busy machine answers a ping in half of that
  const auto transport = Connected();
  auto watch = transport->Start(context(), {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok()) << watch.status().ToString();
  EXPECT_EQ((*watch)->Read(context())->view(), "event");
  // A connection without traffic stays open if its pings are answered.
  Context a_while = context().WithTimeout(2500ms);
  EXPECT_EQ((*watch)->Read(a_while).status(), Context::DeadlineExceeded());
  relay.Freeze();
  const auto end = (*watch)->Read(context());
  EXPECT_EQ(end.status().reason(), Reason::kServiceUnavailable);
  EXPECT_THAT(end.status().message(), HasSubstr("pings"));
  EXPECT_FALSE(NotSent(end.status()));
}

TEST_F(ConnectTest, ReconnectsAfterABrokenConnection) {
  net::Relay relay({.port = server_.server->port()});
  config_.server = "https://127.0.0.1:" + std::to_string(relay.port());
  const auto transport = Connected();
  auto watch = transport->Start(context(), {.method = "GET", .target = "/watch"});
  ASSERT_TRUE(watch.ok()) << watch.status().ToString();
  EXPECT_EQ((*watch)->Read(context())->view(), "event");
  relay.Cut();
  EXPECT_EQ((*watch)->Read(context()).status().reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(Ask(*transport), "200 ");
}

TEST_F(ConnectTest, ConnectionRefusedIsNotSent) {
  server_.server->Stop();
  const auto refused = Connected()->Do(context(), {.method = "POST", .target = "/"});
  EXPECT_EQ(refused.status().reason(), Reason::kServiceUnavailable);
  EXPECT_TRUE(NotSent(refused.status().WithContext("posting"))) << refused.status().ToString();
}

// The plugin is a real program.
class ExecTest : public ConnectTest {
 protected:
  // `body`: the script, with $n as the number of the run; it prints a status with Status().
  void UsePlugin(const std::string& body) {
    const fs::path path = dir_ / "plugin";
    std::ofstream(path) << "#!/bin/sh\n"
                        << "echo x >> '" << (dir_ / "runs").string() << "'\n"
                        << "n=$(wc -l < '" << (dir_ / "runs").string() << "' | tr -d ' ')\n"
                        << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    config_.exec = ExecPlugin{.command = path.string(),
                              .api_version = "client.authentication.k8s.io/v1",
                              .install_hint = "Ask the owner of the cluster."};
  }
  static std::string Status(const std::string& fields) {
    return "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
           "\"status\":{" +
           fields + "}}'";
  }
  int Runs() {
    std::ifstream file(dir_ / "runs");
    int runs = 0;
    for (std::string line; std::getline(file, line);) ++runs;
    return runs;
  }
};

TEST_F(ExecTest, TokenIsCachedAndRenewedAfterUnauthorized) {
  UsePlugin(Status("\"token\":\"t'$n'\""));
  const auto transport = Connected();
  wanted_ = "Bearer t1";
  EXPECT_EQ(Ask(*transport), "200 Bearer t1");
  EXPECT_EQ(Ask(*transport), "200 Bearer t1");
  EXPECT_EQ(Runs(), 1);
  wanted_ = "Bearer t2";
  EXPECT_EQ(Ask(*transport), "200 Bearer t2");
  EXPECT_EQ(Runs(), 2);
  // Only once per request.
  wanted_ = "Bearer nobody has it";
  EXPECT_EQ(Ask(*transport), "401 ");
  EXPECT_EQ(Runs(), 3);
  wanted_ = "Bearer t4";
  auto watch = transport->Start(context(), {.method = "GET", .target = "/list"});
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ((*watch)->status(), 200);
}

TEST_F(ExecTest, WebSocketUsesTheSameCredentials) {
  UsePlugin(Status("\"token\":\"t'$n'\""));
  config_.server += "/k8s";
  wanted_ = "Bearer t2";
  const auto transport = Connected();
  auto socket = transport->OpenWebSocket(context(), {.target = "/socket"}, {"a", "b"});
  ASSERT_TRUE(socket.ok()) << socket.status().ToString();
  EXPECT_EQ((*socket)->protocol(), "b");
  EXPECT_EQ(Last().target, "/k8s/socket");
  auto message = (*socket)->Receive(context());
  ASSERT_TRUE(message.ok() && message->has_value());
  EXPECT_EQ((*message)->view(), "Bearer t2");
  wanted_ = "Bearer nobody has it";
  const auto refused = transport->OpenWebSocket(context(), {.target = "/socket"}, {"a", "b"});
  EXPECT_EQ(refused.status().code(), 401);
  MutexLock lock(mu_);
  socket_.reset();
}

TEST_F(ExecTest, ExpiredTokenIsNotReused) {
  UsePlugin("case $n in\n1) e=2020-01-01T00:00:00Z;;\n*) e=2999-01-01T00:00:00Z;;\nesac\n" +
            Status("\"token\":\"t'$n'\",\"expirationTimestamp\":\"'$e'\""));
  const auto transport = Connected();
  EXPECT_EQ(Ask(*transport), "200 Bearer t1");  // a new token is used even if it has expired
  EXPECT_EQ(Ask(*transport), "200 Bearer t2");
  EXPECT_EQ(Ask(*transport), "200 Bearer t2");
}

TEST_F(ExecTest, ConcurrentRequestsShareOneRun) {
  UsePlugin("sleep 0.1\n" + Status("\"token\":\"t'$n'\""));
  const auto transport = Connected();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(Ask(*transport), "200 Bearer t1"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecTest, PluginReceivesArgumentsEnvironmentAndClusterInfo) {
  UsePlugin(
      "[ \"$PLUGIN_MODE\" = quiet ] && [ \"$1 $2\" = 'get token; echo' ] || exit 9\n"
      "printf '%s' \"$KUBERNETES_EXEC_INFO\" > '" +
      (dir_ / "info").string() + "'\n" + Status("\"token\":\"t\""));
  config_.exec->arguments = {"get", "token; echo"};
  config_.exec->environment = {{"PLUGIN_MODE", "quiet"}};
  config_.exec->provide_cluster_info = true;
  config_.exec->cluster_config = R"({"audience":"a"})";
  EXPECT_EQ(Ask(*Connected()), "200 Bearer t");
  std::ifstream file(dir_ / "info");
  const std::string info((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(info, HasSubstr(R"("apiVersion":"client.authentication.k8s.io/v1")"));
  EXPECT_THAT(info, HasSubstr(R"("interactive":false)"));
  EXPECT_THAT(info, HasSubstr("\"server\":\"" + config_.server + "\""));
  EXPECT_THAT(info, HasSubstr(R"("certificate-authority-data":")"));
  EXPECT_THAT(info, HasSubstr(R"("config":{"audience":"a"})"));
}

TEST_F(ExecTest, CertificateOfThePluginIsUsed) {
  const auto pair =
      net::Loopback::Made({.common_name = "plugin", .client_auth = true}, &server_.ca);
  const auto quoted = [](std::string text) {
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
      text.replace(at, 1, "\\n");
    }
    return text;
  };
  Write("answer", R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                  R"("status":{"clientCertificateData":")" +
                      quoted(pair.certificate_pem) + R"(","clientKeyData":")" +
                      quoted(pair.key_pem) + R"("}})");
  UsePlugin("cat '" + (dir_ / "answer").string() + "'");
  EXPECT_EQ(Ask(*Connected()), "200 ");
  EXPECT_EQ(Last().peer->certificates.size(), 1U);
}

TEST_F(ExecTest, FailureContainsTheInstallHintAndNoSecret) {
  struct Case {
    std::string script;
    const char* says;
  };
  const Case cases[] = {
      {"echo sesame; exit 3", "exit code 3"},
      {"echo sesame", "no JSON"},
      {Status("\"other\":\"sesame\""), "neither a token nor a certificate"},
      {Status("\"clientKeyData\":\"sesame\""), "only one of"},
      {Status("\"token\":\"sesame\",\"expirationTimestamp\":\"soon\""), "no time"},
      {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
       "\"status\":{\"token\":\"sesame\"}}'",
       "another version"},
      {"yes sesame", "too much"},
  };
  for (const Case& c : cases) {
    UsePlugin(c.script);
    const std::string text = Ask(*Connected());
    EXPECT_THAT(text, HasSubstr("Unauthorized: getting credentials: exec plugin")) << c.script;
    EXPECT_THAT(text, HasSubstr(c.says)) << c.script;
    EXPECT_THAT(text, HasSubstr("Ask the owner of the cluster.")) << c.script;
    EXPECT_THAT(text, Not(HasSubstr("sesame"))) << c.script;
  }
  config_.exec->command = "/nowhere/plugin";
  EXPECT_THAT(Ask(*Connected()), HasSubstr("it is not installed"));
}

TEST_F(ExecTest, CanceledRequestStopsThePlugin) {
  UsePlugin("sleep 600");
  const auto transport = Connected();
  Context call = context().WithTimeout(50ms);
  EXPECT_EQ(transport->Do(call, {.method = "GET", .target = "/"}).status(),
            Context::DeadlineExceeded());
}

}  // namespace
}  // namespace cox::sdk
