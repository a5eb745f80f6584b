// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet/configs/container_config.h"
#include "kubelet/configs/dns.h"
#include "kubelet/configs/hosts.h"
#include "kubelet/configs/sandbox_config.h"
#include "kubelet/testing/test_pods.h"
#include "runtime/labels.h"

// The CRI configurations of Pods and containers.
namespace cox::kubelet {
namespace {

using core::v1::Pod;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakePod;

const cri::v1::DNSConfig kHostDns{
    .servers = {"192.0.2.1"}, .searches = {"corp.example"}, .options = {"timeout:2"}};

TEST(DnsTest, ReadsResolvConf) {
  const auto dns = ParseResolvConf(
      "# comment\nnameserver 192.0.2.1\nnameserver\t192.0.2.2 \nsearch a b\nsearch c\n"
      "options ndots:2 rotate\n");
  EXPECT_THAT(dns.servers, ElementsAre("192.0.2.1", "192.0.2.2"));
  EXPECT_THAT(dns.searches, ElementsAre("c"));
  EXPECT_THAT(dns.options, ElementsAre("ndots:2", "rotate"));
}

TEST(DnsTest, AppliesDnsPolicy) {
  const struct {
    std::string spec;
    std::vector<std::string> servers, searches, options;
  } kCases[] = {
      {R"({"dnsPolicy":"ClusterFirst"})",
       {"10.0.0.10"},
       {"default.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"},
       {"ndots:5"}},
      {R"({"dnsPolicy":"ClusterFirst","hostNetwork":true})",
       {"192.0.2.1"},
       {"corp.example"},
       {"timeout:2"}},
      {R"({"dnsPolicy":"ClusterFirstWithHostNet","hostNetwork":true})",
       {"10.0.0.10"},
       {"default.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"},
       {"ndots:5"}},
      {R"({"dnsPolicy":"Default"})", {"192.0.2.1"}, {"corp.example"}, {"timeout:2"}},
      {R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"],"searches":["x"],
           "options":[{"name":"ndots","value":"1"},{"name":"rotate"}]}})",
       {"1.1.1.1"},
       {"x"},
       {"ndots:1", "rotate"}},
      {R"({"dnsPolicy":"ClusterFirst","dnsConfig":{"searches":["cluster.local","y"],
           "options":[{"name":"ndots","value":"2"}]}})",
       {"10.0.0.10"},
       {"default.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example", "y"},
       {"ndots:2"}},
  };
  for (const auto& c : kCases) {
    const auto dns = MakeDnsConfig(MakePod(c.spec), {{"10.0.0.10"}, "cluster.local"}, kHostDns);
    EXPECT_EQ(dns.servers, c.servers) << c.spec;
    EXPECT_EQ(dns.searches, c.searches) << c.spec;
    EXPECT_EQ(dns.options, c.options) << c.spec;
  }
}

TEST(HostsTest, HostnamesOfPods) {
  EXPECT_EQ(HostnameOf(MakePod("{}"), "d"), (PodHostname{"web", ""}));
  EXPECT_EQ(HostnameOf(MakePod(R"({"hostname":"h","subdomain":"s"})"), "d"),
            (PodHostname{"h", "s.default.svc.d"}));
  Pod long_name = MakePod("{}");
  long_name.metadata.name = std::string(62, 'a') + "-bcd";
  EXPECT_EQ(HostnameOf(long_name, "d").host, std::string(62, 'a'));
  const Pod fqdn = MakePod(R"({"hostname":"h","subdomain":"s","setHostnameAsFQDN":true})");
  EXPECT_EQ(*SandboxHostname(fqdn, "d"), "h.s.default.svc.d");
  EXPECT_FALSE(SandboxHostname(fqdn, std::string(60, 'x')).ok());
  EXPECT_EQ(*SandboxHostname(MakePod(R"({"hostNetwork":true})"), "d"), "");
}

TEST(HostsTest, ManagedHostsFile) {
  const std::string file = HostsFile(
      MakePod(
          R"({"hostname":"h","subdomain":"s","hostAliases":[{"ip":"1.2.3.4","hostnames":["a","b"]}]})"),
      {"10.0.0.7", "fd00::7"}, "d", "");
  EXPECT_TRUE(file.starts_with("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"));
  EXPECT_THAT(file, ::testing::HasSubstr("10.0.0.7\th.s.default.svc.d\th\nfd00::7\t"));
  EXPECT_TRUE(file.ends_with("\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n")) << file;
  EXPECT_EQ(HostsFile(MakePod(R"({"hostNetwork":true})"), {"10.0.0.1"}, "d", "127.0.0.1 me"),
            "# Kubernetes-managed hosts file (host network).\n127.0.0.1 me\n");
}

