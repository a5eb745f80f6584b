// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/service_allocation.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "api/networking/v1.h"
#include "apiserver/registry/kinds/core/service/alloc/stored.h"
#include "apiserver/registry/kinds/core/service/strategy.h"
#include "base/testing/test_clock.h"
#include "object/codec/json/json.h"
#include "storage/memory/memory_store.h"

namespace cox::apiserver {
namespace {

using core::v1::Service;

// Allocation with a memory store, without an API server.
class ServiceAllocationTest : public ::testing::Test {
 protected:
  void SetUp() override { Configure({"10.96.0.0/24"}); }

  void Configure(std::vector<std::string> ranges) {
    store_ = storage::NewMemoryStore(clock_);
    // A sufficiently uniform generator with the same sequence in every run.
    allocation_ = std::make_unique<ServiceAllocation>(
        ServiceStores::All(*store_),
        ServiceAllocation::Options{.cluster_ip_ranges = std::move(ranges),
                                   .node_ports = {30000, 30031},
                                   .root = "/registry",
                                   .random = [this](uint64_t bound) { return Random(bound); }});
    ASSERT_TRUE(allocation_->Start(ctx_, now_).ok());
  }

  uint64_t Random(uint64_t bound) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return (random_ >> 33) % bound;
  }

  Object Make(std::string_view spec) {
    Result<Service> service = json::Decode<Service>(
        R"({"metadata":{"name":"a","namespace":"ns"},"spec":)" + std::string(spec) + "}");
    EXPECT_TRUE(service.ok()) << spec;
    Object object = Object::Of(std::move(*service));
    strategy_->SetDefaults(object);
    return object;
  }

  // Creates and commits; returns the error text, or "".
  std::string Create(Object& object, bool commit = true) {
    auto transaction = allocation_->BeforeCreate(MakeWriteContext(), object);
    if (!transaction.ok()) return transaction.status().message();
    if (commit && *transaction != nullptr) (*transaction)->Commit();
    return "";
  }
  std::string Update(Object& object, const Object& old, bool commit = true) {
    auto transaction = allocation_->BeforeUpdate(MakeWriteContext(), object, old);
    if (!transaction.ok()) return transaction.status().message();
    if (commit && *transaction != nullptr) (*transaction)->Commit();
    return "";
  }

  static Service& Of(Object& object) { return *object.As<Service>(); }

  std::vector<std::string> Addresses() {
    storage::Page page = *store_->List(ctx_, "/registry/ipaddresses/", {});
    std::vector<std::string> names;
    for (const storage::KeyValue& kv : page.items) names.push_back(kv.key.substr(22));
    return names;
  }
  std::vector<int32_t> Ports() {
    const PortBitmap ports = *allocation_->node_ports().Read(ctx_);
    std::vector<int32_t> taken;
    for (int32_t port = 30000; port <= 30031; ++port) {
      if (ports.Has(port)) taken.push_back(port);
    }
    return taken;
  }

  WriteContext MakeWriteContext() {
    return {.ctx = ctx_, .user = user_, .now = now_, .dry_run = dry_run_};
  }

