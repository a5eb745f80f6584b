// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "proxy/proxy.h"
#include "proxy/rules/stale_flows.h"
#include "proxy/rules/table_state.h"
#include "tests/proxy/cluster_net.h"

// Packets through the rules in the kernel: namespaces for a node, Pods and an external client.
namespace cox::proxy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr uint16_t kPort = 80;
constexpr uint16_t kTarget = 8080;
constexpr uint16_t kNodePort = 30080;

class PacketsTest : public testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    if (const Status status = net_.Start(); !status.ok()) GTEST_SKIP() << status.ToString();
    Result<std::unique_ptr<nft::Socket>> opened = Status::Internal("not opened");
    net_.node.Do([&] { opened = nft::Socket::Open(); });
    if (!opened.ok()) GTEST_SKIP() << opened.status().ToString();
    kernel_ = *std::move(opened);
    MakeTable();
    if (const Status status = table_->Replace(*kernel_, {}); !status.ok()) {
      if (status.message().find("not supported") != std::string::npos) {
        GTEST_SKIP() << status.ToString();
      }
      FAIL() << status.ToString();
    }
    for (int i = 0; i < ClusterNet::kPods; ++i) {
      servers_.push_back(
          std::make_unique<NameServer>(net_.pods[i], "pod" + std::to_string(i), PodIp(i), kTarget));
      ASSERT_TRUE(servers_.back()->ok());
    }
  }

  bool v6() const { return GetParam() == Family::kIpv6; }
  std::string PodIp(int i) const {
    return (v6() ? "fd00:244::" : "10.244.0.") + std::to_string(i + 2);
  }
  std::string NodeIp() const { return v6() ? "fd00:7::1" : "192.168.7.1"; }
  std::string ClientIp() const { return v6() ? "fd00:7::2" : "192.168.7.2"; }
  std::string Vip() const { return v6() ? "fd00:96::10" : "10.96.0.10"; }
  std::string ExternalIp() const { return v6() ? "fd00:203::5" : "203.0.113.5"; }
  static Address At(const std::string& ip) { return *Address::Parse(ip); }

  // A Service with endpoints on Pods 0 to n-1, of which the first `local` are local.
  ServicePort Web(int n, int local = ClusterNet::kPods) const {
    ServicePort port;
    port.ns = "default";
    port.service = "web";
    port.port_name = "http";
    port.family = GetParam();
    port.cluster_ip = At(Vip());
    port.port = kPort;
    for (int i = 0; i < n; ++i) {
      port.cluster_endpoints.push_back({At(PodIp(i)), kTarget, i < local});
      if (i < local) port.local_endpoints.push_back({At(PodIp(i)), kTarget, true});
    }
    port.any_endpoints = n > 0;
    return port;
  }
  void MakeTable() {
    table_.emplace(GetParam(), TableOptions{.node_port_addresses = {At(NodeIp())}},
                   ServiceRuleOptions{.cluster_cidr =
                                          Prefix::Parse(v6() ? "fd00:244::/64" : "10.244.0.0/16")});
  }
  // As in a new process, which has no state of the existing table.
  void Restart() {
    Result<std::unique_ptr<nft::Socket>> opened = Status::Internal("not opened");
    net_.node.Do([&] { opened = nft::Socket::Open(); });
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    kernel_ = *std::move(opened);
    MakeTable();
  }
  // The timeouts of the sets of remembered clients, in milliseconds.
  std::vector<uint64_t> AffinityTimeouts() const {
    const auto listing = kernel_->List(GetParam(), kTable);
    EXPECT_TRUE(listing.ok()) << listing.status().ToString();
    std::vector<uint64_t> timeouts;
    if (!listing.ok()) return timeouts;
    for (const auto& set : listing->sets) {
      if (set.timeout_milliseconds > 0) timeouts.push_back(set.timeout_milliseconds);
    }
    return timeouts;
  }
  void Apply(const std::vector<ServicePort>& ports) {
    const Status status = table_->Apply(*kernel_, {{{"default", "web"}, ports}});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Returns the number of responses of each server.
  std::map<std::string, int> AskOften(const Namespace& from, const std::string& ip, uint16_t port,
                                      int times) {
    std::map<std::string, int> answers;
    for (int i = 0; i < times; ++i) ++answers[Ask(from, ip, port)];
    return answers;
  }

  ClusterNet net_;
  std::unique_ptr<nft::Socket> kernel_;
  std::optional<TableState> table_;
  std::vector<std::unique_ptr<NameServer>> servers_;
};

