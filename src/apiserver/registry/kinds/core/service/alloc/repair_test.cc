// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/repair.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/registry/kinds/core/service/alloc/stored.h"
#include "base/testing/test_clock.h"
#include "storage/memory/memory_store.h"

namespace cox::apiserver {
namespace {

using core::v1::Service;

class ServiceRepairTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(allocation_.Start(ctx_, Now()).ok()); }

  Time Now() const {
    return Time::FromUnix(
        std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch()).count());
  }

  // Stores a service without allocations.
  void Store(const std::string& name, const std::string& ip, std::vector<int32_t> ports = {}) {
    Service service;
    service.metadata.namespace_ = "ns";
    service.metadata.name = name;
    service.spec.type = ports.empty() ? "ClusterIP" : "NodePort";
    service.spec.clusterIP = ip;
    service.spec.clusterIPs = {ip};
    for (int32_t port : ports) {
      core::v1::ServicePort& p = service.spec.ports.emplace_back();
      p.port = 80;
      p.nodePort = port;
    }
    ASSERT_TRUE(
        store_->Create(ctx_, "/registry/services/specs/ns/" + name, EncodeStored(service)).ok());
  }
  void Remove(const std::string& name) {
    const std::string key = "/registry/services/specs/ns/" + name;
    ASSERT_TRUE(store_->Delete(ctx_, key, store_->Get(ctx_, key)->kv->revision)->written);
  }
  void Record(const std::string& ip, const std::string& name) {
    ASSERT_TRUE(store_
                    ->Create(ctx_, "/registry/ipaddresses/" + ip,
                             EncodeStored(ClusterIps::MakeAddress(ip, "IPv4", "ns", name, Now())))
                    .ok());
  }
  // The service of the IPAddress, "" if there is none.
  std::string Owner(const std::string& ip) {
    auto found = store_->Get(ctx_, "/registry/ipaddresses/" + ip);
    if (!found->kv) return "";
    return DecodeStored<networking::v1::IPAddress>(found->kv->value.view())->spec.parentRef->name;
  }
  void Take(int32_t port) {
    ASSERT_TRUE(allocation_.node_ports()
                    .Modify(ctx_,
                            [&](PortBitmap& ports) {
                              ports.Set(port);
                              return Status();
                            })
                    .ok());
  }
  bool Taken(int32_t port) { return allocation_.node_ports().Read(ctx_)->Has(port); }
  RepairCounts Run() {
    Result<RepairCounts> counts = repair_.RunOnce(ctx_);
    EXPECT_TRUE(counts.ok());
    return counts.ok() ? *counts : RepairCounts();
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore(clock_);
  ServiceAllocation allocation_{
      ServiceStores::All(*store_),
      {.cluster_ip_ranges = {"10.96.0.0/16"}, .node_ports = {}, .root = "/registry", .random = {}}};
  ServiceRepair repair_{ServiceStores::All(*store_), allocation_};
};

TEST_F(ServiceRepairTest, HealthyAllocationsAreNotChanged) {
  Store("a", "10.96.0.5", {30001});
  Record("10.96.0.5", "a");
  Take(30001);
  const storage::Revision before = *store_->CurrentRevision(ctx_);
  EXPECT_EQ(Run(), RepairCounts{});
  EXPECT_EQ(*store_->CurrentRevision(ctx_), before);
}

TEST_F(ServiceRepairTest, AllocatesMissingAddressesAndPorts) {
  Store("a", "10.96.0.5", {30001, 30002});
  Take(30002);
  EXPECT_EQ(Run(), (RepairCounts{.missing_addresses = 1, .missing_ports = 1}));
  EXPECT_EQ(Owner("10.96.0.5"), "a");
  EXPECT_TRUE(Taken(30001));
  EXPECT_EQ(Run(), RepairCounts{});
}

TEST_F(ServiceRepairTest, CorrectsParentOfAddress) {
  Store("a", "10.96.0.5");
  Record("10.96.0.5", "gone");
  EXPECT_EQ(Run(), (RepairCounts{.foreign_addresses = 1}));
  EXPECT_EQ(Owner("10.96.0.5"), "a");
}

TEST_F(ServiceRepairTest, ReportsTwoServicesWithSameAddress) {
  Store("a", "10.96.0.5");
  Store("b", "10.96.0.5");
  Record("10.96.0.5", "b");
  EXPECT_EQ(Run(), (RepairCounts{.conflicting_addresses = 1}));
  EXPECT_EQ(Owner("10.96.0.5"), "b");
}

TEST_F(ServiceRepairTest, ReleasesLeakedAddressesAfterOneMinute) {
  Record("10.96.0.5", "gone");
  EXPECT_EQ(Run(), RepairCounts{});  // its service may not be stored yet
  clock_.Advance(std::chrono::seconds(ServiceRepair::kAddressGraceSeconds));
  EXPECT_EQ(Run(), (RepairCounts{.leaked_addresses = 1}));
  EXPECT_EQ(Owner("10.96.0.5"), "");
}

TEST_F(ServiceRepairTest, KeepsAddressesOfOtherManagers) {
  networking::v1::IPAddress address =
      ClusterIps::MakeAddress("10.96.0.5", "IPv4", "ns", "gone", Now());
  address.metadata.labels.clear();
  ASSERT_TRUE(store_->Create(ctx_, "/registry/ipaddresses/10.96.0.5", EncodeStored(address)).ok());
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(Run(), RepairCounts{});
}

TEST_F(ServiceRepairTest, ReleasesLeakedPortsInThirdPass) {
  Take(30001);
  EXPECT_EQ(Run(), RepairCounts{});
  EXPECT_EQ(Run(), RepairCounts{});
  EXPECT_EQ(Run(), (RepairCounts{.leaked_ports = 1}));
  EXPECT_FALSE(Taken(30001));
}

TEST_F(ServiceRepairTest, PortUsedInBetweenIsNotLeaked) {
  Take(30001);
  EXPECT_EQ(Run(), RepairCounts{});
  EXPECT_EQ(Run(), RepairCounts{});
  Store("a", "10.96.0.5", {30001});
  Record("10.96.0.5", "a");
  EXPECT_EQ(Run(), RepairCounts{});
  Remove("a");
  EXPECT_EQ(Run(), RepairCounts{});  // the count starts again
  EXPECT_TRUE(Taken(30001));
}

TEST_F(ServiceRepairTest, CountsPortsThatCannotBeAllocated) {
  Store("a", "10.96.0.5", {100, 30001});
  Store("b", "10.96.0.6", {30001});
  Record("10.96.0.5", "a");
  Record("10.96.0.6", "b");
  EXPECT_EQ(Run(), (RepairCounts{.missing_ports = 1, .unfixable_ports = 2}));
}

TEST_F(ServiceRepairTest, ReadsServicesInSeveralPages) {
  for (int i = 0; i < 1200; ++i) {
    Store("s" + std::to_string(i),
          "10.96." + std::to_string(i / 200) + "." + std::to_string(i % 200 + 1));
  }
  EXPECT_EQ(Run(), (RepairCounts{.missing_addresses = 1200}));
}

TEST_F(ServiceRepairTest, RunsUntilStopped) {
  Context child = ctx_.Child();
  std::thread loop([&] { repair_.Run(child); });
  clock_.WaitForWaiters(1);
  Store("a", "10.96.0.5");
  clock_.Advance(ServiceRepair::kInterval);
  clock_.WaitForWaiters(1);
  EXPECT_EQ(Owner("10.96.0.5"), "a");
  child.Stop();
  loop.join();
}

}  // namespace
}  // namespace cox::apiserver
