// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "api/events/v1.h"
#include "apiserver/server/server.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "controllers/node/nodelifecycle/nodelifecycle_controller.h"
#include "coxswain/conditions.h"
#include "kubelet/node/lease.h"
#include "storage/store.h"
#include "tests/manager_fixture.h"

// Many times the load that the store can take: Leases are renewed in time, no node is marked, and
// Events are shed.
namespace cox {
namespace {

using core::v1::Node;
using core::v1::Pod;
using std::chrono::milliseconds;
using std::chrono::seconds;
using storage::Revision;

// A store that writes one key at a time and needs kWriteTime for it, like an etcd at its limit. The
// capacity does not depend on the speed of the machine.
class SlowStore final : public storage::Store {
 public:
  static constexpr milliseconds kWriteTime{4};

  explicit SlowStore(storage::Store& under) : under_(under) {}

  // The longest time between two writes of a Lease of a node.
  Clock::Duration longest_gap(Clock::SteadyTime now) {
    MutexLock lock(mu_);
    Clock::Duration longest = longest_;
    for (const auto& [key, at] : renewed_) longest = std::max(longest, now - at);
    return longest;
  }
  size_t leases() {
    MutexLock lock(mu_);
    return renewed_.size();
  }
  uint64_t writes() const { return writes_; }

  // Writes of ConfigMaps wait until they are released.
  void HoldConfigMaps(bool hold) {
    MutexLock lock(mu_);
    hold_ = hold;
    changed_.NotifyAll();
  }
  // Waits until that number of writes is held.
  Status AwaitHeld(const Context& ctx, size_t count) {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, [&] {
      mu_.AssertHeld();
      return held_ >= count;
    });
  }

  Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                          seconds ttl) override {
    COX_RETURN_IF_ERROR(AwaitRelease(ctx, key));
    COX_RETURN_IF_ERROR(AwaitTurn(ctx));
    Result<Revision> result = under_.Create(ctx, key, value, ttl);
    NoteWrite(ctx, key, result.ok());
    return result;
  }
  Result<storage::WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                                      Revision expected, seconds ttl) override {
    COX_RETURN_IF_ERROR(AwaitTurn(ctx));
    Result<storage::WriteResult> result = under_.Update(ctx, key, value, expected, ttl);
    NoteWrite(ctx, key, result.ok() && result->written);
    return result;
  }
  Result<storage::WriteResult> Delete(Context& ctx, std::string_view key,
                                      Revision expected) override {
    COX_RETURN_IF_ERROR(AwaitTurn(ctx));
    return under_.Delete(ctx, key, expected);
  }
  Result<storage::WriteResult> WriteGuarded(Context& ctx, const storage::GuardedWrite& write,
                                            const storage::Guard& guard) override {
    COX_RETURN_IF_ERROR(AwaitTurn(ctx));
    return under_.WriteGuarded(ctx, write, guard);
  }
  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    return under_.Get(ctx, key);
  }
  Result<storage::Page> List(Context& ctx, std::string_view prefix,
                             const storage::ListOptions& options) override {
    return under_.List(ctx, prefix, options);
  }
  Result<std::unique_ptr<storage::Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                                     Revision after) override {
    return under_.StartWatch(ctx, prefix, after);
  }
  Result<Revision> CurrentRevision(Context& ctx) override { return under_.CurrentRevision(ctx); }
  Status Compact(Context& ctx, Revision revision) override { return under_.Compact(ctx, revision); }
  Status Healthy(Context& ctx) override { return under_.Healthy(ctx); }
  const void* key_space() const override { return under_.key_space(); }

 private:
  Status AwaitRelease(Context& ctx, std::string_view key) {
    if (key.find("/configmaps/") == key.npos) return {};
    MutexLock lock(mu_);
    ++held_;
    changed_.NotifyAll();
    Status released = ctx.Await(mu_, changed_, [this] {
      mu_.AssertHeld();
      return !hold_;
    });
    --held_;
    return released;
  }
  // Writes are processed in the order of their arrival.
  Status AwaitTurn(Context& ctx) {
    Clock::Duration wait{};
    {
      MutexLock lock(mu_);
      const Clock::SteadyTime now = ctx.clock().Monotonic();
      free_ = std::max(free_, now) + kWriteTime;
      wait = free_ - now;
    }
    ++writes_;
    return ctx.Sleep(wait);
  }
  void NoteWrite(Context& ctx, std::string_view key, bool written) {
    if (!written || key.find("/leases/kube-node-lease/") == key.npos) return;
    const Clock::SteadyTime now = ctx.clock().Monotonic();
    MutexLock lock(mu_);
    const auto [entry, added] = renewed_.try_emplace(std::string(key), now);
    if (!added) longest_ = std::max(longest_, now - std::exchange(entry->second, now));
  }

  storage::Store& under_;
  std::atomic<uint64_t> writes_ = 0;
  Mutex mu_;
  CondVar changed_;
  bool hold_ COX_GUARDED_BY(mu_) = false;
  size_t held_ COX_GUARDED_BY(mu_) = 0;
  Clock::SteadyTime free_ COX_GUARDED_BY(mu_);
  std::map<std::string, Clock::SteadyTime> renewed_ COX_GUARDED_BY(mu_);
  Clock::Duration longest_ COX_GUARDED_BY(mu_){};
};