  TestClock clock_;
  Context ctx_{clock_};
  UserInfo user_;
  const Time now_ = Time::FromUnix(1'700'000'000);
  bool dry_run_ = false;
  uint64_t random_ = 42;
  StrategyPtr strategy_ = NewServiceStrategy();
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<ServiceAllocation> allocation_;
};

TEST_F(ServiceAllocationTest, StartCreatesDefaultServiceCIDR) {
  auto found = store_->Get(ctx_, "/registry/servicecidrs/kubernetes");
  ASSERT_TRUE(found.ok() && found->kv);
  auto cidr = DecodeStored<networking::v1::ServiceCIDR>(found->kv->value.view());
  ASSERT_TRUE(cidr.ok());
  EXPECT_EQ(cidr->spec.cidrs, std::vector<std::string>{"10.96.0.0/24"});
  ASSERT_EQ(cidr->status.conditions.size(), 1u);
  EXPECT_EQ(cidr->status.conditions[0].message, "Kubernetes default Service CIDR is ready");
  EXPECT_TRUE(allocation_->Start(ctx_, now_).ok());  // idempotent
}

TEST_F(ServiceAllocationTest, AllocatedAddressIsIPAddressWithParentRef) {
  Object service = Make(R"({"ports":[{"port":80}]})");
  ASSERT_EQ(Create(service), "");
  const std::string ip = Of(service).spec.clusterIP;
  EXPECT_EQ(Of(service).spec.clusterIPs, std::vector<std::string>{ip});
  EXPECT_EQ(Of(service).spec.ipFamilies, std::vector<std::string>{"IPv4"});
  EXPECT_EQ(Of(service).spec.ipFamilyPolicy, "SingleStack");
  ASSERT_EQ(Addresses(), std::vector<std::string>{ip});
  auto found = store_->Get(ctx_, "/registry/ipaddresses/" + ip);
  auto address = DecodeStored<networking::v1::IPAddress>(found->kv->value.view());
  ASSERT_TRUE(address.ok());
  EXPECT_TRUE(IsParent(*address, "ns", "a"));
  EXPECT_EQ(*address->metadata.labels.Get("ipaddress.kubernetes.io/ip-family"), "IPv4");
  EXPECT_EQ(*address->metadata.labels.Get("ipaddress.kubernetes.io/managed-by"),
            "ipallocator.k8s.io");
  allocation_->AfterDelete(MakeWriteContext(), service);
  EXPECT_TRUE(Addresses().empty());
}

TEST_F(ServiceAllocationTest, RequestedAddressMustBeFreeAndInRange) {
  Object fixed = Make(R"({"clusterIP":"10.96.0.5"})");
  ASSERT_EQ(Create(fixed), "");
  auto error = [&](std::string_view ip) {
    Object service = Make(R"({"clusterIP":")" + std::string(ip) + R"("})");
    return Create(service);
  };
  EXPECT_EQ(error("10.96.0.5"),
            R"(Service "a" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.5"]: failed to )"
            "allocate IP 10.96.0.5: provided IP is already allocated");
  EXPECT_EQ(error("1.2.3.4"),
            R"(Service "a" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to )"
            "allocate IP 1.2.3.4: the provided network does not match the current range");
  EXPECT_EQ(error("10.96.0.0"),
            R"(Service "a" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to )"
            "allocate IP 10.96.0.0: the provided IP (10.96.0.0) is not in the valid range. The "
            "range of valid IPs is 10.96.0.0/24");
  EXPECT_EQ(error("x"),
            R"(Service "a" is invalid: spec.clusterIPs[0]: Invalid value: "x": must be a valid IP )"
            "address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

TEST_F(ServiceAllocationTest, AllocatesFromUpperBandFirst) {
  for (int i = 0; i < 254; ++i) {
    Object service = Make("{}");
    ASSERT_EQ(Create(service), "") << i;
    const auto ip = validation::ParseIpSloppy(Of(service).spec.clusterIP);
    EXPECT_EQ(ip->bytes[15] <= 16, i >= 238) << i << " " << Of(service).spec.clusterIP;
  }
  EXPECT_EQ(Addresses().size(), 254u);
  Object one_more = Make("{}");
  EXPECT_EQ(Create(one_more),
            "Internal error occurred: failed to allocate a serviceIP: range is full");
  // A second ServiceCIDR provides more addresses.
  networking::v1::ServiceCIDR more;
  more.metadata.name = "more";
  more.spec.cidrs = {"10.97.0.0/24"};
  ASSERT_TRUE(store_->Create(ctx_, "/registry/servicecidrs/more", EncodeStored(more)).ok());
  EXPECT_EQ(Create(one_more), "");
  EXPECT_TRUE(Of(one_more).spec.clusterIP.starts_with("10.97.0."));
}

TEST_F(ServiceAllocationTest, IgnoresServiceCIDRsThatAreNotReady) {
  networking::v1::ServiceCIDR more;
  more.metadata.name = "more";
  more.spec.cidrs = {"10.97.0.0/24"};
  more.status.conditions.push_back({.type = "Ready",
                                    .status = "False",
                                    .observedGeneration = 0,
                                    .lastTransitionTime = {},
                                    .reason = "",
                                    .message = ""});
  ASSERT_TRUE(store_->Create(ctx_, "/registry/servicecidrs/more", EncodeStored(more)).ok());
  Object service = Make(R"({"clusterIP":"10.97.0.5"})");
  EXPECT_TRUE(Create(service).ends_with("does not match the current range"));
}

TEST_F(ServiceAllocationTest, UncommittedTransactionReleasesEverything) {
  Object service = Make(R"({"type":"LoadBalancer","externalTrafficPolicy":"Local",
      "ports":[{"port":80}]})");
  EXPECT_EQ(Create(service, /*commit=*/false), "");
  EXPECT_TRUE(Addresses().empty());
  EXPECT_TRUE(Ports().empty());
  // The same if a later step fails.
  Object bad = Make(R"({"type":"NodePort","ports":[{"name":"a","port":80},
      {"name":"b","port":81,"nodePort":100}]})");
  EXPECT_EQ(Create(bad), R"(Service "a" is invalid: spec.ports[1].nodePort: Invalid value: 100: )"
                         "provided port is not in the valid range. The range of valid ports is "
                         "30000-30031");
  EXPECT_TRUE(Addresses().empty());
  EXPECT_TRUE(Ports().empty());
}

