// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_clock.h"
#include "coxswain/conditions.h"
#include "kubelet/node/kernel_settings.h"
#include "kubelet/node/lease.h"
#include "kubelet/node/machine.h"
#include "kubelet/node/node_object.h"
#include "kubelet/node/node_status.h"
#include "kubelet/node/pressure.h"
#include "object/codec/json/json.h"
#include "sdk/testing/function_client.h"

namespace cox::kubelet {
namespace {

using core::v1::Node;
using core::v1::NodeStatus;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMi = 1024 * 1024;
constexpr int64_t kGi = 1024 * kMi;

// --- The machine.

void Put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(KernelSettingsTest, DifferencesFromTheDefaultsAreErrors) {
  const std::string root = testing::TempDir() + "kernel";
  std::filesystem::remove_all(root);
  const std::string sys = root + "/proc/sys/";
  Put(sys + "vm/overcommit_memory", "1\n");
  Put(sys + "vm/panic_on_oom", "0\n");
  Put(sys + "kernel/panic", "10\n");
  Put(sys + "kernel/panic_on_oops", "1\n");
  Put(sys + "kernel/keys/root_maxkeys", "1000000\n");
  Put(sys + "kernel/keys/root_maxbytes", "25000000\n");
  EXPECT_EQ(CheckKernelDefaults(root), Status());
  Put(sys + "vm/overcommit_memory", "0\n");
  std::filesystem::remove(sys + "kernel/panic");
  EXPECT_EQ(CheckKernelDefaults(root).message(),
            "protectKernelDefaults: vm.overcommit_memory is 0, expected 1; kernel.panic is (cannot "
            "be read), expected 10");
}

TEST(KernelSettingsTest, SwapIsAnError) {
  const std::string root = testing::TempDir() + "swap";
  std::filesystem::remove_all(root);
  EXPECT_EQ(CheckSwapOff(root), Status());
  Put(root + "/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
  EXPECT_EQ(CheckSwapOff(root), Status());
  Put(root + "/proc/swaps",
      "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 1024 0 -2\n");
  EXPECT_THAT(CheckSwapOff(root).message(), HasSubstr("--fail-swap-on=false: /dev/sda2"));
}

TEST(MachineTest, ReadsKernelFiles) {
  const std::string root = testing::TempDir() + "machine";
  std::filesystem::remove_all(root);
  EXPECT_TRUE(ReadMachine(root).status().Is(Reason::kNotFound));
  Put(root + "/etc/machine-id", "0123456789abcdef\n");
  Put(root + "/etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12 (worm)\"\n");
  Put(root + "/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  Put(root + "/proc/sys/kernel/random/boot_id", "b00t\n");
  Put(root + "/proc/sys/kernel/pid_max", "32768\n");
  Put(root + "/proc/loadavg", "0.20 0.18 0.12 1/80 11206\n");
  Put(root + "/proc/meminfo",
      "MemTotal:       16384 kB\nMemAvailable:    8192 kB\nSwapTotal:         4 kB\n");
  Put(root + "/sys/devices/system/cpu/online", "0-3,8\n");
  Put(root + "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
  Put(root + "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "7\n");
  const Result<Machine> machine = ReadMachine(root);
  ASSERT_TRUE(machine.ok()) << machine.status().ToString();
  EXPECT_EQ(machine->machine_id, "0123456789abcdef");
  EXPECT_EQ(machine->system_uuid, "0123456789abcdef");
  EXPECT_EQ(machine->boot_id, "b00t");
  EXPECT_EQ(machine->kernel, "6.1.0-18-amd64");
  EXPECT_EQ(machine->os_image, "Some Linux 12 (worm)");
  EXPECT_EQ(machine->cpus, 5);
  EXPECT_EQ(machine->memory_bytes, 16 * kMi);
  EXPECT_EQ(machine->swap_bytes, 4096);
  EXPECT_THAT(machine->huge_pages, ElementsAre(HugePages{2 * kMi, 7}, HugePages{kGi, 0}));
  const Result<AvailableResources> slack = ReadAvailableResources(root);
  ASSERT_TRUE(slack.ok());
  EXPECT_EQ(slack->memory_available_bytes, 8 * kMi);
  EXPECT_EQ(slack->pids, 80);
  EXPECT_EQ(slack->max_pids, 32768);
  std::filesystem::remove_all(root);
}

TEST(MachineTest, ReadsThisMachine) {
  const Result<Machine> machine = ReadMachine();
  ASSERT_TRUE(machine.ok()) << machine.status().ToString();
  EXPECT_GT(machine->cpus, 0);
  EXPECT_NE(machine->kernel, "");
  EXPECT_NE(machine->architecture, "");
  EXPECT_GT(ReadFilesystem("/var/lib/not/there/yet")->capacity_bytes, 0);
  EXPECT_NE(DefaultAddress(), "");
}

TEST(MachineTest, CountsCpuLists) {
  EXPECT_EQ(CountCpus("0"), 1);
  EXPECT_EQ(CountCpus("0-1"), 2);
  EXPECT_EQ(CountCpus("0-3,8-9,12\n"), 7);
  EXPECT_EQ(CountCpus(""), 0);
  EXPECT_EQ(CountCpus("x,3-1"), 0);
}

// --- Pressure.

TEST(PressureTest, ParsesValidAndRejectsInvalidThresholds) {
  EXPECT_EQ(ParseThresholds(kDefaultEvictionHard)->size(), 5u);
  EXPECT_EQ(ParseThresholds("")->size(), 0u);
  EXPECT_EQ(ParseThresholds("memory.available<1Gi")->at(0).Of(5 * kGi), kGi);
  EXPECT_EQ(ParseThresholds("nodefs.available<10%")->at(0).Of(1000), 100);
  for (const char* wrong : {"memory.available", "memory.available<x", "memory.available<120%",
                            "memory.available<-5", "memoryavailable<5"}) {
    EXPECT_TRUE(ParseThresholds(wrong).status().Is(Reason::kBadRequest)) << wrong;
  }
}

TEST(PressureTest, ReportsResourcesBelowThreshold) {
  const auto thresholds = ParseThresholds(std::string(kDefaultEvictionHard) + ",pid.available<10%");
  ASSERT_TRUE(thresholds.ok());
  Resources plenty;
  plenty.slack = {
      .memory_available_bytes = kGi, .memory_bytes = 2 * kGi, .pids = 100, .max_pids = 1000};
  plenty.node = {.capacity_bytes = 1000, .available_bytes = 500, .inodes = 100, .inodes_free = 50};
  plenty.images = plenty.node;
  EXPECT_EQ(FindPressure(*thresholds, plenty), Pressure());
  Resources is = plenty;
  is.slack.memory_available_bytes = 99 * kMi;
  EXPECT_EQ(FindPressure(*thresholds, is), (Pressure{.memory = true}));
  is = plenty;
  is.slack.pids = 950;
  EXPECT_EQ(FindPressure(*thresholds, is), (Pressure{.pid = true}));
  is = plenty;
  is.node.inodes_free = 4;
  EXPECT_EQ(FindPressure(*thresholds, is), (Pressure{.disk = true}));
  is = plenty;
  is.images.available_bytes = 149;
  EXPECT_EQ(FindPressure(*thresholds, is), (Pressure{.disk = true}));
  is = plenty;
  is.node.inodes = is.node.inodes_free = 0;  // a file system without an inode limit
  EXPECT_EQ(FindPressure(*thresholds, is), Pressure());
}

TEST(PressureTest, PersistsForTransitionPeriod) {
  PressureHistory memory(std::chrono::minutes(5));
  const Clock::SteadyTime start{std::chrono::hours(1)};
  EXPECT_EQ(memory.Observe({}, start), Pressure());
  EXPECT_EQ(memory.Observe({.disk = true}, start), (Pressure{.disk = true}));
  EXPECT_EQ(memory.Observe({}, start + std::chrono::minutes(4)), (Pressure{.disk = true}));
  EXPECT_EQ(memory.Observe({}, start + std::chrono::minutes(5)), Pressure());
}

// --- The Node.

NodeOptions Options() {
  NodeOptions options;
  options.name = "node-1";
  options.ips = {"10.0.0.5", "10.0.0.6", "fd00::5"};
  options.eviction_hard = *ParseThresholds(kDefaultEvictionHard);
  return options;
}

Machine TestMachine() {
  return {.machine_id = "m",
          .system_uuid = "s",
          .boot_id = "b",
          .kernel = "6.1",
          .os_image = "Linux",
          .architecture = "amd64",
          .cpus = 4,
          .memory_bytes = 8 * kGi,
          .swap_bytes = 0,
          .huge_pages = {{2 * kMi, 512}}};
}

TEST(NodeObjectTest, NewNodeHasLabelsAndTaints) {
  NodeOptions options = Options();
  options.labels = *ParseNodeLabels("disk=ssd,node.kubernetes.io/role=web");
  options.taints = *ParseTaints("a=b:NoSchedule,c:NoExecute");
  const Node node = NewNode(options, TestMachine());
  EXPECT_EQ(node.metadata.name, "node-1");
  EXPECT_EQ(*node.metadata.labels.Get("kubernetes.io/hostname"), "node-1");
  EXPECT_EQ(*node.metadata.labels.Get("kubernetes.io/arch"), "amd64");
  EXPECT_EQ(*node.metadata.labels.Get("beta.kubernetes.io/os"), "linux");
  EXPECT_EQ(*node.metadata.labels.Get("disk"), "ssd");
  ASSERT_EQ(node.spec.taints.size(), 2u);
  EXPECT_EQ(node.spec.taints[0].value, "b");
  EXPECT_EQ(node.spec.taints[1].effect, "NoExecute");
  EXPECT_FALSE(node.spec.unschedulable);
}

TEST(NodeObjectTest, ReconcileKeepsFieldsOfOtherWriters) {
  const Node wanted = NewNode(Options(), TestMachine());
  Node existing = wanted;
  EXPECT_FALSE(ReconcileNode(wanted, &existing));
  existing.metadata.labels["kubernetes.io/arch"] = "arm64";
  existing.metadata.labels["team"] = "a";
  existing.spec.taints = {{.key = "x", .effect = "NoSchedule"}};
  existing.spec.unschedulable = true;
  EXPECT_TRUE(ReconcileNode(wanted, &existing));
  EXPECT_EQ(*existing.metadata.labels.Get("kubernetes.io/arch"), "amd64");
  EXPECT_EQ(*existing.metadata.labels.Get("team"), "a");
  EXPECT_EQ(existing.spec.taints.size(), 1u);
  EXPECT_TRUE(existing.spec.unschedulable);
}

TEST(NodeObjectTest, RejectsInvalidFlags) {
  for (const char* wrong : {"novalue", "a b=c", "a=b c", "kubernetes.io/role=x",
                            "node-restriction.kubernetes.io/x=y", "foo.k8s.io/x=y"}) {
    EXPECT_TRUE(ParseNodeLabels(wrong).status().Is(Reason::kBadRequest)) << wrong;
  }
  for (const char* wrong : {"a=b", "a=b:Never", ":NoSchedule", "a=b c:NoSchedule"}) {
    EXPECT_TRUE(ParseTaints(wrong).status().Is(Reason::kBadRequest)) << wrong;
  }
  EXPECT_EQ(ParseReserved("cpu=100m,memory=1Gi")->size(), 2u);
  for (const char* wrong : {"gpu=1", "cpu", "cpu=-1", "memory=x"}) {
    EXPECT_TRUE(ParseReserved(wrong).status().Is(Reason::kBadRequest)) << wrong;
  }
}

// --- Node status.

const Time kNow = Time::FromUnix(1'900'000'000);

NodeFacts Facts() {
  NodeFacts facts;
  facts.machine = TestMachine();
  facts.storage_bytes = 100 * kGi;
  facts.runtime = {"containerd", "v2.1.4", "v1"};
  facts.runtime_status = runtime::RuntimeStatus{{true, "", ""}, {true, "", ""}, {}};
  return facts;
}

TEST(NodeStatusTest, ReportsNodeProperties) {
  const NodeStatus status = BuildNodeStatus({}, Facts(), Options(), kNow);
  ASSERT_EQ(status.addresses.size(), 3u);
  EXPECT_EQ(status.addresses[0].address, "10.0.0.5");
  EXPECT_EQ(status.addresses[1].address, "fd00::5");
  EXPECT_EQ(status.addresses[2].type, "Hostname");
  EXPECT_EQ(status.nodeInfo.containerRuntimeVersion, "containerd://2.1.4");
  EXPECT_EQ(status.nodeInfo.kubeletVersion, "v1.36.4+coxswain1");
  EXPECT_EQ(status.nodeInfo.operatingSystem, "linux");
  EXPECT_EQ(status.daemonEndpoints.kubeletEndpoint.Port, 10250);
  EXPECT_EQ(status.capacity.Get("cpu")->ToString(), "4");
  EXPECT_EQ(status.capacity.Get("memory")->ToString(), "8Gi");
  EXPECT_EQ(status.capacity.Get("pods")->ToString(), "110");
  EXPECT_EQ(status.capacity.Get("hugepages-2Mi")->ToString(), "1Gi");
  EXPECT_EQ(status.capacity.Get("ephemeral-storage")->ToString(), "100Gi");
  // Capacity minus the 100Mi threshold and 1Gi of huge pages.
  EXPECT_EQ(status.allocatable.Get("memory")->Value(), 7 * kGi - 100 * kMi);
  EXPECT_EQ(status.allocatable.Get("ephemeral-storage")->Value(), 90 * kGi);
}

TEST(NodeStatusTest, ReservedResourcesAreNotAllocatable) {
  NodeOptions options = Options();
  options.kube_reserved = *ParseReserved("cpu=500m,memory=1Gi");
  options.system_reserved = *ParseReserved("cpu=9");
  const NodeStatus status = BuildNodeStatus({}, Facts(), options, kNow);
  EXPECT_EQ(status.allocatable.Get("cpu")->MilliValue(), 0);
  EXPECT_EQ(status.allocatable.Get("memory")->Value(), 6 * kGi - 100 * kMi);
  EXPECT_EQ(status.capacity.Get("cpu")->ToString(), "4");
}

TEST(NodeStatusTest, KeepsFieldsOfOtherWriters) {
  NodeStatus present;
  present.capacity["example.com/gpu"] = Quantity(2);
  present.allocatable["example.com/gpu"] = Quantity(1);
  present.conditions.push_back({.type = "NetworkUnavailable", .status = "False"});
  const NodeStatus status = BuildNodeStatus(present, Facts(), Options(), kNow);
  EXPECT_EQ(status.capacity.Get("example.com/gpu")->ToString(), "2");
  EXPECT_EQ(status.allocatable.Get("example.com/gpu")->ToString(), "1");
  EXPECT_NE(FindCondition(status.conditions, "NetworkUnavailable"), nullptr);
  EXPECT_EQ(status.conditions.size(), 5u);
}

TEST(NodeStatusTest, ReadyFollowsRuntimeAndNetwork) {
  struct Case {
    Result<runtime::RuntimeStatus> runtime;
    Status pods;
    std::string message;
  };
  const runtime::Readiness good{true, "", ""};
  const runtime::Readiness bad{false, "NetworkPluginNotReady", "cni plugin not initialized"};
  const Case cases[] = {
      {runtime::RuntimeStatus{good, good, {}}, {}, ""},
      {Status::Unavailable("x"), {}, "container runtime is down"},
      {runtime::RuntimeStatus{good, bad, {}},
       {},
       "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
       "message:cni plugin not initialized"},
      {Status::Unavailable("x"), Status::Internal("PLEG is not healthy"),
       "[container runtime is down, PLEG is not healthy]"},
  };
  for (const Case& c : cases) {
    NodeFacts facts = Facts();
    facts.runtime_status = c.runtime;
    facts.pods = c.pods;
    const NodeStatus status = BuildNodeStatus({}, facts, Options(), kNow);
    const auto* ready = FindCondition(status.conditions, "Ready");
    ASSERT_NE(ready, nullptr);
    EXPECT_EQ(ready->status, c.message.empty() ? "True" : "False");
    EXPECT_EQ(ready->reason, c.message.empty() ? "KubeletReady" : "KubeletNotReady");
    EXPECT_EQ(ready->message, c.message.empty() ? "kubelet is posting ready status" : c.message);
    EXPECT_EQ(IsReady(status), c.message.empty());
  }
}

TEST(NodeStatusTest, HeartbeatAloneIsNoChange) {
  const NodeStatus first = BuildNodeStatus({}, Facts(), Options(), kNow);
  const Time later = kNow + Duration::Seconds(10);
  const NodeStatus second = BuildNodeStatus(first, Facts(), Options(), later);
  EXPECT_FALSE(NodeStatusChanged(first, second));
  EXPECT_EQ(FindCondition(second.conditions, "Ready")->lastHeartbeatTime, later);
  EXPECT_EQ(FindCondition(second.conditions, "Ready")->lastTransitionTime, kNow);
  NodeFacts facts = Facts();
  facts.pressure.disk = true;
  const NodeStatus third = BuildNodeStatus(second, facts, Options(), later);
  EXPECT_TRUE(NodeStatusChanged(second, third));
  const auto* disk = FindCondition(third.conditions, "DiskPressure");
  EXPECT_EQ(disk->lastTransitionTime, later);
  EXPECT_EQ(disk->reason, "KubeletHasDiskPressure");
}

TEST(NodeStatusTest, PatchContainsOnlyDifferences) {
  Node node;
  node.metadata.uid = "u-1";
  node.status = BuildNodeStatus({}, Facts(), Options(), kNow);
  NodeFacts facts = Facts();
  facts.runtime_status = Status::Unavailable("x");
  const NodeStatus after = BuildNodeStatus(node.status, facts, Options(), kNow);
  const Result<std::string> patch = NodeStatusPatch(node, after);
  ASSERT_TRUE(patch.ok()) << patch.status().ToString();
  EXPECT_THAT(*patch, HasSubstr("u-1"));
  EXPECT_THAT(*patch, HasSubstr("container runtime is down"));
  EXPECT_THAT(*patch, Not(HasSubstr("KubeletHasNoDiskPressure")));
  EXPECT_THAT(*patch, Not(HasSubstr("machineID")));
  EXPECT_EQ(*NodeStatusPatch(node, node.status), "");
}

TEST(NodeStatusTest, ListsLargestImagesFirst) {
  List<cri::v1::Image> images(3);
  images[0] = {.id = "a", .repo_tags = {"a:1"}, .repo_digests = {"a@sha256:1"}, .size = 5};
  images[1] = {.id = "b", .repo_tags = {"b:1", "b:2", "b:3", "b:4", "b:5", "b:6"}, .size = 9};
  images[2] = {.id = "c", .size = 100};  // has no name, so it is not listed
  const auto listed = ListedImages(images, 50);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].names.size(), 5u);
  EXPECT_THAT(listed[1].names, ElementsAre("a@sha256:1", "a:1"));
  EXPECT_EQ(ListedImages(images, 1).size(), 1u);
}

// --- The lease.

TEST(LeaseTest, RenewsAndSetsOwnerReference) {
  const Clock::WallTime now{std::chrono::microseconds(1'900'000'000'000'007)};
  const auto first = NextLease(nullptr, "node-1", nullptr, std::chrono::seconds(40), now);
  EXPECT_EQ(first.metadata.namespace_, "kube-node-lease");
  EXPECT_EQ(first.metadata.name, "node-1");
  EXPECT_EQ(first.spec.holderIdentity, "node-1");
  EXPECT_EQ(first.spec.leaseDurationSeconds, 40);
  EXPECT_EQ(first.spec.renewTime->UnixNanos(), 1'900'000'000'000'007'000);
  EXPECT_TRUE(first.metadata.ownerReferences.empty());
  Node node;
  node.metadata.uid = "u-1";
  auto next =
      NextLease(&first, "node-1", &node, std::chrono::seconds(40), now + std::chrono::seconds(10));
  ASSERT_EQ(next.metadata.ownerReferences.size(), 1u);
  EXPECT_EQ(next.metadata.ownerReferences[0].kind, "Node");
  EXPECT_GT(next.spec.renewTime->UnixNanos(), first.spec.renewTime->UnixNanos());
  node.metadata.uid = "u-2";
  next = NextLease(&next, "node-1", &node, std::chrono::seconds(40), now);
  ASSERT_EQ(next.metadata.ownerReferences.size(), 1u);
  EXPECT_EQ(next.metadata.ownerReferences[0].uid, "u-2");
}

// A client that records the verbs and returns an error for each planned failure.
class LeaseClient final : public sdk::FunctionClient {
 public:
  LeaseClient() {
    execute = [this](Context&, const Operation& operation) -> Result<Object> {
      const bool reads = operation.verb == Operation::Verb::kGet;
      verbs.push_back(reads ? "get"
                            : (operation.verb == Operation::Verb::kCreate ? "create" : "update"));
      if (!failures.empty() && !reads) {
        const Status failure = failures.front();
        failures.erase(failures.begin());
        if (!failure.ok()) return failure;
      }
      return reads ? Object::Of(coordination::v1::Lease()) : *operation.body;
    };
  }
  std::vector<std::string> verbs;
  std::vector<Status> failures;
};

TEST(LeaseTest, FailedRenewalsDoNotReadTheLeaseAgain) {
  TestClock clock;
  Context ctx(clock);
  LeaseClient client;
  NodeLease lease(client, "node-1", std::chrono::seconds(40), nullptr);
  ASSERT_TRUE(lease.Renew(ctx).ok());
  EXPECT_THAT(client.verbs, ElementsAre("get", "update"));
  client.verbs.clear();
  client.failures = {Status(Reason::kTooManyRequests, "later"), Status::Timeout("slow"),
                     Status::Unavailable("broken")};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(lease.Renew(ctx).ok());
  EXPECT_TRUE(lease.Renew(ctx).ok());
  EXPECT_THAT(client.verbs, ElementsAre("update", "update", "update", "update"));
}

TEST(LeaseTest, OutdatedVersionIsReadAndRenewedImmediately) {
  TestClock clock;
  Context ctx(clock);
  LeaseClient client;
  NodeLease lease(client, "node-1", std::chrono::seconds(40), nullptr);
  ASSERT_TRUE(lease.Renew(ctx).ok());
  client.verbs.clear();
  client.failures = {Status::Conflict("the object has been modified")};
  EXPECT_TRUE(lease.Renew(ctx).ok());
  EXPECT_THAT(client.verbs, ElementsAre("update", "get", "update"));
}

}  // namespace
}  // namespace cox::kubelet