constexpr int kSeats = 90;
constexpr int kNodes = 20;
constexpr int kStatusWriters = 200;
constexpr int kEventWriters = 10;
constexpr seconds kLeaseDuration{8};  // renewed every two seconds
constexpr seconds kGrace{10};
constexpr seconds kFlood{15};

std::string NodeName(int number) { return "n" + std::to_string(number); }

class OverloadTest : public ManagerFixture {
 protected:
  void SetUp() override {
    testkit::TestClusterOptions options;
    options.authorization = {"AlwaysAllow"};
    options.https = true;
    options.decorate_store = [this](storage::Store& under) {
      auto slow = std::make_unique<SlowStore>(under);
      store_ = slow.get();
      return slow;
    };
    options.tune = [](apiserver::ServerOptions& server) {
      server.fairness.max_requests_inflight = kSeats - 30;
      server.fairness.max_mutating_requests_inflight = 30;
    };
    StartCluster(std::move(options));
    for (int i = 0; i < kNodes; ++i) CreateNode(i);
  }

  void CreateNode(int number) {
    Node node;
    node.metadata.name = NodeName(number);
    auto created = cluster->client().Create(*ctx, std::move(node));
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    created->status.conditions = {{.type = "Ready", .status = "True"}};
    ASSERT_TRUE(cluster->client().UpdateStatus(*ctx, *created).ok());
    Pod pod;
    pod.metadata = {.name = NodeName(number), .namespace_ = "default"};
    pod.spec.containers = {{.name = "c", .image = "nginx"}};
    pod.spec.nodeName = NodeName(number);
    ASSERT_TRUE(cluster->client().Create(*ctx, std::move(pod)).ok());
  }
  std::unique_ptr<Client> ClientOfNode(int number) {
    return MakeClient(cluster->TransportFor("system:node:" + NodeName(number), {"system:nodes"}),
                      {.retry_for = milliseconds(0)});
  }
  void WriteStatuses(Context& run, Client& client, int writer) {
    for (int i = 0; !run.Done(); ++i) {
      const std::string text = std::to_string(writer) + "-" + std::to_string(i);
      const Status status =
          client
              .PatchStatus<Pod>(run, {"default", NodeName(writer % kNodes)},
                                Patch::Merge(R"({"status":{"message":")" + text + R"("}})"))
              .status();
      if (status.ok()) ++statuses_;
      if (!status.ok()) (void)run.Sleep(milliseconds(100));
    }
  }
  void WriteEvents(Context& run, Client& client) {
    while (!run.Done()) {
      events::v1::Event event;
      event.metadata = {.generateName = "e-", .namespace_ = "default"};
      event.eventTime = MicroTime(TimeNow(run.clock()));
      event.reportingController = "example.com/test";
      event.reportingInstance = "here";
      event.action = event.reason = "Testing";
      event.type = "Normal";
      event.regarding = {.kind = "Pod", .namespace_ = "default", .name = "n0"};
      const Status status = client.Create(run, std::move(event)).status();
      if (status.Is(Reason::kTooManyRequests)) {
        ++shed_;
        if (status.details().retry_after_seconds < 1) ++shed_without_retry_after_;
      }
      (void)run.Sleep(milliseconds(20));
    }
  }

  SlowStore* store_ = nullptr;
  std::atomic<int> statuses_ = 0;
  std::atomic<int> shed_ = 0;
  std::atomic<int> shed_without_retry_after_ = 0;
};

