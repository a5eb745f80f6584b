// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "apiserver/webhook/response.h"
#include "net/testing/loopback.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

struct Endless final : net::BodySource {
  explicit Endless(std::atomic<size_t>& sent) : sent(sent) {}
  State Pull(size_t, std::vector<Bytes>* out) override {
    out->push_back(Bytes(std::string(size_t{1} << 16, 'x')));
    sent += size_t{1} << 16;
    return sent < (size_t{100} << 20) ? State::kMore : State::kEnd;
  }
  std::atomic<size_t>& sent;
};
struct Silent final : net::BodySource {
  State Pull(size_t, std::vector<Bytes>*) override { return State::kWait; }
};

// A webhook whose response depends on the path.
class WebhookClientTest : public testing::Test {
 protected:
  void Answer(const net::ExchangePtr& exchange) {
    const net::Request& request = exchange->request();
    const std::string_view path = request.path();
    if (path == "/silent") {
      exchange->Stream(200, {}, std::make_unique<Silent>());
      return;
    }
    if (path == "/endless") {
      exchange->Stream(200, {}, std::make_unique<Endless>(sent_));
      return;
    }
    net::Response response;
    std::string body = R"({"seen":true})";
    if (path == "/echo") {
      Value seen = Value::MakeObject({{"target", request.target}, {"body", request.body}});
      for (const auto& [name, value] : request.headers) seen.as_object()[name] = value;
      seen.as_object()["peer"] = request.peer->address;
      body = json::Write(seen);
    } else if (path == "/redirect") {
      response.status = 302;
      response.headers.Add("location", "/reached");
    } else if (path == "/reached") {
      reached_ = true;
    } else if (path == "/garbage") {
      body = "garbage";
    } else if (path == "/empty") {
      body = "";
    } else if (path == "/500") {
      response.status = 500;
      body = "out of order\n";
    } else if (path == "/404") {
      response.status = 404;
    }
    response.headers.Add("content-type", "application/json");
    if (!body.empty()) response.body.push_back(Bytes(body));
    exchange->Send(std::move(response));
  }

  std::string Url(const std::string& path) const {
    return "https://127.0.0.1:" + std::to_string(server_.server->port()) + path;
  }
  WebhookConfig Config(const std::string& path) const {
    WebhookConfig config;
    config.url = Url(path);
    config.ca_pem = server_.ca.certificate_pem;
    return config;
  }
  WebhookClient Client(WebhookConfig config) {
    return *WebhookClient::Create(connections_, std::move(config));
  }
  Result<Value> Post(const std::string& path, std::chrono::seconds timeout = 30s) {
    return Client(Config(path)).Post(server_.context, "{}", timeout);
  }

  std::atomic<size_t> sent_ = 0;
  std::atomic<bool> reached_ = false;
  net::Loopback server_{[this](const net::ExchangePtr& exchange) { Answer(exchange); }};
  std::shared_ptr<WebhookConnections> connections_ =
      std::make_shared<WebhookConnections>(server_.context);
};

TEST_F(WebhookClientTest, SendsJsonWithUserAgentTimeoutAndToken) {
  WebhookConfig config = Config("/echo");
  config.token = "secret";
  const auto answer = Client(config).Post(server_.context, R"({"a":1})", 7s);
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(*answer->Find("target"), Value("/echo?timeout=7s"));
  EXPECT_EQ(*answer->Find("body"), Value(R"({"a":1})"));
  EXPECT_EQ(*answer->Find("content-type"), Value("application/json"));
  EXPECT_EQ(*answer->Find("user-agent"), Value("kube-apiserver-admission"));
  EXPECT_EQ(*answer->Find("authorization"), Value("Bearer secret"));
}

// CVE-2020-8561: a webhook must not redirect the API server to another address.
TEST_F(WebhookClientTest, RedirectIsErrorAndIsNotFollowed) {
  const auto answer = Post("/redirect");
  EXPECT_EQ(answer.status().message(),
            "the server responded with the status code 302 but did not return more information");
  EXPECT_FALSE(reached_);
}

TEST_F(WebhookClientTest, OversizedResponseEndsEarly) {
  const auto answer = Post("/endless");
  EXPECT_TRUE(answer.status().Is(Reason::kRequestEntityTooLarge)) << answer.status().ToString();
  EXPECT_LT(sent_, size_t{64} << 20);  // data in buffers, not the whole 100 MiB
}

TEST_F(WebhookClientTest, CallEndsAtTimeoutAndContextDeadline) {
  const auto answer = Post("/silent", 1s);
  EXPECT_TRUE(answer.status().Is(Reason::kTimeout));
  EXPECT_EQ(answer.status().message(),
            "Post \"" + Url("/silent?timeout=1s") + "\": context deadline exceeded");
  const Context shorter = server_.context.WithTimeout(50ms);
  EXPECT_TRUE(Client(Config("/silent")).Post(shorter, "{}", 30s).status().Is(Reason::kTimeout));
}