TEST_F(ServiceAllocationTest, DryRunAllocatesNothing) {
  dry_run_ = true;
  Object service = Make(R"({"type":"NodePort","ports":[{"port":80}]})");
  EXPECT_EQ(Create(service), "");
  EXPECT_NE(Of(service).spec.clusterIP, "");
  EXPECT_NE(Of(service).spec.ports[0].nodePort, 0);
  EXPECT_TRUE(Addresses().empty());
  EXPECT_TRUE(Ports().empty());
  dry_run_ = false;
  Object real = Make(R"({"clusterIP":"10.96.0.5"})");
  ASSERT_EQ(Create(real), "");
  dry_run_ = true;
  Object again = Make(R"({"clusterIP":"10.96.0.5"})");
  EXPECT_TRUE(Create(again).ends_with("provided IP is already allocated"));
}

TEST_F(ServiceAllocationTest, NodePortIsSharedByProtocolsAndOtherwiseUnique) {
  Object dns = Make(R"({"type":"NodePort","ports":[{"name":"a","port":53,"protocol":"UDP"},
      {"name":"b","port":53}]})");
  ASSERT_EQ(Create(dns), "");
  EXPECT_EQ(Of(dns).spec.ports[0].nodePort, Of(dns).spec.ports[1].nodePort);
  EXPECT_EQ(Ports(), std::vector<int32_t>{Of(dns).spec.ports[0].nodePort});
  EXPECT_GE(Of(dns).spec.ports[0].nodePort, 30016);  // not from the lower band

  Object fixed = Make(R"({"type":"NodePort","ports":[{"port":80,"nodePort":30001}]})");
  ASSERT_EQ(Create(fixed), "");
  Object again = Make(R"({"type":"NodePort","ports":[{"port":80,"nodePort":30001}]})");
  EXPECT_EQ(
      Create(again),
      R"(Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 30001: provided port )"
      "is already allocated");
  Object twice = Make(R"({"type":"NodePort","ports":[{"name":"a","port":80,"nodePort":30002},
      {"name":"b","port":81,"nodePort":30002}]})");
  EXPECT_EQ(
      Create(twice),
      R"(Service "a" is invalid: spec.ports[1].nodePort: Invalid value: 30002: provided port )"
      "is already allocated");
}

TEST_F(ServiceAllocationTest, LoadBalancerMayDisableNodePorts) {
  Object none = Make(R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
      "ports":[{"name":"a","port":80},{"name":"b","port":81,"nodePort":30003}]})");
  ASSERT_EQ(Create(none), "");
  EXPECT_EQ(Of(none).spec.ports[0].nodePort, 0);
  EXPECT_EQ(Ports(), std::vector<int32_t>{30003});
  Object local = Make(R"({"type":"LoadBalancer","externalTrafficPolicy":"Local",
      "ports":[{"port":80}]})");
  ASSERT_EQ(Create(local), "");
  EXPECT_NE(Of(local).spec.healthCheckNodePort, 0);
  EXPECT_EQ(Ports().size(), 3u);
}

