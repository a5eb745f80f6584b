// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/core/v1.h"
#include "coxswain/cache.h"
#include "testkit/faulty_proxy.h"
#include "testkit/faulty_transport.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

// The ways a watch can fail, with an informer on the real API server: the cache must always
// converge to the state of the server, and no handler may see an object go back to an older
// version.
namespace cox::testkit {
namespace {

using core::v1::ConfigMap;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Checks the sequence of deltas that handlers receive.
class HistoryGuard {
 public:
  void Note(const Delta& delta) {
    const ObjectHead head = HeadOf(*delta.object());
    MutexLock lock(mu_);
    const auto known = alive_.find(head.key);
    switch (delta.type) {
      case Delta::Type::kAdded:
        EXPECT_EQ(known, alive_.end()) << head.key.ToString() << " was added twice";
        EXPECT_GT(head.version, last_[head.key]) << head.key.ToString() << " got older";
        alive_.insert(head.key);
        break;
      case Delta::Type::kUpdated:
        EXPECT_NE(known, alive_.end()) << head.key.ToString() << " was never added";
        EXPECT_GT(head.version, last_[head.key]) << head.key.ToString() << " got older";
        break;
      case Delta::Type::kDeleted:
        EXPECT_NE(known, alive_.end()) << head.key.ToString() << " was not there";
        alive_.erase(head.key);
        break;
      case Delta::Type::kResync:
        break;
    }
    last_[head.key] = std::max(last_[head.key], head.version);
    ++deltas_;
  }
  size_t deltas() const {
    MutexLock lock(mu_);
    return deltas_;
  }

 private:
  mutable Mutex mu_;
  std::set<ObjectKey> alive_ COX_GUARDED_BY(mu_);
  std::map<ObjectKey, int64_t> last_ COX_GUARDED_BY(mu_);
  size_t deltas_ COX_GUARDED_BY(mu_) = 0;
};

// Short timeouts during which the test waits before it advances the clock. They grow after every
// `often` timeouts, because on a slow computer no attempt would succeed otherwise.
class Moments {
 public:
  Moments(const Context& real, int often) : real_(real), often_(often) {}
  Context Next() {
    grew_ = taken_ > 0 && taken_ % often_ == 0;
    if (grew_) length_ = std::min(length_ * 2, milliseconds(640));
    ++taken_;
    return real_.WithTimeout(length_);
  }
  bool grew() const { return grew_; }

 private:
  const Context real_;
  const int often_;
  int taken_ = 0;
  bool grew_ = false;
  milliseconds length_{10};
};

class DyingWatchesTest : public ::testing::Test {
 protected:
  void StartCluster(bool https = false) {
    Result<std::unique_ptr<TestCluster>> started =
        TestCluster::Start({.time = TestClusterOptions::Time::kTest, .https = https});
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    cluster_ = *std::move(started);
  }

  // Creates an informer whose requests use `transport`.
  void StartCache(std::shared_ptr<Transport> transport, CacheOptions options = {}) {
    faults_ = FaultyTransport::Over(std::move(transport));
    client_ = MakeClient(faults_);
    cache_ = Cache::Create(cluster_->context(), *client_, std::move(options));
    informer_ = cache_->Get(Resource::Of<ConfigMap>());
    handle_ = informer_->AddHandler([this](const Delta& delta) { guard_.Note(delta); });
  }

  void Begin(CacheOptions options = {}) {
    StartCluster();
    ASSERT_NE(cluster_, nullptr);
    Write("before");
    StartCache(cluster_->transport(), std::move(options));
    Converge();
  }

  // Creates or updates with a client without faults.
  void Write(const std::string& name) {
    Client& admin = cluster_->client();
    ConfigMap object;
    object.metadata.namespace_ = "default";
    object.metadata.name = name;
    object.data["count"] = std::to_string(++writes_);
    Result<ConfigMap> written = admin.Create(cluster_->context(), object);
    if (written.status().Is(Reason::kAlreadyExists)) {
      written = admin.Update(cluster_->context(), object);
    }
    EXPECT_TRUE(written.ok()) << written.status().ToString();
  }
  void Delete(const std::string& name) {
    const Status deleted =
        cluster_->client().Delete<ConfigMap>(cluster_->context(), {"default", name});
    EXPECT_TRUE(deleted.ok()) << deleted.ToString();
  }
  // Creates, updates and deletes.
  void WriteSome() {
    Write("a");
    Write("b");
    Write("a");
    Delete("b");
    Write("before");
    Write("c");
  }

  using Versions = std::map<std::string, int64_t>;
  Versions OnServer() {
    Versions versions;
    Result<ObjectList<ConfigMap>> list =
        cluster_->client().List<ConfigMap>(cluster_->context(), {.ns = "default"});
    EXPECT_TRUE(list.ok()) << list.status().ToString();
    if (!list.ok()) return versions;
    for (const ConfigMap& object : list->items) {
      versions[object.metadata.name] = std::stoll(object.metadata.resourceVersion);
    }
    return versions;
  }
  Versions InCache() {
    Versions versions;
    for (const ObjectPtr& object : informer_->List("default", {})) {
      const ObjectHead head = HeadOf(*object);
      versions[head.key.name] = head.version;
    }
    return versions;
  }