TEST_P(PacketsTest, ClusterIpIsLoadBalancedAndPodAddressesAreKept) {
  Apply({Web(3)});
  servers_.erase(servers_.begin());  // Pod 0 is the client, not an endpoint
  ServicePort two = Web(3);
  two.cluster_endpoints.erase(two.cluster_endpoints.begin());
  Apply({two});
  const auto answers = AskOften(net_.pods[0], Vip(), kPort, 60);
  EXPECT_EQ(answers.size(), 2);
  for (const auto& [who, times] : answers) {
    EXPECT_THAT(who, HasSubstr(" " + PodIp(0)));
    EXPECT_GT(times, 10) << who;
  }
}

TEST_P(PacketsTest, ClusterIpFromOutsideAndFromTheNode) {
  Apply({Web(1)});
  // Traffic from outside the cluster is masqueraded, so that replies return through this node.
  const std::string outside = Ask(net_.client, Vip(), kPort);
  EXPECT_THAT(outside, StartsWith("pod0 "));
  EXPECT_THAT(outside, Not(HasSubstr(ClientIp())));
  EXPECT_THAT(Ask(net_.node, Vip(), kPort), StartsWith("pod0 "));
}

TEST_P(PacketsTest, PodReachesItselfThroughItsService) {
  Apply({Web(1)});
  const std::string answer = Ask(net_.pods[0], Vip(), kPort);
  EXPECT_THAT(answer, StartsWith("pod0 "));
  EXPECT_NE(answer, "pod0 " + PodIp(0));
}

TEST_P(PacketsTest, ServiceWithoutEndpointsRefusesImmediately) {
  ServicePort none = Web(0);
  none.node_port = kNodePort;
  Apply({none});
  EXPECT_EQ(Ask(net_.pods[0], Vip(), kPort), "refused");
  EXPECT_EQ(Ask(net_.client, Vip(), kPort), "refused");
  EXPECT_EQ(Ask(net_.node, Vip(), kPort), "refused");
  EXPECT_EQ(Ask(net_.client, NodeIp(), kNodePort), "refused");
  ServicePort datagrams = none;
  datagrams.protocol = IPPROTO_UDP;
  Apply({none, datagrams});
  EXPECT_EQ(DatagramClient(net_.pods[0], Vip(), kPort).Ask(), "refused");
  Apply({Web(1)});
  EXPECT_THAT(Ask(net_.client, Vip(), kPort), StartsWith("pod0 "));
  // The Service does not have this port.
  EXPECT_EQ(Ask(net_.client, Vip(), 81), "refused");
}

TEST_P(PacketsTest, RemovedEndpointIsNotSelected) {
  Apply({Web(3)});
  Apply({Web(2)});
  const auto answers = AskOften(net_.client, Vip(), kPort, 30);
  EXPECT_EQ(answers.size(), 2);
  for (const auto& [who, times] : answers) EXPECT_THAT(who, Not(HasSubstr("pod2")));
}

TEST_P(PacketsTest, NodePortAndExternalIpReachEndpoints) {
  ServicePort web = Web(1);
  web.node_port = kNodePort;
  web.external_ips = {At(ExternalIp())};
  Apply({web});
  for (const auto& [ip, port] : {std::pair(NodeIp(), kNodePort), std::pair(ExternalIp(), kPort)}) {
    const std::string answer = Ask(net_.client, ip, port);
    EXPECT_THAT(answer, StartsWith("pod0 "));
    EXPECT_THAT(answer, Not(HasSubstr(ClientIp())));
  }
  EXPECT_THAT(Ask(net_.node, NodeIp(), kNodePort), StartsWith("pod0 "));
  // Addresses of the node that are not used for node ports.
  EXPECT_EQ(Ask(net_.client, v6() ? "fd00:244::1" : "10.244.0.1", kNodePort), "refused");
}