TEST_F(ServiceAllocationTest, ReportsFullNodePortRange) {
  Object all = Make(R"({"type":"NodePort"})");
  for (int i = 0; i < 32; ++i) {
    core::v1::ServicePort port;
    port.name = "p" + std::to_string(i);
    port.port = i + 1;
    port.protocol = "TCP";
    Of(all).spec.ports.push_back(port);
  }
  ASSERT_EQ(Create(all), "");
  Object one_more = Make(R"({"type":"NodePort","ports":[{"port":1}]})");
  EXPECT_EQ(Create(one_more),
            "Internal error occurred: failed to allocate a nodePort: range is full");
  EXPECT_EQ(Addresses().size(), 1u);
  allocation_->AfterDelete(MakeWriteContext(), all);
  EXPECT_TRUE(Ports().empty());
  EXPECT_EQ(Create(one_more), "");
}

TEST_F(ServiceAllocationTest, UpdateKeepsOmittedAllocations) {
  Object old = Make(R"({"type":"NodePort","ports":[{"name":"a","port":80}]})");
  ASSERT_EQ(Create(old), "");
  Object now =
      Make(R"({"type":"NodePort","ports":[{"name":"a","port":81},{"name":"b","port":82}]})");
  ASSERT_EQ(Update(now, old), "");
  EXPECT_EQ(Of(now).spec.clusterIP, Of(old).spec.clusterIP);
  EXPECT_EQ(Of(now).spec.ports[0].nodePort, Of(old).spec.ports[0].nodePort);
  EXPECT_EQ(Ports().size(), 2u);
  Object fewer = now;
  Of(fewer).spec.ports.resize(1);
  ASSERT_EQ(Update(fewer, now, /*commit=*/false), "");
  EXPECT_EQ(Ports().size(), 2u);  // released when the change is stored
  ASSERT_EQ(Update(fewer, now), "");
  EXPECT_EQ(Ports(), std::vector<int32_t>{Of(old).spec.ports[0].nodePort});
}

TEST_F(ServiceAllocationTest, ChangeOfTypeAllocatesAndReleases) {
  Object service = Make(R"({"ports":[{"port":80}]})");
  ASSERT_EQ(Create(service), "");
  const std::string ip = Of(service).spec.clusterIP;
  auto become = [&](std::string_view type) {
    Object now = service;
    Of(now).spec.type = type;
    strategy_->SetDefaults(now);
    if (type == "ExternalName") Of(now).spec.externalName = "a.b";
    EXPECT_EQ(Update(now, service), "");
    strategy_->PrepareForUpdate(MakeWriteContext(), now, service);
    service = now;
  };
  become("NodePort");
  EXPECT_EQ(Ports().size(), 1u);
  become("LoadBalancer");
  EXPECT_EQ(Ports().size(), 1u);
  become("ClusterIP");
  EXPECT_TRUE(Ports().empty());
  EXPECT_EQ(Of(service).spec.clusterIP, ip);
  become("ExternalName");
  EXPECT_TRUE(Addresses().empty());
  EXPECT_EQ(Of(service).spec.clusterIP, "");
  become("ClusterIP");
  EXPECT_EQ(Addresses().size(), 1u);
  EXPECT_NE(Of(service).spec.clusterIP, "");
}

TEST_F(ServiceAllocationTest, IpFamiliesOfSingleStackCluster) {
  struct Case {
    std::string_view spec, families, policy, error;
  };
  const Case cases[] = {
      {"{}", "IPv4", "SingleStack", ""},
      {R"({"ipFamilyPolicy":"PreferDualStack"})", "IPv4", "PreferDualStack", ""},
      {R"({"clusterIP":"None"})", "IPv4,IPv6", "RequireDualStack", ""},
      {R"({"clusterIP":"None","ipFamilies":["IPv6"]})", "IPv6", "SingleStack", ""},
      {R"({"clusterIP":"None","ipFamilyPolicy":"PreferDualStack"})", "IPv4,IPv6", "PreferDualStack",
       ""},
      {R"({"clusterIP":"None","selector":{"a":"b"}})", "IPv4", "SingleStack", ""},
      {R"({"ipFamilyPolicy":"RequireDualStack"})", "", "",
       R"(spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured )"
       "for dual-stack services"},
      {R"({"ipFamilies":["IPv6"]})", "", "",
       R"(spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster)"},
      {R"({"ipFamilies":["IPv4","IPv6"]})", "", "",
       R"(spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or )"
       "'PreferDualStack' when multiple IP families are specified"},
      {R"({"clusterIPs":["10.96.0.5"]})", "", "",
       R"(spec.clusterIPs: Invalid value: ["10.96.0.5"]: must be empty when `clusterIP` is not )"
       "specified"},
      {R"({"clusterIP":"fd00::5"})", "", "",
       R"(spec.clusterIPs[0]: Invalid value: ["fd00::5"]: IPv6 is not configured on this cluster)"},
  };
  for (const Case& c : cases) {
    Object service = Make(c.spec);
    const std::string error = Create(service);
    EXPECT_EQ(error, c.error.empty() ? "" : "Service \"a\" is invalid: " + std::string(c.error))
        << c.spec;
    if (!error.empty()) continue;
    std::string families;
    for (const std::string& family : Of(service).spec.ipFamilies) {
      families += (families.empty() ? "" : ",") + family;
    }
    EXPECT_EQ(families, c.families) << c.spec;
    EXPECT_EQ(Of(service).spec.ipFamilyPolicy, std::string(c.policy)) << c.spec;
  }
}

