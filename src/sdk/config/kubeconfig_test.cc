// SPDX-License-Identifier: Apache-2.0
#include "sdk/config/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr std::string_view kWhole = R"(
apiVersion: v1
kind: Config
current-context: prod
preferences: {colors: true}
clusters:
- name: east
  cluster:
    server: https://east.example:6443/k8s
    certificate-authority-data: Q0EgUEVN
    tls-server-name: api.internal
    proxy-url: socks5://proxy:1080
    disable-compression: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: east}
- name: west
  cluster:
    server: https://west.example
    certificate-authority: pki/ca.crt
- name: lax
  cluster:
    server: https://lax.example
    insecure-skip-tls-verify: true
users:
- name: cert-data
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
- name: cert-files
  user: {client-certificate: pki/me.crt, client-key: /etc/me.key}
- name: token
  user:
    token: sesame
    tokenFile: run/token
    as: jane
    as-uid: "42"
    as-groups: [dev, ops]
    as-user-extra: {scopes: [a, b]}
- name: basic
  user: {username: joe, password: sesame}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/plugin
      args: [get-token, --cluster, east]
      env: [{name: PROFILE, value: me}]
      installHint: Install it.
      provideClusterInfo: true
      interactiveMode: Never
- name: plugin-of-path
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}
contexts:
- name: prod
  context: {cluster: east, user: token, namespace: shop}
- {name: data, context: {cluster: west, user: cert-data}}
- {name: files, context: {cluster: west, user: cert-files}}
- {name: basic, context: {cluster: lax, user: basic}}
- {name: plugin, context: {cluster: east, user: plugin}}
- {name: path, context: {cluster: east, user: plugin-of-path}}
- {name: nobody, context: {cluster: lax}}
)";

Config Parsed(std::string_view context) {
  auto config = ParseKubeconfig(kWhole, "/etc/cluster", context);
  EXPECT_TRUE(config.ok()) << config.status().ToString();
  return config.ok() ? *config : Config();
}

TEST(KubeconfigTest, ReadsClusters) {
  const Config east = Parsed("");
  EXPECT_EQ(east.server, "https://east.example:6443/k8s");
  EXPECT_EQ(east.ca_pem, "CA PEM");
  EXPECT_EQ(east.ca_file, "");
  EXPECT_EQ(east.tls_server_name, "api.internal");
  EXPECT_EQ(east.proxy_url, "socks5://proxy:1080");
  EXPECT_FALSE(east.insecure_skip_tls_verify);
  EXPECT_EQ(east.ns, "shop");
  const Config west = Parsed("files");
  EXPECT_EQ(west.ca_file, "/etc/cluster/pki/ca.crt");
  EXPECT_EQ(west.ns, "default");
  EXPECT_TRUE(Parsed("nobody").insecure_skip_tls_verify);
}

TEST(KubeconfigTest, ReadsUsers) {
  const Config token = Parsed("prod");
  EXPECT_EQ(token.token.Reveal(), "sesame");
  EXPECT_EQ(token.token_file, "/etc/cluster/run/token");
  EXPECT_EQ(token.impersonate.user, "jane");
  EXPECT_EQ(token.impersonate.uid, "42");
  EXPECT_THAT(token.impersonate.groups, ElementsAre("dev", "ops"));
  EXPECT_THAT(token.impersonate.extra, ElementsAre(Pair("scopes", ElementsAre("a", "b"))));
  const Config data = Parsed("data");
  EXPECT_EQ(data.certificate_pem, "CERT");
  EXPECT_EQ(data.key_pem.Reveal(), "KEY");
  const Config files = Parsed("files");
  EXPECT_EQ(files.certificate_file, "/etc/cluster/pki/me.crt");
  EXPECT_EQ(files.key_file, "/etc/me.key");
  const Config basic = Parsed("basic");
  EXPECT_EQ(basic.username, "joe");
  EXPECT_EQ(basic.password.Reveal(), "sesame");
  EXPECT_FALSE(basic.exec);
}