// CVE-2020-8558: with route_localnet, hosts on the same network reach 127.0.0.1 of the node.
TEST_P(PacketsTest, LoopbackOfNodeStaysUnreachable) {
  ServicePort web = Web(1);
  web.node_port = kNodePort;
  web.external_ips = {At(ExternalIp())};
  Apply({web});
  net_.node.Do([] {
    size_t interfaces = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/sys/net/ipv4/conf")) {
      std::string value;
      ASSERT_TRUE(std::getline(std::ifstream(entry.path() / "route_localnet"), value));
      EXPECT_EQ(value, "0") << entry.path();
      ++interfaces;
    }
    EXPECT_GT(interfaces, 3U);  // all, default, lo, and at least one more
  });
  EXPECT_EQ(Ask(net_.node, v6() ? "::1" : "127.0.0.1", kNodePort), "refused");
}

TEST_P(PacketsTest, ExternalLocalPolicyKeepsClientAddress) {
  ServicePort web = Web(2, 1);
  web.node_port = kNodePort;
  web.external_local = true;
  Apply({web});
  const auto answers = AskOften(net_.client, NodeIp(), kNodePort, 10);
  EXPECT_EQ(answers.size(), 1);
  EXPECT_EQ(answers.begin()->first, "pod0 " + ClientIp());
  // Clients on the node reach all endpoints.
  EXPECT_EQ(AskOften(net_.node, NodeIp(), kNodePort, 20).size(), 2);

  ServicePort elsewhere = Web(2, 0);
  elsewhere.node_port = kNodePort;
  elsewhere.external_local = true;
  Apply({elsewhere});
  EXPECT_EQ(Ask(net_.client, NodeIp(), kNodePort, 300), "timeout");
  EXPECT_THAT(Ask(net_.node, NodeIp(), kNodePort), StartsWith("pod"));
}

TEST_P(PacketsTest, InternalLocalPolicyDropsWithoutLocalEndpoints) {
  ServicePort web = Web(2, 1);
  web.internal_local = true;
  Apply({web});
  EXPECT_EQ(AskOften(net_.pods[2], Vip(), kPort, 10).size(), 1);
  ServicePort elsewhere = Web(2, 0);
  elsewhere.internal_local = true;
  Apply({elsewhere});
  EXPECT_EQ(Ask(net_.pods[2], Vip(), kPort, 300), "timeout");
}

TEST_P(PacketsTest, OnlySourceRangesReachLoadBalancerIp) {
  ServicePort web = Web(1);
  web.load_balancer_ips = {At(ExternalIp())};
  web.restricted = true;
  web.source_ranges = {*Prefix::Parse(v6() ? "fd00:99::/64" : "198.51.100.0/24")};
  Apply({web});
  EXPECT_EQ(Ask(net_.client, ExternalIp(), kPort, 300), "timeout");
  web.source_ranges.push_back(*Prefix::Parse(v6() ? "fd00:7::/64" : "192.168.7.0/24"));
  Apply({web});
  EXPECT_THAT(Ask(net_.client, ExternalIp(), kPort), StartsWith("pod0 "));
}