TEST(SandboxConfigTest, ContainsSettingsOfPod) {
  const Pod pod = MakePod(R"({"hostPID":true,"securityContext":{"runAsUser":7,"fsGroup":9,
      "supplementalGroups":[8],"sysctls":[{"name":"net.ipv4.tcp_syncookies","value":"1"}]},
      "initContainers":[{"name":"i","ports":[{"containerPort":1,"hostPort":1}]}],
      "containers":[{"name":"c","ports":[{"containerPort":80,"hostPort":8080,"protocol":"UDP"}],
      "securityContext":{"privileged":true}}]})");
  Options options;
  options.cgroup_driver = "cgroupfs";
  const auto config = MakeSandboxConfig(pod, 2, options, kHostDns);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->metadata->attempt, 2);
  EXPECT_EQ(runtime::PodOf(config->labels).uid, "u1");
  EXPECT_EQ(config->hostname, "web");
  EXPECT_EQ(config->log_directory, "/var/log/pods/default_web_u1");
  ASSERT_EQ(config->port_mappings.size(), 1U);
  EXPECT_EQ(config->port_mappings[0].host_port, 8080);
  EXPECT_EQ(config->port_mappings[0].protocol, cri::v1::kProtocolUdp);
  EXPECT_EQ(config->linux->cgroup_parent, "/kubepods/besteffort/podu1");
  const auto& security = *config->linux->security_context;
  EXPECT_TRUE(security.privileged);
  EXPECT_EQ(security.run_as_user->value, 7);
  EXPECT_THAT(security.supplemental_groups, ElementsAre(8, 9));
  EXPECT_EQ(security.namespace_options->pid, cri::v1::kNamespaceModeNode);
  EXPECT_EQ(security.namespace_options->network, cri::v1::kNamespaceModePod);
  EXPECT_EQ(*config->linux->sysctls.Get("net.ipv4.tcp_syncookies"), "1");
  EXPECT_FALSE(MakeSandboxConfig(MakePod(R"({"hostUsers":false})"), 0, options, {}).ok());
}

class ContainerConfigTest : public ::testing::Test {
 protected:
  Result<cri::v1::ContainerConfig> Make(const Pod& pod, const ImageUser& user = {}) {
    return MakeContainerConfig({.pod = pod,
                                .container = pod.spec.containers[0],
                                .attempt = 3,
                                .image_ref = "sha256:1",
                                .image_user = user,
                                .environment = environment_,
                                .mounts = mounts_,
                                .etc_hosts = "/p/etc-hosts",
                                .termination_log = "/p/containers/c/3"},
                               options_);
  }
  Options options_;
  Environment environment_{.variables = {{"A", "1"}}, .skipped = {}};
  std::vector<ContainerMount> mounts_;
};

TEST_F(ContainerConfigTest, ContainsSettingsOfContainer) {
  mounts_ = {{.volume = "v",
              .host_path = "/h",
              .container_path = "/in",
              .read_only = true,
              .propagation = "HostToContainer"}};
  const auto config = Make(MakePod(R"j({"containers":[{"name":"c","image":"nginx",
      "command":["run","$(A)"],"args":["$(B)"],"workingDir":"/w","stdin":true,"tty":true,
      "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",
      "lifecycle":{"stopSignal":"SIGUSR1"},
      "resources":{"requests":{"cpu":"500m"},"limits":{"cpu":"1","memory":"1Mi"}},
      "securityContext":{"capabilities":{"add":["NET_ADMIN"],"drop":["ALL"]},
        "readOnlyRootFilesystem":true,"allowPrivilegeEscalation":false,
        "seccompProfile":{"type":"RuntimeDefault"}}}]})j"),
                           {.uid = 101});
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->metadata->name, "c");
  EXPECT_EQ(config->metadata->attempt, 3);
  EXPECT_EQ(config->image->image, "sha256:1");
  EXPECT_EQ(config->image->user_specified_image, "nginx");
  EXPECT_THAT(config->command, ElementsAre("run", "1"));
  EXPECT_THAT(config->args, ElementsAre("$(B)"));
  EXPECT_EQ(config->log_path, "c/3.log");
  EXPECT_TRUE(config->stdin && config->tty);
  EXPECT_EQ(config->stop_signal, cri::v1::kSignalSigusr1);
  ASSERT_EQ(config->mounts.size(), 3U);
  EXPECT_EQ(config->mounts[0].propagation, cri::v1::kMountPropagationHostToContainer);
  EXPECT_EQ(config->mounts[1].container_path, "/etc/hosts");
  EXPECT_EQ(config->mounts[2].container_path, "/dev/termination-log");
  EXPECT_EQ(*config->annotations.Get(runtime::annotation::kTerminationMessagePolicy), "File");
  const auto& resources = *config->linux->resources;
  EXPECT_EQ(resources.cpu_shares, 512);
  EXPECT_EQ(resources.cpu_quota, 100000);
  EXPECT_EQ(resources.memory_limit_in_bytes, 1 << 20);
  const auto& security = *config->linux->security_context;
  EXPECT_THAT(security.capabilities->drop_capabilities, ElementsAre("ALL"));
  EXPECT_TRUE(security.readonly_rootfs && security.no_new_privs);
  EXPECT_EQ(security.run_as_user->value, 101);
  EXPECT_EQ(security.seccomp->profile_type, cri::v1::kProfileTypeRuntimeDefault);
  EXPECT_THAT(security.masked_paths, Contains("/proc/kcore"));
}

