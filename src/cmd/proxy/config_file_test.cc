// SPDX-License-Identifier: Apache-2.0
#include "cmd/proxy/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::cmd {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::string_view kHead =
    "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n";

TEST(ProxyConfigTest, ReadsConfigurationOfKubeadm) {
  const auto flags = ReadProxyConfig(std::string(kHead) + R"(
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  burst: 0
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
clusterCIDR: 10.244.0.0/16
conntrack:
  maxPerCore: null
detectLocalMode: ""
healthzBindAddress: ""
hostnameOverride: ""
iptables:
  masqueradeAll: true
ipvs: {}
mode: nftables
nftables:
  masqueradeAll: false
  masqueradeBit: 14
  minSyncPeriod: 1s
nodePortAddresses: [10.0.0.0/8, "fd00::/8"]
oomScoreAdj: null
)");
  ASSERT_TRUE(flags.ok()) << flags.status().ToString();
  EXPECT_THAT(*flags, UnorderedElementsAre(
                          Pair("kubeconfig", "/var/lib/kube-proxy/kubeconfig.conf"),
                          Pair("cluster-cidr", "10.244.0.0/16"), Pair("proxy-mode", "nftables"),
                          Pair("masquerade-all", "false"), Pair("iptables-masquerade-bit", "14"),
                          Pair("iptables-min-sync-period", "1s"),
                          Pair("nodeport-addresses", "10.0.0.0/8,fd00::/8")));
}

TEST(ProxyConfigTest, ReadsOomScore) {
  const auto flags = ReadProxyConfig(std::string(kHead) + "oomScoreAdj: -998\n");
  ASSERT_TRUE(flags.ok()) << flags.status().ToString();
  EXPECT_THAT(*flags, UnorderedElementsAre(Pair("oom-score-adj", "-998")));
}

TEST(ProxyConfigTest, ErrorsContainTheField) {
  const struct {
    std::string text;
    const char* says;
  } kCases[] = {
      {"[]", "want an object"},
      {"kind: KubeProxyConfiguration", "apiVersion: want kubeproxy.config.k8s.io/v1alpha1"},
      {std::string(kHead) + "clusterCidr: 10.0.0.0/8", "unknown field \"clusterCidr\""},
      {std::string(kHead) + "nodePortAddresses: [1]", "nodePortAddresses: want"},
      {std::string(kHead) + "mode: {}", "mode: want"},
  };
  for (const auto& test : kCases) {
    const auto flags = ReadProxyConfig(test.text);
    ASSERT_FALSE(flags.ok()) << test.text;
    EXPECT_THAT(flags.status().message(), HasSubstr(test.says));
  }
}

}  // namespace
}  // namespace cox::cmd