  // Waits until the cache equals the state of the server. The clock is advanced after every
  // timeout, in steps that grow up to `longest`, so that timeouts and backoffs expire.
  void Converge(Clock::Duration longest = seconds(60)) {
    const Versions wanted = OnServer();
    const auto there = [&] { return informer_->HasSynced() && InCache() == wanted; };
    Clock::Duration step = seconds(1);
    Moments moments(real_, 20);
    while (!real_.Done()) {
      Context moment = moments.Next();
      if (WaitForCache(moment, *informer_, there).ok()) return;
      cluster_->Advance(step);
      step = moments.grew() ? seconds(1) : std::min(step * 2, longest);
    }
    FAIL() << "the cache has " << testing::PrintToString(InCache()) << ", the server "
           << testing::PrintToString(wanted);
  }

  RealClock real_clock_;
  Context real_ = Context(real_clock_).WithTimeout(seconds(110));
  std::unique_ptr<TestCluster> cluster_;
  HistoryGuard guard_;
  int writes_ = 0;
  std::shared_ptr<FaultyTransport> faults_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Cache> cache_;
  std::shared_ptr<SharedInformer> informer_;
  InformerHandle handle_;
};

TEST_F(DyingWatchesTest, WithoutFaultsTheCacheConverges) {
  Begin();
  WriteSome();
  Converge();
  EXPECT_GE(guard_.deltas(), 4U);
}

// The cache converges after every kind of fault in the next watches.
TEST_F(DyingWatchesTest, ConvergesAfterFaultyWatches) {
  struct Case {
    const char* name;
    Fault fault;
  };
  const Case cases[] = {
      {"cut before the first byte", {.cut_after_bytes = 0, .times = 3}},
      {"cut after some bytes", {.cut_after_bytes = 100, .times = 3}},
      {"cut in the first event", {.cut_after_events = 0, .times = 3}},
      {"cut in the third event", {.cut_after_events = 2, .times = 3}},
      {"ended at once, many times", {.end_after_events = 0, .times = 30}},
      {"ended after an event", {.end_after_events = 1, .times = 10}},
      {"silent from the beginning", {.silent_after_events = 0, .times = 1}},
      {"silent after an event", {.silent_after_events = 1, .times = 2}},
      {"without an answer", {.silent = true, .times = 1}},
      {"refused", {.refuse = true, .times = 5}},
      {"lost on the way back", {.lose_response = true, .times = 3}},
      {"slow", {.delay = seconds(7), .times = 3}},
      {"told 410", {.answer = Status(Reason::kExpired, "too old resource version"), .times = 2}},
      {"told 429",
       {.answer = Status(Reason::kTooManyRequests, "too many", {.retry_after_seconds = 2}),
        .times = 3}},
      {"told 500", {.answer = Status(Reason::kInternalError, "boom"), .times = 3}},
      {"told 503", {.answer = Status(Reason::kServiceUnavailable, "overloaded"), .times = 3}},
      {"told 504", {.answer = Status(Reason::kTimeout, "Too large resource version"), .times = 2}},
      {"without bookmarks", {.drop_bookmarks = true, .times = 3}},
      {"with every event twice", {.repeat_events = true, .times = 3}},
  };
  Begin();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    faults_->Clear();
    faults_->Add({.verb = "watch", .resource = "configmaps"}, c.fault);
    faults_->BreakStreams();
    WriteSome();
    Converge();
    WriteSome();
    Converge();
  }
}

TEST_F(DyingWatchesTest, ConvergesAfterFaultyLists) {
  struct Case {
    const char* name;
    Fault fault;
  };
  const Case cases[] = {
      {"cut in the middle", {.cut_after_bytes = 150, .times = 3}},
      {"without an answer", {.silent = true, .times = 1}},
      {"told 410", {.answer = Status(Reason::kExpired, "too old"), .times = 2}},
      {"told 500", {.answer = Status(Reason::kInternalError, "boom"), .times = 3}},
  };
  // Paged lists; an expired version causes a list.
  Begin({.streaming_lists = false, .page_size = 2});
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    faults_->Clear();
    faults_->Add({.verb = "list", .resource = "configmaps"}, c.fault);
    const Status old(Reason::kExpired, "too old resource version");
    faults_->Add({.verb = "watch", .resource = "configmaps"}, {.answer = old, .times = 1});
    faults_->BreakStreams();
    WriteSome();
    Converge();
  }
}

TEST_F(DyingWatchesTest, ConvergesAfterServerRestarts) {
  Begin();
  for (const Down how : {Down::kBreak, Down::kDrain, Down::kBreak}) {
    WriteSome();
    ASSERT_TRUE(cluster_->Restart(how).ok());
    WriteSome();
    Converge();
    Delete("c");
    Delete("a");
    ASSERT_TRUE(cluster_->Restart(how).ok());
    Converge();
  }
}