TEST_P(PacketsTest, SessionAffinityKeepsTheEndpoint) {
  ServicePort web = Web(3);
  web.affinity_seconds = 100;
  Apply({web});
  const auto answers = AskOften(net_.client, Vip(), kPort, 20);
  EXPECT_EQ(answers.size(), 1);
  // Its endpoint is removed: another one is selected.
  const std::string first = answers.begin()->first.substr(0, 4);
  std::erase_if(web.cluster_endpoints, [&](const Endpoint& endpoint) {
    return "pod" + std::to_string(endpoint.address.bytes[endpoint.address.size() - 1] - 2) == first;
  });
  ASSERT_EQ(web.cluster_endpoints.size(), 2);
  Apply({web});
  const auto others = AskOften(net_.client, Vip(), kPort, 20);
  EXPECT_EQ(others.size(), 1);
  EXPECT_THAT(others.begin()->first, Not(StartsWith(first)));
}

TEST_P(PacketsTest, SessionAffinitySurvivesFullSyncsAndRestarts) {
  ServicePort web = Web(3);
  web.affinity_seconds = 100;
  web.node_port = kNodePort;
  Apply({web});
  const std::string first = Ask(net_.client, Vip(), kPort);
  ASSERT_THAT(first, StartsWith("pod"));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
    ASSERT_EQ(Ask(net_.client, Vip(), kPort), first) << "full sync " << i;
  }
  for (int i = 0; i < 10; ++i) {
    Restart();
    ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
    ASSERT_EQ(Ask(net_.client, Vip(), kPort), first) << "restart " << i;
  }
  // Changes after a restart see the kept sets too.
  web.port_name = "http";
  web.node_port = 0;
  Apply({web});
  EXPECT_EQ(Ask(net_.client, Vip(), kPort), first);
  Apply({});
  EXPECT_THAT(AffinityTimeouts(), IsEmpty());
}

// With many endpoints, the chain of the Service uses a map.
TEST_P(PacketsTest, FullSyncKeepsClientsOfServicesWithManyEndpoints) {
  ServicePort web = Web(1);
  web.affinity_seconds = 100;
  for (int i = 0; i < 30; ++i) web.cluster_endpoints.push_back({At(PodIp(i + 10)), kTarget, false});
  Apply({web});
  const auto before = kernel_->List(GetParam(), kTable);
  ASSERT_TRUE(before.ok());
  const auto is_affinity = [](const auto& set) { return set.timeout_milliseconds > 0; };
  const auto set = std::find_if(before->sets.begin(), before->sets.end(), is_affinity);
  ASSERT_NE(set, before->sets.end());
  const Address client = At(ClientIp());
  nft::Batch remember(GetParam(), kTable);
  remember.AddElement(set->name, client.view(), "");
  ASSERT_TRUE(kernel_->Commit(remember).ok());
  for (int i = 0; i < 3; ++i) {
    Restart();
    ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
  }
  EXPECT_EQ(AffinityTimeouts().size(), 31);
  // The kernel rejects the deletion of an element that does not exist.
  nft::Batch forget(GetParam(), kTable);
  forget.DeleteElement(set->name, client.view());
  EXPECT_TRUE(kernel_->Commit(forget).ok());
  EXPECT_FALSE(kernel_->Commit(forget).ok());
}

TEST_P(PacketsTest, FullSyncForgetsClientsOfRemovedEndpoints) {
  ServicePort web = Web(3);
  web.affinity_seconds = 100;
  Apply({web});
  bool moved = false;
  for (int i = 0; i < 40 && !moved; ++i) {
    const std::string first = Ask(net_.client, Vip(), kPort).substr(0, 4);
    ServicePort without = web;
    for (auto* endpoints : {&without.cluster_endpoints, &without.local_endpoints}) {
      std::erase_if(*endpoints, [&](const Endpoint& endpoint) {
        return endpoint.address == At(PodIp(first.back() - '0'));
      });
    }
    Restart();
    ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {without}}}).ok());
    ASSERT_THAT(AffinityTimeouts(), ElementsAre(100'000, 100'000));
    ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
    moved = Ask(net_.client, Vip(), kPort).substr(0, 4) != first;
  }
  EXPECT_TRUE(moved);
}