TEST(KubeconfigTest, ReadsPlugins) {
  const Config config = Parsed("plugin");
  ASSERT_TRUE(config.exec);
  EXPECT_EQ(std::filesystem::path(config.exec->command).lexically_normal(),
            "/etc/cluster/bin/plugin");
  EXPECT_THAT(config.exec->arguments, ElementsAre("get-token", "--cluster", "east"));
  EXPECT_THAT(config.exec->environment, ElementsAre(Pair("PROFILE", "me")));
  EXPECT_EQ(config.exec->api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(config.exec->install_hint, "Install it.");
  EXPECT_TRUE(config.exec->provide_cluster_info);
  EXPECT_EQ(config.exec->interactive_mode, "Never");
  EXPECT_EQ(config.exec->cluster_config, R"({"audience":"east"})");
  const Config by_path = Parsed("path");
  ASSERT_TRUE(by_path.exec);
  EXPECT_EQ(by_path.exec->command, "aws");
  EXPECT_EQ(by_path.exec->interactive_mode, "IfAvailable");
}

TEST(KubeconfigTest, ErrorsNameTheEntryAndContainNoSecrets) {
  const std::string contexts = "contexts: [{name: x, context: {cluster: c, user: u}}]\n";
  const std::string cluster = "clusters: [{name: c, cluster: {server: 'https://h'}}]\n";
  const auto user = [&](const std::string& fields) {
    return contexts + cluster + "users: [{name: u, user: " + fields + "}]\n";
  };
  const std::pair<std::string, const char*> cases[] = {
      {"[", "kubeconfig: yaml:"},
      {"- a", "must be an object"},
      {"kind: Pod", "no kubeconfig"},
      {"apiVersion: v2", "no kubeconfig"},
      {"clusters: {a: b}", "clusters: must be a list of objects"},
      {"users: [1]", "users: must be a list of objects"},
      {"users: [{name: a}, {name: a}]", R"(users["a"]: the name stands there twice)"},
      {"users: [{name: a, user: sesame}]", R"(users["a"]: user: must be an object)"},
      {"contexts: []", R"(there is no context named "x"; there is no context at all)"},
      {"contexts: [{name: z, context: {}}]", R"(there are "z")"},
      {"contexts: [{name: x, context: {}}]", R"(contexts["x"]: cluster: must be set)"},
      {contexts, R"(contexts["x"]: cluster: there is no cluster named "c")"},
      {contexts + cluster, R"(contexts["x"]: user: there is no user named "u")"},
      {contexts + "users: [{name: u}]\nclusters: [{name: c, cluster: {}}]\n",
       R"(clusters["c"]: server: must be set)"},
      {contexts + "users: [{name: u}]\nclusters: [{name: c, cluster: {server: s, "
                  "certificate-authority: a, insecure-skip-tls-verify: true}}]\n",
       R"(clusters["c"]: insecure-skip-tls-verify: )"},
      {contexts + "users: [{name: u}]\nclusters: [{name: c, cluster: {server: s, "
                  "proxy-url: 'http://u:sesame@'}}]\n",
       R"(clusters["c"]: proxy-url: bad URL)"},
      {user("{client-key-data: sesame=}"), R"(users["u"]: client-key-data: illegal base64)"},
      {user("{client-key-data: S0VZ}"), "client-certificate: must be set"},
      {user("{client-certificate: f}"), "client-key: must be set"},
      {user("{client-certificate: f, client-certificate-data: S0VZ, client-key: k}"), "keep one"},
      {user("{token: sesame, username: u}"), "keep one"},
      {user("{token: 5}"), R"(users["u"]: token: must be a string)"},
      {user("{as-groups: [g]}"), "as: must be set"},
      {user("{as: j, as-user-extra: {k: v}}"), "as-user-extra: k: must be a list of strings"},
      {user("{auth-provider: {name: gcp}}"), R"(users["u"]: auth-provider: is not supported)"},
      {user("{exec: {apiVersion: client.authentication.k8s.io/v1}}"), "exec: command: must be set"},
      {user("{exec: {command: c}}"), "exec: apiVersion: must be set"},
      {user("{exec: {command: c, apiVersion: client.authentication.k8s.io/v1}}"),
       "exec: interactiveMode: must be"},
      {user("{exec: {command: c, apiVersion: v, env: [{value: sesame}]}}"), "exec: env: "},
  };
  for (const auto& [text, says] : cases) {
    const auto config = ParseKubeconfig(text, "/folder", "x");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_EQ(config.status().reason(), Reason::kBadRequest);
    EXPECT_THAT(config.status().message(), HasSubstr(says)) << text;
    EXPECT_THAT(config.status().message(), Not(HasSubstr("sesame"))) << text;
  }
  EXPECT_THAT(ParseKubeconfig("", "/").status().message(),
              HasSubstr("current-context: must be set"));
}

}  // namespace
}  // namespace cox