TEST_F(DyingWatchesTest, ConvergesAfterVersionsAreCompacted) {
  Begin();
  WriteSome();
  faults_->SetSilent(true);
  faults_->BreakStreams();
  Delete("a");
  Write("d");
  ASSERT_TRUE(cluster_->CompactHistory().ok());
  Write("e");
  faults_->SetSilent(false);
  Converge();
  EXPECT_EQ(InCache().count("a"), 0U);
}

TEST_F(DyingWatchesTest, ConvergesAfterObjectIsRecreated) {
  Begin();
  Write("a");
  Converge();
  faults_->SetSilent(true);
  Delete("a");
  Write("a");
  faults_->BreakStreams();
  faults_->SetSilent(false);
  Converge();
}

TEST_F(DyingWatchesTest, ConvergesAfterNetworkPartition) {
  Begin();
  faults_->SetSilent(true);
  WriteSome();
  cluster_->Advance(seconds(30));
  EXPECT_NE(InCache(), OnServer());
  faults_->SetSilent(false);
  Converge();
}

TEST_F(DyingWatchesTest, ConvergesWithLaggingServer) {
  Begin();
  Result<std::unique_ptr<SecondServer>> second = cluster_->AddServer();
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  WriteSome();
  Converge();
  (*second)->SetLagging(true);
  WriteSome();
  Converge();
  // From now on the load balancer uses the server whose state is older than the cache.
  faults_->Add({}, {.other = (*second)->transport()});
  faults_->BreakStreams();
  Write("a");
  cluster_->Advance(seconds(20));
  Delete("c");
  (*second)->SetLagging(false);
  Converge();
}

// Real connections. The peer is dead: no data arrives and nothing is closed.
class DyingConnectionsTest : public DyingWatchesTest {
 protected:
  void BeginOverProxy() {
    StartCluster(/*https=*/true);
    ASSERT_NE(cluster_, nullptr);
    Write("before");
    auto proxy = FaultyProxy::Start(real_, cluster_->port());
    ASSERT_TRUE(proxy.ok()) << proxy.status().ToString();
    proxy_ = *std::move(proxy);
    Config config = cluster_->config();
    config.server = "https://127.0.0.1:" + std::to_string(proxy_->port());
    auto transport = ConnectTransport(cluster_->context(), config);
    ASSERT_TRUE(transport.ok()) << transport.status().ToString();
    StartCache(*transport);
    Converge(seconds(1));
  }

  // Advances the clock until this number of connections was accepted.
  void AwaitConnection(uint64_t count) {
    Moments moments(real_, 60);
    Context moment = moments.Next();
    while (!proxy_->AwaitAccepted(moment, count).ok() && !real_.Done()) {
      cluster_->Advance(seconds(1));
      moment = moments.Next();
    }
    EXPECT_GE(proxy_->accepted(), count);
  }

  std::unique_ptr<FaultyProxy> proxy_;
};

TEST_F(DyingConnectionsTest, DeadPeerIsDetectedByPings) {
  BeginOverProxy();
  ASSERT_NE(proxy_, nullptr);
  const uint64_t before = proxy_->accepted();
  proxy_->Pause();
  WriteSome();
  // Waits until the client closes the connection and opens another, long before the watch timeout.
  const Clock::SteadyTime begin = cluster_->clock().Monotonic();
  AwaitConnection(before + 1);
  EXPECT_LE(cluster_->clock().Monotonic() - begin, CacheOptions().watch_timeout);
  proxy_->Resume();
  Converge(seconds(1));
}

TEST_F(DyingConnectionsTest, ConvergesAfterResetsCutsAndRefusedConnections) {
  BeginOverProxy();
  ASSERT_NE(proxy_, nullptr);
  proxy_->Reset();
  WriteSome();
  Converge(seconds(1));

  // Not even a TLS handshake succeeds until the proxy is healed.
  const uint64_t before = proxy_->accepted();
  proxy_->CutAfter(300);
  WriteSome();
  AwaitConnection(before + 1);
  proxy_->Heal();
  Converge(seconds(1));

  proxy_->SetRefusing(true);
  proxy_->Reset();
  WriteSome();
  cluster_->Advance(seconds(5));
  proxy_->Heal();
  Converge(seconds(1));

  proxy_->SetDelay(milliseconds(5));
  WriteSome();
  Converge(seconds(1));
}

TEST_F(DyingConnectionsTest, ConvergesAfterRestartOnSamePort) {
  BeginOverProxy();
  ASSERT_NE(proxy_, nullptr);
  const uint16_t port = cluster_->port();
  for (const Down how : {Down::kBreak, Down::kDrain}) {
    ASSERT_TRUE(cluster_->Restart(how).ok());
    EXPECT_EQ(cluster_->port(), port);
    WriteSome();
    Converge(seconds(1));
  }
}

}  // namespace
}  // namespace cox::testkit
