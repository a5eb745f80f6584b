// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/nodelifecycle_controller.h"

#include <gmock/gmock.h>

#include "api/coordination/v1.h"
#include "controllers/node/tainteviction/tainteviction_controller.h"
#include "coxswain/conditions.h"
#include "harness.h"
#include "testkit/faulty_transport.h"

namespace cox::controllers {
namespace {

using coordination::v1::Lease;
using core::v1::Node;
using core::v1::Pod;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testkit::WaitFor;

class NodeLifecycleTest : public ControllerTest {
 protected:
  void SetUp() override {
    ControllerTest::SetUp();
    clock.emplace();
  }

  // Creates a Ready node.
  void CreateNode(const std::string& name) {
    Node node;
    node.metadata.name = name;
    Create(std::move(node));
    Post(name, {{"Ready", "True"}});
  }
  // Writes conditions, like a kubelet.
  void Post(const std::string& name,
            const std::vector<std::pair<std::string, std::string>>& conditions) {
    const auto stored = ChangeObject<Node>(*ctx, client(), {"", name},
                                           [&](Node& node) -> Result<bool> {
                                             const Time now = TimeNow(*clock);
                                             for (const auto& [type, status] : conditions) {
                                               core::v1::NodeCondition condition;
                                               condition.type = type;
                                               condition.status = status;
                                               condition.lastHeartbeatTime = now;
                                               condition.reason = "Said";
                                               SetCondition(node.status.conditions, condition, now);
                                             }
                                             return true;
                                           },
                                           {.subresource = "status"});
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  static std::vector<std::string> TaintsOf(const Node& node) {
    std::vector<std::string> out;
    for (const auto& taint : node.spec.taints) out.push_back(taint.key + ":" + taint.effect);
    return out;
  }
  Node AwaitNode(const std::string& name, const std::function<bool(const Node&)>& holds) {
    const auto node = WaitFor<Node>(*ctx, client(), {"", name}, holds);
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : Node();
  }
  static bool HasTaint(const Node& node, const std::string& key, const std::string& effect) {
    return testing::Value(TaintsOf(node),
                          testing::Contains("node.kubernetes.io/" + key + ":" + effect));
  }
  void Renew(const std::string& name) {
    const auto renewed = ChangeObject<Lease>(*ctx, client(), {"kube-node-lease", name},
                                             [&](Lease& lease) -> Result<bool> {
                                               lease.spec.renewTime = MicroTime(TimeNow(*clock));
                                               return true;
                                             });
    EXPECT_TRUE(renewed.ok()) << renewed.status().ToString();
  }
  // Advances the clock until the node is marked as unreachable. `send_heartbeats` keeps the others
  // alive. The clock is advanced repeatedly, because the controller may start its timers late, and
  // because a test write during which the clock is advanced counts as slow.
  Node AwaitMarked(const std::string& name, const std::string& taint,
                   const std::function<void()>& send_heartbeats) {
    Result<Node> marked = Status::Internal("not marked");
    while (!marked.ok() && !ctx->Done()) {
      send_heartbeats();
      Context attempt = ctx->WithTimeout(std::chrono::milliseconds(200));
      marked = WaitFor<Node>(attempt, client(), {"", name}, [&](const Node& node) {
        return HasTaint(node, "unreachable", taint);
      });
      if (!marked.ok()) clock->Advance(seconds(5));
    }
    EXPECT_TRUE(marked.ok()) << marked.status().ToString();
    return marked.ok() ? *marked : Node();
  }
  void CreatePod(const std::string& name, const std::string& node,
                 std::optional<int64_t> tolerated_seconds) {
    Pod pod;
    pod.metadata = {.name = name, .namespace_ = "default"};
    pod.spec.containers = {{.name = "c", .image = "nginx"}};
    pod.spec.nodeName = node;
    pod.spec.tolerations = {{.key = "node.kubernetes.io/unreachable",
                             .operator_ = "Exists",
                             .effect = "NoExecute",
                             .tolerationSeconds = tolerated_seconds}};
    Pod created = Create(std::move(pod));
    created.status.phase = "Running";
    created.status.conditions = {{.type = "Ready", .status = "True"}};
    const auto stored = client().UpdateStatus(*ctx, std::move(created));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
};

TEST_F(NodeLifecycleTest, UnreachableNodeBecomesUnknownAndItsPodsAreEvicted) {
  for (const char* name : {"n1", "n2", "n3"}) CreateNode(name);
  CreatePod("short", "n1", 5);
  CreatePod("patient", "n1", std::nullopt);
  CreatePod("elsewhere", "n2", 5);
  Start({AddNodeLifecycleController, AddTaintEvictionController});
  // The initial taints are removed because the nodes are ready, which shows that each was
  // reconciled.
  for (const char* name : {"n1", "n2", "n3"}) {
    AwaitNode(name, [](const Node& node) { return TaintsOf(node).empty(); });
  }
  clock->Advance(seconds(40));
  // The other nodes send heartbeats; the taints show that they were processed.
  for (const char* name : {"n2", "n3"}) {
    Post(name, {{"Ready", "True"}, {"DiskPressure", "True"}});
    AwaitNode(name, [](const Node& node) { return HasTaint(node, "disk-pressure", "NoSchedule"); });
  }
  clock->Advance(seconds(11));
  const Node lost = AwaitMarked("n1", "NoExecute", [&] {
    for (const char* name : {"n2", "n3"}) Post(name, {{"Ready", "True"}});
  });
  EXPECT_THAT(TaintsOf(lost), IsSupersetOf({"node.kubernetes.io/unreachable:NoSchedule",
                                            "node.kubernetes.io/unreachable:NoExecute"}));
  AwaitMetric("node_collector_evictions_total{", R"(zone="")", 1);
  const auto* ready = FindCondition(lost.status.conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->status, "Unknown");
  EXPECT_EQ(ready->reason, "NodeStatusUnknown");
  EXPECT_EQ(ready->message, "Kubelet stopped posting node status.");
  for (const char* name : {"short", "patient"}) {
    EXPECT_TRUE(WaitFor<Pod>(*ctx, client(), {"default", name}, [](const Pod& pod) {
                  return !IsTrue(pod.status.conditions, "Ready");
                }).ok());
  }
  // Five seconds later one of them is evicted. The clock is advanced again if the controller saw
  // the taint only after the clock was advanced; n2 and n3 stay alive for that long.
  Result<Pod> evicted = Status::Internal("not evicted");
  for (int i = 0; i < 5 && !evicted.ok(); ++i) {
    clock->Advance(seconds(6));
    Context attempt = ctx->WithTimeout(seconds(15));
    evicted = WaitFor<Pod>(attempt, client(), {"default", "short"}, [](const Pod& pod) {
      return pod.metadata.deletionTimestamp.has_value();
    });
  }
  ASSERT_TRUE(evicted.ok()) << evicted.status().ToString();
  const auto* target = FindCondition(evicted->status.conditions, "DisruptionTarget");
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->reason, "DeletionByTaintManager");
  for (const char* name : {"patient", "elsewhere"}) {
    const auto pod = client().Get<Pod>(*ctx, {"default", name});
    ASSERT_TRUE(pod.ok());
    EXPECT_FALSE(pod->metadata.deletionTimestamp.has_value()) << name;
  }
  // The node is reachable again.
  Post("n1", {{"Ready", "True"},
              {"MemoryPressure", "False"},
              {"DiskPressure", "False"},
              {"PIDPressure", "False"}});
  AwaitNode("n1", [](const Node& node) { return TaintsOf(node).empty(); });
}

TEST_F(NodeLifecycleTest, RenewedLeaseIsAHeartbeat) {
  for (const char* name : {"n1", "n2", "n3"}) CreateNode(name);
  Start({AddNodeLifecycleController});
  for (const char* name : {"n1", "n2", "n3"}) {
    AwaitNode(name, [](const Node& node) { return TaintsOf(node).empty(); });
  }
  clock->Advance(seconds(40));
  Lease lease;
  lease.metadata = {.name = "n1", .namespace_ = "kube-node-lease"};
  lease.spec.holderIdentity = "n1";
  lease.spec.leaseDurationSeconds = 40;
  lease.spec.renewTime = MicroTime(TimeNow(*clock));
  core::v1::Namespace ns;
  ns.metadata.name = "kube-node-lease";
  (void)client().Create(*ctx, ns);
  Create(lease);
  testkit::Signal seen;
  std::atomic<bool> renewed = false;
  const InformerHandle handle =
      manager->cache().InformerOf<Lease>().AddHandler({.on_add =
                                                           [&](const auto& one) {
                                                             if (one->metadata.name != "n1") return;
                                                             renewed = true;
                                                             seen.Changed();
                                                           },
                                                       .on_update = nullptr,
                                                       .on_delete = nullptr});
  ASSERT_TRUE(seen.Await(*ctx, [&] { return renewed.load(); }).ok());
  Post("n3", {{"Ready", "True"}, {"PIDPressure", "True"}});
  AwaitNode("n3", [](const Node& node) { return HasTaint(node, "pid-pressure", "NoSchedule"); });
  clock->Advance(seconds(11));
  AwaitMarked("n2", "NoSchedule", [&] {
    Post("n3", {{"Ready", "True"}});
    Renew("n1");
  });
  EXPECT_THAT(TaintsOf(AwaitNode("n1", nullptr)), IsEmpty());
}

// The API server fails all writes of Leases, so it cannot receive heartbeats either.
TEST_F(NodeLifecycleTest, NoNodeIsMarkedWhileTheApiServerIsNotResponsive) {
  for (const char* name : {"n1", "n2", "n3"}) CreateNode(name);
  const auto faults = testkit::FaultyTransport::Over(cluster->transport());
  const std::unique_ptr<Client> faulty = MakeClient(faults);
  const testkit::RequestMatch lease_writes{
      .verb = "create", .resource = "leases", .ns = {}, .name = {}};
  faults->Add(lease_writes, {.answer = Status::Unavailable("overloaded")});
  NodeLifecycleOptions options;
  options.reader = faulty.get();
  Start({{AddNodeLifecycleController, options}});
  for (const char* name : {"n1", "n2", "n3"}) {
    AwaitNode(name, [](const Node& node) { return TaintsOf(node).empty(); });
  }
  // All grace periods end, and the controller examines the nodes repeatedly.
  while (faults->requests(lease_writes) < 20 && !ctx->Done()) {
    clock->Advance(seconds(6));
    std::this_thread::yield();
  }
  for (const char* name : {"n1", "n2", "n3"}) {
    const Node node = AwaitNode(name, nullptr);
    EXPECT_TRUE(IsTrue(node.status.conditions, "Ready")) << name;
    EXPECT_THAT(TaintsOf(node), IsEmpty()) << name;
  }
  // The server recovers. A node that is silent for another grace period is dead.
  faults->Clear();
  Status recovered = Status::NotFound("no test write");
  while (!recovered.ok() && !ctx->Done()) {
    clock->Advance(seconds(6));
    Context attempt = ctx->WithTimeout(std::chrono::milliseconds(300));
    recovered =
        WaitFor<Lease>(attempt, client(), {"kube-system", "node-lifecycle-write-test"}).status();
  }
  for (const auto& [condition, taint, after] :
       {std::tuple("DiskPressure", "disk-pressure", seconds(40)),
        std::tuple("PIDPressure", "pid-pressure", seconds(11))}) {
    for (const char* name : {"n2", "n3"}) {
      Post(name, {{"Ready", "True"}, {condition, "True"}});
      AwaitNode(name, [taint = std::string(taint)](const Node& node) {
        return HasTaint(node, taint, "NoSchedule");
      });
    }
    clock->Advance(after);
  }
  AwaitMarked("n1", "NoSchedule", [&] {
    for (const char* name : {"n2", "n3"}) Post(name, {{"Ready", "True"}});
  });
  StopManager();  // it uses `faulty`
}

TEST_F(NodeLifecycleTest, StoredRenewalIsAHeartbeatBeforeTheWatchDeliversIt) {
  core::v1::Namespace ns;
  ns.metadata.name = "kube-node-lease";
  (void)client().Create(*ctx, ns);
  for (const char* name : {"n1", "n2", "n3"}) CreateNode(name);
  Lease lease;
  lease.metadata = {.name = "n1", .namespace_ = "kube-node-lease"};
  lease.spec.holderIdentity = "n1";
  lease.spec.leaseDurationSeconds = 40;
  lease.spec.renewTime = MicroTime(TimeNow(*clock));
  Create(lease);
  late.emplace(client());
  Start({AddNodeLifecycleController});
  for (const char* name : {"n1", "n2", "n3"}) {
    AwaitNode(name, [](const Node& node) { return TaintsOf(node).empty(); });
  }
  late->Hold<Lease>();
  clock->Advance(seconds(20));
  Post("n2", {{"Ready", "True"}, {"PIDPressure", "True"}});
  AwaitNode("n2", [](const Node& node) { return HasTaint(node, "pid-pressure", "NoSchedule"); });
  clock->Advance(seconds(19));
  Renew("n1");
  Post("n3", {{"Ready", "True"}, {"PIDPressure", "True"}});
  AwaitNode("n3", [](const Node& node) { return HasTaint(node, "pid-pressure", "NoSchedule"); });
  clock->Advance(seconds(12));
  AwaitMarked("n2", "NoSchedule", [&] {
    Post("n3", {{"Ready", "True"}});
    Renew("n1");
  });
  EXPECT_THAT(TaintsOf(AwaitNode("n1", nullptr)), IsEmpty());
}

// Consistent reads fail, while test writes succeed.
TEST_F(NodeLifecycleTest, NoNodeIsMarkedWhileItsLeaseCannotBeRead) {
  for (const char* name : {"n1", "n2", "n3"}) CreateNode(name);
  const auto faults = testkit::FaultyTransport::Over(cluster->transport());
  const std::unique_ptr<Client> faulty = MakeClient(faults);
  const testkit::RequestMatch lease_reads{
      .verb = "list", .resource = "leases", .ns = {}, .name = {}};
  faults->Add(lease_reads, {.answer = Status::Unavailable("overloaded")});
  NodeLifecycleOptions options;
  options.reader = faulty.get();
  Start({{AddNodeLifecycleController, options}});
  for (const char* name : {"n1", "n2", "n3"}) {
    AwaitNode(name, [](const Node& node) { return TaintsOf(node).empty(); });
  }
  const auto post_others = [&] {
    for (const char* name : {"n2", "n3"}) Post(name, {{"Ready", "True"}});
  };
  while (faults->requests(lease_reads) < 4 && !ctx->Done()) {
    post_others();
    clock->Advance(seconds(6));
    std::this_thread::yield();
  }
  EXPECT_TRUE(IsTrue(AwaitNode("n1", nullptr).status.conditions, "Ready"));
  EXPECT_EQ(Metric("controller_runtime_reconcile_errors_total{", "node-lifecycle-controller"), 0);
  faults->Clear();
  AwaitMarked("n1", "NoSchedule", post_others);
  StopManager();  // it uses `faulty`
}

TEST_F(NodeLifecycleTest, CordonAndConditionsBecomeTaints) {
  CreateNode("n1");
  CreateNode("n2");
  Start({AddNodeLifecycleController});
  ASSERT_TRUE(
      client()
          .PatchObject<Node>(*ctx, {"", "n1"}, Patch::Merge(R"({"spec":{"unschedulable":true}})"))
          .ok());
  AwaitNode("n1", [](const Node& node) { return HasTaint(node, "unschedulable", "NoSchedule"); });
  Post("n1", {{"Ready", "False"}});
  AwaitNode("n1", [](const Node& node) {
    return HasTaint(node, "not-ready", "NoSchedule") && HasTaint(node, "not-ready", "NoExecute");
  });
  // All nodes are down, probably a fault of the control plane: nothing is evicted.
  Post("n2", {{"Ready", "False"}});
  AwaitNode("n1", [](const Node& node) {
    return HasTaint(node, "not-ready", "NoSchedule") && !HasTaint(node, "not-ready", "NoExecute");
  });
}

TEST_F(NodeLifecycleTest, EvictionsWaitWhileTheApiServerIsNotResponsive) {
  CreateNode("n1");
  CreatePod("a", "n1", 0);
  ASSERT_TRUE(ChangeObject<Node>(*ctx, client(), {"", "n1"}, [](Node& node) -> Result<bool> {
                node.spec.taints = {
                    {.key = "node.kubernetes.io/unreachable", .effect = "NoExecute"}};
                return true;
              }).ok());
  late.emplace(client());
  late->FailWith([](const Operation& operation) {
    const bool reads_node = operation.verb == Operation::Verb::kGet;
    return reads_node ? Status::Unavailable("overloaded") : Status();
  });
  Start({AddTaintEvictionController});
  while (late->Count<Node>(Operation::Verb::kGet) < 2 && !ctx->Done()) {
    clock->Advance(seconds(6));
    std::this_thread::yield();
  }
  const auto pod = client().Get<Pod>(*ctx, {"default", "a"});
  ASSERT_TRUE(pod.ok());
  EXPECT_FALSE(pod->metadata.deletionTimestamp.has_value());
  late->FailWith(nullptr);
  Result<Pod> evicted = Status::Internal("not evicted");
  while (!evicted.ok() && !ctx->Done()) {
    clock->Advance(seconds(6));
    Context attempt = ctx->WithTimeout(seconds(2));
    evicted = WaitFor<Pod>(attempt, client(), {"default", "a"}, [](const Pod& stored) {
      return stored.metadata.deletionTimestamp.has_value();
    });
  }
  EXPECT_TRUE(evicted.ok()) << evicted.status().ToString();
}

TEST_F(NodeLifecycleTest, PodsWithoutTolerationAreEvictedImmediately) {
  CreateNode("n1");
  CreatePod("a", "n1", std::nullopt);
  Start({AddTaintEvictionController});
  ASSERT_TRUE(ChangeObject<Node>(*ctx, client(), {"", "n1"}, [](Node& node) -> Result<bool> {
                node.spec.taints.push_back({.key = "example.com/broken", .effect = "NoExecute"});
                return true;
              }).ok());
  EXPECT_TRUE(WaitFor<Pod>(*ctx, client(), {"default", "a"}, [](const Pod& pod) {
                return pod.metadata.deletionTimestamp.has_value();
              }).ok());
}

}  // namespace
}  // namespace cox::controllers
