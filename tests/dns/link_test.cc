// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/context.h"
#include "dns/dns.h"
#include "dns/link/loopback.h"
#include "dns/server/server.h"
#include "tests/proxy/cluster_net.h"

// The server on an address that was added to the loopback interface.
namespace cox::dns {
namespace {

using proxy::ClusterNet;
using proxy::DatagramClient;
using proxy::MakeSockaddr;
using proxy::Namespace;

constexpr char kIp4[] = "10.96.0.10";
constexpr char kIp6[] = "fd00:96::10";

// Returns whether this network namespace has the address.
bool IsLocal(const std::string& ip) {
  sockaddr_storage address;
  const socklen_t size = MakeSockaddr(ip, 0, &address);
  const int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
  close(fd);
  return bound;
}

TEST(LoopbackAddressesTest, AddressesAreAddedAdoptedAndRemoved) {
  const Namespace node;
  if (geteuid() != 0 || !node.ok()) GTEST_SKIP() << "network namespaces need root";
  node.Do([] {
    ASSERT_TRUE(proxy::RunWords("ip link set lo up").ok());
    auto made = LoopbackAddresses::Add({kIp4, kIp6});
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    EXPECT_TRUE(IsLocal(kIp4));
    EXPECT_TRUE(IsLocal(kIp6));
    // A killed process removes nothing; the next one may have other addresses.
    [[maybe_unused]] static const LoopbackAddresses* killed = made->release();
    auto again = LoopbackAddresses::Add({kIp4, "10.96.0.11"});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_TRUE(IsLocal(kIp4));
    EXPECT_TRUE(IsLocal("10.96.0.11"));
    EXPECT_FALSE(IsLocal(kIp6));
    again->reset();
    EXPECT_FALSE(IsLocal(kIp4));
    EXPECT_FALSE(IsLocal("10.96.0.11"));
    EXPECT_TRUE(CleanUp().ok()) << "nothing is there, nothing is to be done";
    EXPECT_TRUE(IsLocal("127.0.0.1"));

    EXPECT_FALSE(LoopbackAddresses::Add({"10.96.0"}).ok());
    // Addresses of other owners are kept.
    ASSERT_TRUE(proxy::RunWords("ip addr add 10.96.0.10/32 dev lo").ok());
    again = LoopbackAddresses::Add({kIp4});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    again->reset();
    EXPECT_TRUE(IsLocal(kIp4));
  });
}

TEST(LoopbackAddressesTest, AddressesAreFoundByMetricWithoutProtocolSupport) {
  const Namespace node;
  if (geteuid() != 0 || !node.ok()) GTEST_SKIP() << "network namespaces need root";
  node.Do([] {
    ASSERT_TRUE(proxy::RunWords("ip link set lo up").ok());
    // The state after a killed process on a kernel before 5.18, and an address with another metric.
    ASSERT_TRUE(proxy::RunWords("ip addr add 10.96.0.10/32 dev lo metric 49344").ok());
    ASSERT_TRUE(proxy::RunWords("ip -6 addr add fd00:96::10/128 dev lo metric 49344 nodad").ok());
    ASSERT_TRUE(proxy::RunWords("ip addr add 10.96.0.11/32 dev lo metric 100").ok());
    ASSERT_TRUE(IsLocal(kIp4) && IsLocal(kIp6));
    const Status status = CleanUp();
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(IsLocal(kIp4));
    EXPECT_FALSE(IsLocal(kIp6));
    EXPECT_TRUE(IsLocal("10.96.0.11"));
  });
}

// A source without objects, sufficient for responses.
class NoObjects final : public Source {
 public:
  bool Complete() const override { return true; }
  bool HasNamespace(const std::string&) const override { return false; }
  ServicePtr Service(const std::string&, const std::string&) const override { return nullptr; }
  std::vector<SlicePtr> Slices(const std::string&, const std::string&) const override { return {}; }
  std::vector<ServicePtr> ServicesAt(const std::string&) const override { return {}; }
  std::vector<SlicePtr> SlicesAt(const std::string&) const override { return {}; }
};

TEST(LoopbackAddressesTest, PodsReachServerWithoutNatRules) {
  ClusterNet net;
  if (const Status status = net.Start(); !status.ok()) GTEST_SKIP() << status.ToString();
  RealClock clock;
  const Context ctx(clock, Logger());
  MetricsRegistry registry;
  Metrics metrics(registry);
  const NoObjects nothing;
  const Zone zone({.server_ip = kIp4}, nothing);
  std::unique_ptr<LoopbackAddresses> added;
  std::vector<std::unique_ptr<Server>> servers;
  net.node.Do([&] {
    auto made = LoopbackAddresses::Add({kIp4, kIp6});
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    added = *std::move(made);
    for (const char* ip : {kIp4, kIp6}) {
      auto started = Server::Start(ctx, {.address = ip}, zone, metrics);
      ASSERT_TRUE(started.ok()) << started.status().ToString();
      servers.push_back(*std::move(started));
    }
  });
  ASSERT_EQ(servers.size(), 2);
  Query query;
  query.name = "web.default.svc.cluster.local";
  query.type = kA;
  query.klass = kClassIn;
  query.question = NormalQuestion(query);
  const std::string message = EncodeQuery(query, 7);
  for (const Namespace* from : {&net.pods[0], &net.node}) {
    for (const char* ip : {kIp4, kIp6}) {
      const std::string answer = DatagramClient(*from, ip, 53).Ask(5000, message);
      const auto scanned = ScanAnswer(answer);
      ASSERT_TRUE(scanned) << ip << ": " << answer;
      EXPECT_EQ(scanned->id, 7);
      EXPECT_EQ(scanned->rcode, Rcode::kNxDomain);
    }
  }
  servers.clear();
  net.node.Do([&] { added.reset(); });
  net.node.Do([] { EXPECT_FALSE(IsLocal(kIp4)); });
}

}  // namespace
}  // namespace cox::dns