TEST_F(ContainerConfigTest, MountAtEtcHostsReplacesManagedHostsFile) {
  mounts_ = {{.volume = "v", .host_path = "/h", .container_path = "/etc/hosts"}};
  const auto config = Make(MakePod(R"({"containers":[{"name":"c"}]})"));
  ASSERT_TRUE(config.ok());
  ASSERT_EQ(config->mounts.size(), 2U);
  EXPECT_EQ(config->mounts[0].host_path, "/h");
}

TEST_F(ContainerConfigTest, LocalhostProfileRequiresName) {
  const auto with = [](const std::string& profile) {
    return MakePod(R"({"containers":[{"name":"c","securityContext":{"seccompProfile":)" + profile +
                   "}}]}");
  };
  const auto config = Make(with(R"({"type":"Localhost","localhostProfile":"a/b.json"})"));
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->linux->security_context->seccomp->localhost_ref,
            "/var/lib/kubelet/seccomp/a/b.json");
  // CVE-2023-2431: without a name, the container ran unconfined.
  for (const char* const nameless :
       {R"({"type":"Localhost"})", R"({"type":"Localhost","localhostProfile":""})"}) {
    EXPECT_EQ(Make(with(nameless)).status().message(),
              "localhostProfile must be set if seccompProfile type is Localhost.");
  }
  EXPECT_FALSE(Make(MakePod(R"({"securityContext":{"appArmorProfile":{"type":"Localhost"}},
                                "containers":[{"name":"c"}]})"))
                   .ok());
}

TEST_F(ContainerConfigTest, SeccompDefaultAppliesToContainersWithoutProfile) {
  const auto type_of = [&](const std::string& security) {
    const auto config =
        Make(MakePod(R"({"containers":[{"name":"c","securityContext":)" + security + "}]}"));
    EXPECT_TRUE(config.ok()) << config.status().ToString();
    return config->linux->security_context->seccomp->profile_type;
  };
  const std::string unconfined = R"({"seccompProfile":{"type":"Unconfined"}})";
  EXPECT_EQ(type_of("{}"), cri::v1::kProfileTypeUnconfined);
  options_.seccomp_default = true;
  EXPECT_EQ(type_of("{}"), cri::v1::kProfileTypeRuntimeDefault);
  EXPECT_EQ(type_of(unconfined), cri::v1::kProfileTypeUnconfined);
  EXPECT_EQ(type_of(R"({"privileged":true})"), cri::v1::kProfileTypeRuntimeDefault);
}

TEST_F(ContainerConfigTest, RunAsNonRoot) {
  const struct {
    std::string pod, container;
    ImageUser image;
    std::string want;  // "" for OK
  } kCases[] = {
      {R"({"runAsNonRoot":true})",
       "{}",
       {},
       "container has runAsNonRoot and image will run as root"},
      {R"({"runAsNonRoot":true})", "{}", {.uid = 5}, ""},
      {R"({"runAsNonRoot":true})",
       "{}",
       {.name = "www"},
       "container has runAsNonRoot and image has non-numeric user (www), cannot verify user is "
       "non-root"},
      {R"({"runAsNonRoot":true,"runAsUser":5})", "{}", {}, ""},
      {R"({"runAsNonRoot":true})",
       R"({"runAsUser":0})",
       {},
       "container's runAsUser breaks non-root policy"},
      {R"({"runAsNonRoot":true})", R"({"runAsNonRoot":false})", {}, ""},
  };
  for (const auto& c : kCases) {
    const auto config =
        Make(MakePod(R"({"securityContext":)" + c.pod +
                     R"(,"containers":[{"name":"c","securityContext":)" + c.container + "}]}"),
             c.image);
    if (c.want.empty()) {
      EXPECT_TRUE(config.ok()) << config.status().ToString();
    } else {
      EXPECT_EQ(config.status().message(), c.want + " (pod: \"web_default(u1)\", container: c)");
    }
  }
}

}  // namespace
}  // namespace cox::kubelet
