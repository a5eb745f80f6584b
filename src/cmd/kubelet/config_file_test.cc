// SPDX-License-Identifier: Apache-2.0
#include "cmd/kubelet/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/kubelet/options.h"

namespace cox::cmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char kHead[] = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

TEST(KubeletConfigTest, ConvertsFieldsToFlags) {
  const auto file = ReadKubeletConfig(std::string(kHead) + R"(
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true, cacheTTL: 1m}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization: {mode: Webhook}
clusterDNS: [10.96.0.10, "fd00::a"]
evictionHard: {memory.available: 200Mi, nodefs.available: "5%"}
kubeReserved: {cpu: 100m}
maxPods: 50
oomScoreAdj: -500
registerWithTaints: [{key: a, value: b, effect: NoSchedule}]
featureGates: {X: true}
logging: {verbosity: 2}
)");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_THAT(file->flags,
              UnorderedElementsAre(
                  Pair("anonymous-auth", "false"), Pair("authentication-token-webhook", "true"),
                  Pair("authentication-token-webhook-cache-ttl", "1m"),
                  Pair("client-ca-file", "/etc/kubernetes/pki/ca.crt"),
                  Pair("authorization-mode", "Webhook"), Pair("cluster-dns", "10.96.0.10,fd00::a"),
                  Pair("eviction-hard", "memory.available<200Mi,nodefs.available<5%"),
                  Pair("kube-reserved", "cpu=100m"), Pair("max-pods", "50"),
                  Pair("oom-score-adj", "-500"), Pair("register-with-taints", "a=b:NoSchedule")));
  EXPECT_THAT(file->without_effect, ElementsAre("featureGates", "logging"));
}

TEST(KubeletConfigTest, RejectsWrongKindAndTypes) {
  EXPECT_THAT(ReadKubeletConfig("kind: Pod\napiVersion: v1\n").status().message(),
              HasSubstr("KubeletConfiguration"));
  EXPECT_FALSE(ReadKubeletConfig("").ok());
  for (const char* wrong : {"maxPods: many", "clusterDNS: x", "authentication: 5",
                            "authorization: {mode: 5}", "registerNode: 1", "enableServer: false"}) {
    EXPECT_TRUE(ReadKubeletConfig(std::string(kHead) + wrong).status().Is(Reason::kBadRequest))
        << wrong;
  }
}

Result<kubelet::KubeletOptions> OptionsOf(std::vector<std::string> arguments) {
  std::vector<char*> all;
  for (std::string& argument : arguments) all.push_back(argument.data());
  COX_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(KubeletFlags(), all));
  return KubeletOptionsFrom(flags);
}

TEST(KubeletFlagsTest, DefaultsAndParsingMatchUpstream) {
  const auto usual = OptionsOf({});
  ASSERT_TRUE(usual.ok()) << usual.status().ToString();
  EXPECT_EQ(usual->server.port, 10250);
  EXPECT_EQ(usual->healthz_address, "127.0.0.1:10248");
  EXPECT_FALSE(usual->server.authentication.anonymous);
  EXPECT_EQ(usual->server.authorization.mode, "Webhook");
  EXPECT_EQ(usual->pods.max_pods, 110);
  EXPECT_EQ(usual->node.eviction_hard.size(), 5u);
  EXPECT_EQ(usual->logs.max_bytes, 10 * 1024 * 1024);
  EXPECT_FALSE(usual->pods.node_ips.empty());
  const auto told =
      OptionsOf({"--hostname-override=n1", "--node-ip=10.0.0.1,fd00::1", "--max-pods", "20",
                 "--node-labels=a=b,c=d", "--register-with-taints=x=y:NoSchedule",
                 "--healthz-port=0", "--port=1234", "--node-lease-duration-seconds=20"});
  ASSERT_TRUE(told.ok()) << told.status().ToString();
  EXPECT_EQ(told->node.name, "n1");
  EXPECT_EQ(told->server.node_name, "n1");
  EXPECT_THAT(told->node.ips, ElementsAre("10.0.0.1", "fd00::1"));
  EXPECT_EQ(told->node.max_pods, 20);
  EXPECT_EQ(told->node.labels.size(), 2u);
  EXPECT_EQ(told->node.taints.size(), 1u);
  EXPECT_EQ(told->healthz_address, "0");
  EXPECT_EQ(told->node.port, 1234);
  EXPECT_EQ(told->node.lease_duration, std::chrono::seconds(20));
  EXPECT_EQ(told->server.configz.Find("maxPods")->as_int(), 20);
  const auto strict = OptionsOf({"--cgroup-driver=cgroupfs", "--pod-max-pids=100",
                                 "--seccomp-default", "--enable-debugging-handlers=false",
                                 "--streaming-connection-idle-timeout=0", "--fail-swap-on=false",
                                 "--protect-kernel-defaults", "--tls-min-version=VersionTLS13",
                                 "--allowed-unsafe-sysctls=net.core.*,kernel.msgmax"});
  ASSERT_TRUE(strict.ok()) << strict.status().ToString();
  EXPECT_EQ(strict->pods.pod_pids_limit, 100);
  EXPECT_TRUE(strict->pods.seccomp_default);
  EXPECT_FALSE(strict->server.enable_debugging_handlers);
  EXPECT_EQ(strict->server.stream_idle_timeout.count(), 0);
  EXPECT_FALSE(strict->fail_swap_on);
  EXPECT_TRUE(strict->protect_kernel_defaults);
  EXPECT_THAT(strict->pods.allowed_unsafe_sysctls, ElementsAre("net.core.*", "kernel.msgmax"));
  EXPECT_EQ(strict->server.configz.Find("tlsMinVersion")->as_string(), "VersionTLS13");
  EXPECT_TRUE(usual->fail_swap_on);
  EXPECT_TRUE(usual->server.enable_debugging_handlers);
  EXPECT_EQ(usual->server.stream_idle_timeout, std::chrono::hours(4));
  for (const char* wrong :
       {"--authorization-mode=Never", "--node-labels=x", "--max-pods=many", "--tls-cert-file=a",
        "--container-log-max-files=1", "--root-dir=relative", "--node-status-update-frequency=-1s",
        "--eviction-hard=memory<1", "--tls-min-version=TLS13", "--tls-min-version=VersionTLS11",
        "--tls-cipher-suites=NONE", "--allowed-unsafe-sysctls=vm.*", "--pod-max-pids=100",
        "--streaming-connection-idle-timeout=-1s"}) {
    EXPECT_FALSE(OptionsOf({wrong}).ok()) << wrong;
  }
}

}  // namespace
}  // namespace cox::cmd