TEST_P(PacketsTest, ChangedAffinityTimeoutIsInEffect) {
  for (const bool full : {false, true}) {
    ServicePort web = Web(3);
    web.affinity_seconds = 100;
    Apply({web});
    EXPECT_THAT(AffinityTimeouts(), ElementsAre(100'000, 100'000, 100'000));
    web.affinity_seconds = 50;
    if (full) {
      Restart();
      ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
    } else {
      Apply({web});
    }
    EXPECT_THAT(AffinityTimeouts(), ElementsAre(50'000, 50'000, 50'000));
    EXPECT_EQ(AskOften(net_.client, Vip(), kPort, 10).size(), 1);
  }
}

TEST_P(PacketsTest, ServiceWithoutAffinityRemembersNoClients) {
  for (const bool full : {false, true}) {
    ServicePort web = Web(3);
    web.affinity_seconds = 100;
    Apply({web});
    EXPECT_THAT(Ask(net_.client, Vip(), kPort), StartsWith("pod"));
    web.affinity_seconds = 0;
    if (full) {
      Restart();
      ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
    } else {
      Apply({web});
    }
    EXPECT_THAT(AffinityTimeouts(), IsEmpty());
    EXPECT_GT(AskOften(net_.client, Vip(), kPort, 60).size(), 1);
  }
}

TEST_P(PacketsTest, FullSyncRemovesChangesOfOtherPrograms) {
  ServicePort web = Web(3);
  web.affinity_seconds = 100;
  web.node_port = kNodePort;
  Apply({web});
  nft::Batch foreign(GetParam(), kTable);
  foreign.AddChain("foreign");
  foreign.AddSet({.name = "foreign", .key = nft::KeyType::kPort, .verdicts = true});
  foreign.AddElement("foreign", nft::PortKey(IPPROTO_TCP, 1),
                     nft::EncodeVerdict(nft::Verdict::Goto("foreign")));
  // Connections to all Services fail now.
  foreign.FlushChain("services");
  ASSERT_TRUE(kernel_->Commit(foreign).ok());
  ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {web}}}).ok());
  EXPECT_THAT(Ask(net_.client, Vip(), kPort), StartsWith("pod"));
  const auto listing = kernel_->List(GetParam(), kTable);
  ASSERT_TRUE(listing.ok());
  EXPECT_THAT(listing->chains, Not(Contains("foreign")));
}

TEST_P(PacketsTest, ReplacingTheTableDropsNoConnections) {
  Apply({Web(2)});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(table_->Replace(*kernel_, {{{"default", "web"}, {Web(2)}}}).ok());
    ASSERT_THAT(Ask(net_.client, Vip(), kPort), StartsWith("pod"));
  }
  // A new process has no state of the existing table.
  TableState fresh(GetParam(), {}, {});
  ASSERT_TRUE(fresh.Replace(*kernel_, {{{"default", "web"}, {Web(1)}}}).ok());
  EXPECT_EQ(AskOften(net_.client, Vip(), kPort, 10).size(), 1);
}

TEST_P(PacketsTest, RemovedServiceLeavesNoChains) {
  ServicePort web = Web(3);
  web.affinity_seconds = 10;
  web.node_port = kNodePort;
  Apply({web});
  Apply({});
  EXPECT_EQ(table_->services(), 0);
  // All its chains were removed, so that the name can be used again.
  Apply({web});
  EXPECT_THAT(Ask(net_.client, Vip(), kPort), StartsWith("pod"));
}