TEST_F(WebhookClientTest, InvalidResponsesYieldUpstreamErrors) {
  const std::pair<std::string, std::string> cases[] = {
      {"/garbage",
       "couldn't get version/kind; json parse error: invalid character 'g' looking for "
       "beginning of value"},
      {"/empty", "0-length response with status code: 200 and content type: application/json"},
      {"/500",
       "an error on the server (\"out of order\") has prevented the request from succeeding"},
      {"/404", "the server could not find the requested resource"},
  };
  for (const auto& [path, why] : cases) EXPECT_EQ(Post(path).status().message(), why);
}

TEST_F(WebhookClientTest, UnreachableServerIsUnavailable) {
  WebhookConfig config = Config("/");
  config.url = "https://127.0.0.1:1/hook";
  const auto answer = Client(config).Post(server_.context, "{}");
  EXPECT_TRUE(answer.status().Is(Reason::kServiceUnavailable));
  EXPECT_EQ(answer.status().message(),
            "Post \"https://127.0.0.1:1/hook\": dial tcp 127.0.0.1:1: connect: connection refused");
}

TEST_F(WebhookClientTest, CertificateOfUnknownAuthorityIsRejected) {
  WebhookConfig config = Config("/echo");
  config.ca_pem =
      net::Loopback::Made({.common_name = "other-ca", .is_ca = true}, nullptr).certificate_pem;
  const auto answer = Client(config).Post(server_.context, "{}");
  EXPECT_THAT(
      answer.status().message(),
      HasSubstr(
          "tls: failed to verify certificate: x509: certificate signed by unknown authority"));
  config.ca_pem = "";  // the system's roots do not contain it either
  EXPECT_FALSE(Client(config).Post(server_.context, "{}").ok());
}

TEST_F(WebhookClientTest, CertificateWithOtherNameIsRejected) {
  WebhookConfig config = Config("/echo");
  config.server_name = "elsewhere.example";
  EXPECT_THAT(Client(config).Post(server_.context, "{}").status().message(),
              HasSubstr("tls: failed to verify certificate"));
}

TEST_F(WebhookClientTest, ConnectionsAreKeptAndSharedByPaths) {
  const auto first = Post("/echo");
  const auto second = Post("/echo?more");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first->Find("peer"), *second->Find("peer"));
  EXPECT_EQ(connections_->size(), 1U);
}

TEST_F(WebhookClientTest, CallsRunConcurrently) {
  const auto silent = Client(Config("/silent")).Start(server_.context, "{}", 30s);
  const auto answered = Client(Config("/echo")).Start(server_.context, "{}", 30s);
  EXPECT_TRUE(answered->Wait().ok());
}

TEST_F(WebhookClientTest, LeastRecentlyUsedServerIsDropped) {
  WebhookConnections connections(server_.context, nullptr, 2);
  const auto to = [&](uint16_t port) {
    return *connections.To({.host = "127.0.0.1", .port = port});
  };
  const auto one = to(1);
  const auto two = to(2);
  EXPECT_EQ(to(1), one);
  to(3);  // 2 is the least recently used
  EXPECT_EQ(connections.size(), 2U);
  EXPECT_EQ(to(1), one);
  EXPECT_NE(to(2), two);
}

TEST_F(WebhookClientTest, ServiceIsResolvedAndVerifiedByName) {
  const auto resolver = [this](Context&, const std::string& ns, const std::string& name,
                               uint16_t) -> Result<ServiceAddress> {
    if (name != "hook") return Status::NotFound("service \"" + name + "\" not found");
    EXPECT_EQ(ns, "test");
    return ServiceAddress{.host = "127.0.0.1", .port = server_.server->port()};
  };
  connections_ = std::make_shared<WebhookConnections>(server_.context, resolver);
  WebhookConfig config = ServiceWebhook("test", "hook", "/echo", {});
  config.ca_pem = server_.ca.certificate_pem;
  // The test certificate is for localhost.
  EXPECT_THAT(Client(config).Post(server_.context, "{}").status().message(),
              HasSubstr("failed to verify certificate"));
  config.server_name = "localhost";
  const auto answer = Client(config).Post(server_.context, "{}");
  ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(*answer->Find("host"), Value("hook.test.svc:443"));
  WebhookConfig missing = ServiceWebhook("test", "gone", {}, {});
  EXPECT_EQ(Client(missing).Post(server_.context, "{}", 1s).status().message(),
            "Post \"https://gone.test.svc:443/?timeout=1s\": service \"gone\" not found");
}

}  // namespace
}  // namespace cox::apiserver