TEST_F(ServiceAllocationTest, DualStackServiceAddsAndRemovesSecondaryAddress) {
  Configure({"10.96.0.0/24", "fd00::/112"});
  Object service = Make(R"({"ipFamilyPolicy":"RequireDualStack"})");
  ASSERT_EQ(Create(service), "");
  EXPECT_EQ(Of(service).spec.ipFamilies, (std::vector<std::string>{"IPv4", "IPv6"}));
  ASSERT_EQ(Of(service).spec.clusterIPs.size(), 2u);
  EXPECT_TRUE(Of(service).spec.clusterIPs[1].starts_with("fd00::"));
  EXPECT_EQ(Addresses().size(), 2u);

  Object single = service;
  Of(single).spec.ipFamilyPolicy = "SingleStack";
  ASSERT_EQ(Update(single, service), "");
  EXPECT_EQ(Of(single).spec.clusterIPs.size(), 1u);
  EXPECT_EQ(Of(single).spec.ipFamilies, std::vector<std::string>{"IPv4"});
  EXPECT_EQ(Addresses(), std::vector<std::string>{Of(service).spec.clusterIP});

  Object dual = single;
  Of(dual).spec.ipFamilyPolicy = "PreferDualStack";
  ASSERT_EQ(Update(dual, single), "");
  EXPECT_EQ(Of(dual).spec.clusterIPs.size(), 2u);
  EXPECT_EQ(Addresses().size(), 2u);
}

TEST_F(ServiceAllocationTest, GenerateNameIsResolvedBeforeAllocation) {
  Object service = Make("{}");
  Of(service).metadata.name.clear();
  Of(service).metadata.generateName = "gen-";
  ASSERT_EQ(Create(service), "");
  EXPECT_TRUE(Of(service).metadata.name.starts_with("gen-"));
  EXPECT_GT(Of(service).metadata.name.size(), 4u);
}

TEST_F(ServiceAllocationTest, ReleaseIgnoresAddressOfAnotherService) {
  Object mine = Make(R"({"clusterIP":"10.96.0.5"})");
  ASSERT_EQ(Create(mine), "");
  EXPECT_TRUE(allocation_->cluster_ips().Release(ctx_, "ns", "other", "10.96.0.5").ok());
  EXPECT_EQ(Addresses().size(), 1u);
}

TEST_F(ServiceAllocationTest, StoredPortsAreKeptWhenRangeChanges) {
  core::v1::RangeAllocation stored;
  stored.range = "30010-30050";
  PortBitmap ports({30010, 30050});
  ports.Set(30012);
  ports.Set(30050);
  stored.data = ports.Data();
  ASSERT_TRUE(store_->Create(ctx_, "/registry/ranges/servicenodeports", EncodeStored(stored)).ok());
  EXPECT_EQ(Ports(), std::vector<int32_t>{30012});
  Object taken = Make(R"({"type":"NodePort","ports":[{"port":80,"nodePort":30012}]})");
  EXPECT_TRUE(Create(taken).ends_with("provided port is already allocated"));
}

}  // namespace
}  // namespace cox::apiserver
