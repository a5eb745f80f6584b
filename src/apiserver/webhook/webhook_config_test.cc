// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

TEST(WebhookUrl, IsSplitIntoParts) {
  struct Case {
    std::string_view url, host;
    uint16_t port;
    std::string_view authority, target;
  };
  const Case cases[] = {
      {"https://a.example", "a.example", 443, "a.example", "/"},
      {"https://a.example:8443/x/y", "a.example", 8443, "a.example:8443", "/x/y"},
      {"HTTPS://a?b=c", "a", 443, "a", "/?b=c"},
      {"https://[::1]:9/x", "::1", 9, "[::1]:9", "/x"},
      {"http://127.0.0.1/x", "127.0.0.1", 80, "127.0.0.1", "/x"},
  };
  for (const Case& c : cases) {
    const auto url = ParseWebhookUrl(c.url);
    ASSERT_TRUE(url.ok()) << c.url << ": " << url.status().ToString();
    EXPECT_EQ(url->host, c.host);
    EXPECT_EQ(url->port, c.port);
    EXPECT_EQ(url->authority, c.authority);
    EXPECT_EQ(url->target, c.target);
  }
  for (const std::string_view bad :
       {"", "ftp://a/", "a.example/x", "https://", "https://a:0/", "https://a:65536/",
        "https://a:1x/", "https://u:p@a/", "https://a/#f", "https://[::1/", "https://a/x\r\ny",
        "https://a b/"}) {
    EXPECT_TRUE(ParseWebhookUrl(bad).status().Is(Reason::kBadRequest)) << bad;
  }
}

TEST(WebhookConfig, ServiceUrlAndCertificateNameAreDerived) {
  const WebhookConfig config = ServiceWebhook("ns", "svc", "hook", 8443);
  EXPECT_EQ(config.url, "https://svc.ns.svc:8443/hook");
  EXPECT_EQ(config.server_name, "svc.ns.svc");
  EXPECT_EQ(config.service->port, 8443);
  EXPECT_EQ(ServiceWebhook("ns", "svc", {}, {}).url, "https://svc.ns.svc:443");
}

constexpr std::string_view kKubeconfig = R"(
apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: c, user: u}}
clusters:
- name: other
  cluster: {server: "https://wrong/"}
- name: c
  cluster: {server: "https://hook.example/authenticate", certificate-authority-data: Q0E=}
users:
- name: u
  user: {client-certificate: cert.pem, client-key-data: S0VZ, tokenFile: token}
)";

TEST(WebhookConfig, KubeconfigYieldsServerAndCredentials) {
  const auto directory =
      std::filesystem::path(testing::TempDir()) / ("hook-" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "cert.pem") << "CERT";
  std::ofstream(directory / "token") << "abc\n";
  std::ofstream(directory / "config") << kKubeconfig;
  const auto config = ReadWebhookKubeconfig((directory / "config").string());
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->url, "https://hook.example/authenticate");
  EXPECT_EQ(config->ca_pem, "CA");
  EXPECT_EQ(config->certificate_pem, "CERT");
  EXPECT_EQ(config->key_pem, "KEY");
  EXPECT_EQ(config->token, "abc");
  EXPECT_FALSE(config->insecure);
}

TEST(WebhookConfig, InvalidKubeconfigIsRejectedWithReason) {
  const auto with = [](std::string_view cluster, std::string_view user) {
    return "current-context: m\ncontexts: [{name: m, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: " +
           std::string(cluster) + "}]\nusers: [{name: u, user: " + std::string(user) + "}]\n";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "no kubeconfig"},
      {"a: b", "current-context"},
      {"current-context: m", "contexts: there is none named \"m\""},
      {with("{server: 'ftp://x'}", "{}"), "the scheme must be https"},
      {with("{server: 'https://x', certificate-authority-data: '?'}", "{}"), "illegal base64"},
      {with("{server: 'https://x', certificate-authority: /nowhere/ca}", "{}"), "/nowhere/ca"},
      {with("{server: 'https://x', certificate-authority-data: Q0E=, insecure-skip-tls-verify: "
            "true}",
            "{}"),
       "exclude each other"},
      {with("{server: 'https://x'}", "{client-key-data: S0VZ}"), "belong together"},
      {with("{server: 'https://x'}", "{exec: {command: login}}"), "exec: is not supported"},
  };
  for (const auto& [text, why] : cases) {
    const auto config = ParseWebhookKubeconfig(text, "");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.status().message(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace cox::apiserver