TEST_P(PacketsTest, UdpFlowIsDeletedWithItsEndpoint) {
  std::vector<std::unique_ptr<DatagramServer>> servers;
  for (int i = 0; i < 2; ++i) {
    servers.push_back(std::make_unique<DatagramServer>(net_.pods[i], "pod" + std::to_string(i),
                                                       PodIp(i), kTarget));
    ASSERT_TRUE(servers.back()->ok());
  }
  ServicePort both = Web(2, 0);
  both.protocol = IPPROTO_UDP;
  Apply({both});
  const DatagramClient client(net_.pods[2], Vip(), kPort);
  const std::string first = client.Ask();
  ASSERT_THAT(first, StartsWith("pod"));

  ServicePort other = both;
  std::erase_if(other.cluster_endpoints, [&](const Endpoint& endpoint) {
    return endpoint.address == At(PodIp(first == "pod0" ? 0 : 1));
  });
  ASSERT_EQ(other.cluster_endpoints.size(), 1);
  Apply({other});
  EXPECT_EQ(client.Ask(), first) << "the kernel still remembers the flow";
  const ObjectKey key{"default", "web"};
  const auto forget = [&](const ServicePorts& before, const ServicePorts& now) {
    const StaleFlows stale(before, now, {});
    Status status;
    net_.node.Do([&] {
      status =
          nft::ForgetFlows(GetParam(), [&](const nft::Flow& flow) { return stale.Contains(flow); });
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
  };
  forget({{key, {both}}}, {{key, {other}}});
  const std::string second = client.Ask();
  EXPECT_THAT(second, StartsWith("pod"));
  EXPECT_NE(second, first);
  // The Service is removed: there is no answer, although the endpoint is running.
  Apply({});
  forget({{key, {other}}}, {{key, {}}});
  EXPECT_EQ(client.Ask(300), "timeout");
}

TEST_P(PacketsTest, ConnectionSurvivesProxyRestart) {
  Apply({Web(1)});
  servers_.clear();
  int listening = -1;
  int from = -1;
  sockaddr_storage address;
  net_.pods[0].Do([&] {
    const socklen_t size = MakeSockaddr(PodIp(0), kTarget, &address);
    listening = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listening, 1), 0);
  });
  net_.client.Do([&] {
    const socklen_t size = MakeSockaddr(Vip(), kPort, &address);
    from = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(from, reinterpret_cast<sockaddr*>(&address), size), 0);
  });
  const int to = accept(listening, nullptr, nullptr);
  ASSERT_GE(to, 0);
  const auto passes = [&](const char* word) {
    const size_t size = std::strlen(word);
    if (send(from, word, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) return false;
    pollfd ready{.fd = to, .events = POLLIN, .revents = 0};
    char buffer[16];
    return poll(&ready, 1, 5000) == 1 && recv(to, buffer, sizeof buffer, 0) > 0;
  };
  EXPECT_TRUE(passes("before"));
  // A new proxy starts and replaces the table; then the Service loses its endpoint.
  TableState fresh(GetParam(), {}, {});
  ASSERT_TRUE(fresh.Replace(*kernel_, {{{"default", "web"}, {Web(1)}}}).ok());
  EXPECT_TRUE(passes("restarted"));
  ASSERT_TRUE(fresh.Apply(*kernel_, {{{"default", "web"}, {Web(0)}}}).ok());
  EXPECT_TRUE(passes("draining"));
  for (const int fd : {from, to, listening}) close(fd);
}

TEST_P(PacketsTest, CleanUpRemovesTheTable) {
  ServicePort web = Web(3);
  web.affinity_seconds = 10;
  web.node_port = kNodePort;
  Apply({web});
  EXPECT_TRUE(kernel_->HasTable(GetParam(), kTable));
  Status status;
  net_.node.Do([&] { status = CleanUp(); });
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_FALSE(kernel_->HasTable(GetParam(), kTable));
  net_.node.Do([&] { status = CleanUp(); });
  EXPECT_TRUE(status.ok()) << "twice is as good: " << status.ToString();
  // The kernel rejects the deletion of a table that does not exist, which shows that it was
  // removed.
  nft::Batch batch(GetParam(), kTable);
  batch.DeleteTable();
  EXPECT_FALSE(kernel_->Commit(batch).ok());
}

INSTANTIATE_TEST_SUITE_P(Families, PacketsTest, testing::Values(Family::kIpv4, Family::kIpv6),
                         [](const auto& info) {
                           return info.param == Family::kIpv4 ? "Ipv4" : "Ipv6";
                         });

}  // namespace
}  // namespace cox::proxy
