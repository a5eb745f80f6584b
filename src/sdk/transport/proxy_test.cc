// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "net/testing/loopback.h"
#include "net/testing/relay.h"
#include "sdk/transport/connect.h"

namespace cox::sdk {
namespace {

using testing::HasSubstr;
using testing::Not;

Environment With(std::map<std::string, std::string> variables) {
  Environment environment;
  environment.variable = [variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  return environment;
}

// "kind host:port user:password"; empty: no proxy; an error in parentheses.
std::string Chosen(const std::string& proxy_url, const std::string& server,
                   const std::map<std::string, std::string>& variables) {
  const auto url = net::ParseUrl(server);
  const auto proxy = ProxyFor(proxy_url, *url, With(variables));
  if (!proxy.ok()) return "(" + proxy.status().message() + ")";
  if (!*proxy) return "";
  const net::Proxy& p = **proxy;
  return std::to_string(static_cast<int>(p.kind)) + " " + p.host + ":" + std::to_string(p.port) +
         " " + p.username + ":" + p.password.Reveal();
}

TEST(ProxyForTest, UsesConfigurationThenEnvironment) {
  const std::string server = "https://api.example:6443";
  EXPECT_EQ(Chosen("", server, {}), "");
  EXPECT_EQ(Chosen("http://p:3128", server, {}), "0 p:3128 :");
  EXPECT_EQ(Chosen("https://p", server, {}), "1 p:443 :");
  EXPECT_EQ(Chosen("socks5://u:w@p", server, {}), "2 p:1080 u:w");
  EXPECT_EQ(Chosen("http://p", server, {{"HTTPS_PROXY", "http://q"}}), "0 p:80 :");
  EXPECT_EQ(Chosen("", server, {{"HTTPS_PROXY", "http://q"}}), "0 q:80 :");
  EXPECT_EQ(Chosen("", server, {{"https_proxy", "q:3128"}}), "0 q:3128 :");
  EXPECT_EQ(Chosen("", server, {{"HTTP_PROXY", "http://q"}}), "");
  EXPECT_EQ(Chosen("", "http://api.example", {{"HTTP_PROXY", "http://q"}}), "0 q:80 :");
  EXPECT_EQ(Chosen("", server, {{"HTTPS_PROXY", "http://q"}, {"no_proxy", "example"}}), "");
  EXPECT_EQ(Chosen("", "https://localhost:6443", {{"HTTPS_PROXY", "http://q"}}), "");
  EXPECT_EQ(Chosen("", "https://127.3.2.1", {{"HTTPS_PROXY", "http://q"}}), "");
  EXPECT_EQ(Chosen("", "https://[::1]", {{"HTTPS_PROXY", "http://q"}}), "");
  // An explicit proxy_url ignores NO_PROXY.
  EXPECT_EQ(Chosen("http://p", "https://127.0.0.1", {{"NO_PROXY", "*"}}), "0 p:80 :");
  for (const char* bad : {"ftp://u:sesame@p", "http://u:sesame@"}) {
    EXPECT_THAT(Chosen(bad, server, {}), HasSubstr("(proxy-url: "));
    EXPECT_THAT(Chosen("", server, {{"HTTPS_PROXY", bad}}), HasSubstr("(HTTPS_PROXY: "));
    EXPECT_THAT(Chosen(bad, server, {}), Not(HasSubstr("sesame")));
  }
}

TEST(ProxyForTest, ExclusionsMatchThoseOfGo) {
  struct Case {
    const char* list;
    const char* host;
    int port;
    bool excluded;
  };
  const Case cases[] = {
      {"", "a.example", 443, false},
      {"*", "a.example", 443, true},
      {"example", "example", 443, true},
      {"example", "a.example", 443, true},
      {"example", "notexample", 443, false},
      {".example", "a.example", 443, true},
      {".example", "example", 443, false},
      {"*.example", "a.example", 443, true},
      {"other, EXAMPLE ", "A.Example", 443, true},
      {"a.example:6443", "a.example", 6443, true},
      {"a.example:6443", "a.example", 443, false},
      {"10.0.0.1", "10.0.0.1", 443, true},
      {"10.0.0.1", "10.0.0.10", 443, false},
      {"10.0.0.1:443", "10.0.0.1", 6443, false},
      {"10.0.0.0/8", "10.1.2.3", 443, true},
      {"10.0.0.0/8", "11.1.2.3", 443, false},
      {"10.1.2.9/24", "10.1.2.3", 443, true},
      {"10.0.0.0/8", "a.example", 443, false},
      {"0.1", "10.0.0.1", 443, false},  // no suffixes of addresses
      {"fd00::/8", "fd00::5", 443, true},
      {"fd00::/8", "fe80::5", 443, false},
      {"[fd00::5]:443", "fd00::5", 443, true},
      {"fd00::5", "fd00:0::5", 443, true},
      {"10.0.0.0/99,:,/,[", "10.0.0.1", 443, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(IsExcluded(c.list, c.host, static_cast<uint16_t>(c.port)), c.excluded)
        << c.list << " " << c.host << ":" << c.port;
  }
}

TEST(ProxyForTest, TransportConnectsThroughTheProxy) {
  net::Loopback server([](const net::ExchangePtr& exchange) { exchange->Send({.status = 204}); });
  net::Relay relay({.handshake = net::Relay::Handshake::kSocks5, .port = server.server->port()});
  Config config;
  config.server = "https://127.0.0.1:" + std::to_string(server.server->port());
  config.ca_pem = server.ca.certificate_pem;
  config.proxy_url = "socks5://127.0.0.1:" + std::to_string(relay.port());
  ConnectOptions options;
  options.environment = With({});
  auto transport = Connect(server.context, config, options);
  ASSERT_TRUE(transport.ok()) << transport.status().ToString();
  auto response = (*transport)->Do(server.context, {.method = "GET", .target = "/"});
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(relay.handshakes().size(), 1U);
}

}  // namespace
}  // namespace cox::sdk