TEST_F(OverloadTest, LeasesAreRenewedAndEventsAreShed) {
  MakeManager(cluster->context(), cluster->client());
  controllers::NodeLifecycleOptions options;
  options.monitor_grace_period = kGrace;
  ASSERT_TRUE(controllers::AddNodeLifecycleController(*manager, options).ok());
  RunManager();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kNodes; ++i) clients.push_back(ClientOfNode(i));
  const auto client = [&](int i) -> Client& { return *clients[static_cast<size_t>(i % kNodes)]; };
  Scope scope(cluster->context(), "load");
  for (int i = 0; i < kNodes; ++i) {
    ASSERT_TRUE(
        scope
            .Go("lease",
                [&, i](Context& run) {
                  kubelet::NodeLease(client(i), NodeName(i), kLeaseDuration, nullptr).Run(run);
                })
            .ok());
  }
  for (int i = 0; i < kStatusWriters; ++i) {
    ASSERT_TRUE(
        scope.Go("status", [&, i](Context& run) { WriteStatuses(run, client(i), i); }).ok());
  }
  for (int i = 0; i < kEventWriters; ++i) {
    ASSERT_TRUE(scope.Go("event", [&, i](Context& run) { WriteEvents(run, client(i)); }).ok());
  }
  ASSERT_TRUE(ctx->Sleep(kFlood).ok());
  const Clock::Duration gap = store_->longest_gap(cluster->clock().Monotonic());
  const auto nodes = cluster->client().List<Node>(*ctx);
  scope.Stop();
  scope.Wait();

  EXPECT_EQ(store_->leases(), static_cast<size_t>(kNodes));
  EXPECT_LT(gap, kLeaseDuration);
  ASSERT_TRUE(nodes.ok()) << nodes.status().ToString();
  for (const Node& node : nodes->items) {
    EXPECT_TRUE(IsTrue(node.status.conditions, "Ready")) << node.metadata.name;
  }
  EXPECT_GT(statuses_, 0);
  EXPECT_GT(shed_, 0);
  EXPECT_EQ(shed_without_retry_after_, 0);
  const std::string metrics = cluster->metrics();
  const std::string name = "\ncoxswain_apiserver_shed_events_total ";
  ASSERT_NE(metrics.find(name), std::string::npos);
  EXPECT_GT(std::stoi(metrics.substr(metrics.find(name) + name.size())), 0);
  std::printf("longest gap %.2f s, %d statuses, %d events shed, %lu writes\n",
              std::chrono::duration<double>(gap).count(), statuses_.load(), shed_.load(),
              store_->writes());
}

// Fibers and threads for requests: one for each seat and 64, of each kind.
constexpr size_t kPlaces = kSeats + 64;

// Requests whose writes wait until they are released.
class HeldRequestsTest : public OverloadTest {
 protected:
  ~HeldRequestsTest() override {
    if (store_ != nullptr) store_->HoldConfigMaps(false);
  }

  // Sends `count` requests as an administrator, whose requests are not limited. Returns when `held`
  // of these requests wait in the store.
  void Hold(Scope& scope, size_t count, size_t held) {
    admin_ = std::move(*Connect(cluster->context(), cluster->config()));
    store_->HoldConfigMaps(true);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(scope
                      .Go("create",
                          [this, i](Context& run) {
                            core::v1::ConfigMap map;
                            map.metadata = {.name = "m" + std::to_string(i),
                                            .namespace_ = "default"};
                            if (admin_->Create(run, std::move(map)).ok()) ++created_;
                          })
                      .ok());
    }
    ASSERT_TRUE(store_->AwaitHeld(*ctx, held).ok());
  }

  std::unique_ptr<Client> admin_;
  std::atomic<size_t> created_ = 0;
};

TEST_F(HeldRequestsTest, LeasesAreRenewedWhileExemptRequestsOccupyAllPlaces) {
  Scope scope(cluster->context(), "exempt");
  Hold(scope, 2 * kPlaces + 40, 2 * kPlaces);
  auto node = Connect(cluster->context(), cluster->ConfigFor("system:node:n0", {"system:nodes"}));
  ASSERT_TRUE(node.ok());
  kubelet::NodeLease lease(**node, "n0", kLeaseDuration, nullptr);
  Context attempt = ctx->WithTimeout(seconds(30));
  const Status renewed = lease.Renew(attempt);
  EXPECT_TRUE(renewed.ok()) << renewed.ToString();
  store_->HoldConfigMaps(false);
  scope.Stop();
  scope.Wait();
}

// The threads of this process with that name.
size_t CountThreads(const std::string& name) {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string comm;
    std::getline(std::ifstream(task.path() / "comm"), comm);
    count += static_cast<size_t>(comm == name);
  }
  return count;
}

TEST_F(HeldRequestsTest, WaitingRequestsForSingleObjectsOccupyNoThread) {
  const size_t before = CountThreads("request");
  Scope scope(cluster->context(), "exempt");
  Hold(scope, kPlaces, kPlaces);
  EXPECT_LE(CountThreads("request"), before);
  store_->HoldConfigMaps(false);
  scope.Wait();
  EXPECT_EQ(created_, kPlaces);
}

}  // namespace
}  // namespace cox
