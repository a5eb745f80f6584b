// SPDX-License-Identifier: Apache-2.0
// The etcd store with faults of etcd: a killed or paused server, a full database, no leader.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/replace_file.h"
#include "base/testing/test_clock.h"
#include "storage/etcd/compactor.h"
#include "storage/etcd/etcd_store.h"
#include "storage/testing/etcd_server.h"

namespace cox::storage {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EtcdFault : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdServer::Available()) GTEST_SKIP() << "there is no etcd on this machine";
  }

  void StartServer(const EtcdServerOptions& options = {}) {
    auto server = EtcdServer::Start(ctx_, options);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = *std::move(server);
    Connect(server_->ClientOptions());
  }
  void Connect(const EtcdOptions& options) {
    auto store = ConnectEtcd(ctx_, options);
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    store_ = *std::move(store);
  }
  Revision Create(const std::string& key, std::string_view value = "x") {
    const auto created = store_->Create(ctx_, key, value);
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created.value_or(0);
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(seconds(100));
  std::unique_ptr<EtcdServer> server_;
  std::unique_ptr<EtcdStore> store_;
};

TEST_F(EtcdFault, CallsToPausedServerEndAtTheirDeadline) {
  StartServer();
  Create("/a");
  auto watch = *store_->StartWatch(ctx_, "/", 0);
  ASSERT_TRUE(watch->Next(ctx_).ok());
  server_->Pause();
  const auto take = [&](auto call) {
    Context attempt = ctx_.WithTimeout(milliseconds(300));
    const Clock::SteadyTime start = clock_.Monotonic();
    const Status status = call(attempt);
    EXPECT_EQ(status, Context::DeadlineExceeded()) << status.ToString();
    // The call's own deadline ended it, not the deadline of the test (100 s) or a restart of etcd.
    EXPECT_LT(clock_.Monotonic() - start, seconds(30));
  };
  take([&](Context& ctx) { return store_->Create(ctx, "/b", "x").status(); });
  take([&](Context& ctx) { return store_->Get(ctx, "/a").status(); });
  take([&](Context& ctx) { return store_->List(ctx, "/", {}).status(); });
  take([&](Context& ctx) { return watch->Next(ctx).status(); });
  take([&](Context& ctx) { return store_->Healthy(ctx); });
  server_->Resume();
  EXPECT_TRUE(store_->Get(ctx_, "/a").ok());
}

TEST_F(EtcdFault, KeepaliveClosesConnectionToPausedServer) {
  StartServer();
  EtcdOptions options = server_->ClientOptions();
  options.keepalive_time = milliseconds(200);
  options.keepalive_timeout = milliseconds(200);
  Connect(options);
  auto watch = *store_->StartWatch(ctx_, "/", 0);
  Create("/a");
  ASSERT_TRUE(watch->Next(ctx_).ok());
  server_->Pause();
  // The caller has no deadline of its own.
  const auto batch = watch->Next(ctx_);
  EXPECT_TRUE(batch.status().Is(Reason::kServiceUnavailable)) << batch.status().ToString();
  const auto created = store_->Create(ctx_, "/b", "x");
  EXPECT_TRUE(created.status().Is(Reason::kServiceUnavailable)) << created.status().ToString();
  server_->Resume();
  EXPECT_TRUE(store_->Get(ctx_, "/a").ok());
}

class CountingSink final : public LogSink {
 public:
  void Write(std::string_view line) override {
    MutexLock lock(mu_);
    if (line.find("etcd is unreachable") != line.npos) ++unreachable_;
    if (line.find("etcd is reachable") != line.npos) ++reachable_;
  }
  std::pair<int, int> counts() {
    MutexLock lock(mu_);
    return {unreachable_, reachable_};
  }

 private:
  Mutex mu_;
  int unreachable_ COX_GUARDED_BY(mu_) = 0;
  int reachable_ COX_GUARDED_BY(mu_) = 0;
};

TEST_F(EtcdFault, OutageIsLoggedOnceForAllCalls) {
  StartServer();
  CountingSink sink;
  Logging logging(clock_, LogFormat::kText, sink);
  const Context logged = ctx_.WithLogger(logging.For("test"));
  Create("/a");
  server_->Kill();
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      Context ctx = logged;
      EXPECT_TRUE(store_->Get(ctx, "/a").status().Is(Reason::kServiceUnavailable));
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(sink.counts(), (std::pair{1, 0}));
  ASSERT_TRUE(server_->Restart(ctx_).ok());
  Context ctx = logged;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(store_->Get(ctx, "/a").ok());
  EXPECT_EQ(sink.counts(), (std::pair{1, 1}));
}

TEST_F(EtcdFault, AcknowledgedWritesAndWatchesSurviveKills) {
  StartServer();
  std::map<std::string, Revision> acknowledged;
  Mutex mu;
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t]() {
      for (int i = 0; !stop; ++i) {
        const std::string key = "/w/" + std::to_string(t) + "-" + std::to_string(i);
        const auto created = store_->Create(ctx_, key, "x");
        MutexLock lock(mu);
        if (created.ok()) acknowledged[key] = *created;
      }
    });
  }
  std::map<std::string, int> seen;
  Revision last = 0;
  int ended = 0;
  std::unique_ptr<Watch> watch;
  const auto follow = [&](auto until) {
    while (!until() && !ctx_.Done()) {
      if (watch == nullptr) {
        auto started = store_->StartWatch(ctx_, "/w/", last);
        if (!started.ok()) continue;
        watch = *std::move(started);
      }
      Context attempt = ctx_.WithTimeout(milliseconds(100));
      const auto batch = watch->Next(attempt);
      if (batch.ok()) {
        for (const Event& event : batch->events) ++seen[event.kv.key];
        last = batch->revision;
      } else if (!attempt.Done()) {
        EXPECT_TRUE(batch.status().Is(Reason::kServiceUnavailable)) << batch.status().ToString();
        watch = nullptr;
        ++ended;
      }
    }
  };
  for (int round = 0; round < 3; ++round) {
    const size_t enough = seen.size() + 200;
    follow([&]() { return seen.size() >= enough; });
    server_->Kill();
    follow([&]() { return watch == nullptr; });
    ASSERT_TRUE(server_->Restart(ctx_).ok());
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  const Revision end = *store_->CurrentRevision(ctx_);
  ASSERT_TRUE(store_->Create(ctx_, "/w/end", "x").ok());
  follow([&]() { return last > end; });

  EXPECT_GE(ended, 3);
  const auto page = store_->List(ctx_, "/w/", {});
  ASSERT_TRUE(page.ok());
  std::map<std::string, Revision> stored;
  for (const KeyValue& kv : page->items) stored[kv.key] = kv.revision;
  for (const auto& [key, revision] : acknowledged) {
    EXPECT_EQ(stored[key], revision) << key << " was acknowledged";
  }
  EXPECT_EQ(seen.size(), stored.size());
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
}

TEST_F(EtcdFault, WithoutAServerCallsAreUnavailable) {
  EtcdOptions options;
  options.servers = {"http://127.0.0.1:1"};
  Connect(options);
  // Concurrently, because each call retries for a while.
  std::vector<Status> answers(4);
  std::thread create([&]() { answers[0] = store_->Create(ctx_, "/a", "x").status(); });
  std::thread get([&]() { answers[1] = store_->Get(ctx_, "/a").status(); });
  std::thread watch([&]() { answers[2] = store_->StartWatch(ctx_, "/", 0).status(); });
  answers[3] = store_->Healthy(ctx_);
  for (std::thread* thread : {&create, &get, &watch}) thread->join();
  for (const Status& status : answers) {
    EXPECT_TRUE(status.Is(Reason::kServiceUnavailable)) << status.ToString();
    EXPECT_NE(status.message().find("Connection refused"), std::string::npos);
  }
}

TEST_F(EtcdFault, ConnectRejectsInvalidOptions) {
  EtcdOptions options;
  EXPECT_TRUE(ConnectEtcd(ctx_, options).status().Is(Reason::kBadRequest));
  options.servers = {"gopher://x"};
  EXPECT_TRUE(ConnectEtcd(ctx_, options).status().Is(Reason::kBadRequest));
  options.servers = {"https://127.0.0.1:2379"};
  options.ca_file = "/no/such/file";
  EXPECT_TRUE(ConnectEtcd(ctx_, options).status().Is(Reason::kBadRequest));
}

TEST_F(EtcdFault, TlsWithClientCertificates) {
  StartServer({.tls = true});
  const Revision created = Create("/a", std::string(1 << 20, 'x'));
  auto watch = *store_->StartWatch(ctx_, "/", created - 1);
  EXPECT_EQ(watch->Next(ctx_)->events.size(), 1U);

  EtcdOptions without = server_->ClientOptions();
  without.tls.certificate_pem.clear();
  without.tls.key_pem.clear();
  Connect(without);
  EXPECT_TRUE(store_->Get(ctx_, "/a").status().Is(Reason::kServiceUnavailable));

  net::CertificateRequest request;
  request.common_name = "other";
  request.is_ca = true;
  EtcdOptions stranger = server_->ClientOptions();
  stranger.tls.ca_pem = net::MakeCertificate(request, nullptr)->certificate_pem;
  Connect(stranger);
  const Status refused = store_->Get(ctx_, "/a").status();
  EXPECT_TRUE(refused.Is(Reason::kServiceUnavailable)) << refused.ToString();
  EXPECT_NE(refused.message().find("certificate"), std::string::npos) << refused.ToString();
}

TEST_F(EtcdFault, NewConnectionsUseRenewedCertificate) {
  StartServer({.tls = true});
  const EtcdOptions good = server_->ClientOptions();
  char pattern[] = "/tmp/cox-etcd-tls-XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(pattern);
  const auto write = [&](const net::CertificatePair& pair) {
    EXPECT_TRUE(ReplaceFile(dir / "c.key", pair.key_pem, /*secret=*/true).ok());
    EXPECT_TRUE(ReplaceFile(dir / "c.crt", pair.certificate_pem, /*secret=*/false).ok());
  };
  const net::CertificatePair stranger =
      *net::MakeCertificate({.common_name = "stranger", .client_auth = true}, nullptr);
  write(stranger);
  EtcdOptions files = good;
  files.tls.certificate_pem.clear();
  files.tls.key_pem.clear();
  files.certificate_file = dir / "c.crt";
  files.key_file = dir / "c.key";
  Connect(files);
  EXPECT_TRUE(store_->Create(ctx_, "/a", "x").status().Is(Reason::kServiceUnavailable));
  write({good.tls.certificate_pem, good.tls.key_pem});
  Create("/a");
  // A certificate that does not match the key, or no file: the last valid pair is used.
  for (const bool missing : {false, true}) {
    if (missing) {
      std::filesystem::remove(dir / "c.crt");
    } else {
      write({good.tls.certificate_pem, stranger.key_pem});
    }
    server_->Kill();
    ASSERT_TRUE(server_->Restart(ctx_).ok());
    EXPECT_TRUE(server_->AwaitReady(ctx_).ok());
    auto got = store_->Get(ctx_, "/a");
    for (int i = 0; i < 3 && !got.ok(); ++i) got = store_->Get(ctx_, "/a");
    EXPECT_TRUE(got.ok()) << got.status().ToString();
  }
  std::filesystem::remove_all(dir);
}

TEST_F(EtcdFault, FullDatabaseIsInternalError) {
  StartServer({.quota_bytes = 4 << 20});
  const std::string value(1 << 20, 'x');
  Status full;
  for (int i = 0; i < 30 && full.ok(); ++i) {
    full = store_->Create(ctx_, "/" + std::to_string(i), value).status();
  }
  EXPECT_TRUE(full.Is(Reason::kInternalError)) << full.ToString();
  EXPECT_EQ(full.message(), "etcdserver: mvcc: database space exceeded");
  EXPECT_TRUE(store_->Get(ctx_, "/0").ok()) << "reads go on";
}

TEST_F(EtcdFault, WritesAndWatchesSurviveLossOfTheLeader) {
  auto started = EtcdCluster::Start(ctx_, 3);
  ASSERT_TRUE(started.ok()) << started.status().ToString();
  EtcdCluster& cluster = **started;
  Connect(cluster.ClientOptions());
  auto watch = *store_->StartWatch(ctx_, "/", 0);
  const Revision before = Create("/before");
  EXPECT_EQ(watch->Next(ctx_)->revision, before);

  // Twice, so that the member of the client's connection is hit too, whichever member leads.
  const std::optional<size_t> leader = cluster.Leader(ctx_);
  ASSERT_TRUE(leader.has_value());
  cluster.member(*leader).Kill();
  Status status = Status::Unavailable("not tried");
  while (!status.ok() && !ctx_.Done()) {
    status = store_->Update(ctx_, "/after", "x", 0).status();  // safe to repeat
  }
  ASSERT_TRUE(status.ok()) << status.ToString();
  Revision last = before;
  bool found = false;
  while (!found && !ctx_.Done()) {
    const auto batch = watch->Next(ctx_);
    if (!batch.ok()) {
      ASSERT_TRUE(batch.status().Is(Reason::kServiceUnavailable)) << batch.status().ToString();
      auto again = store_->StartWatch(ctx_, "/", last);
      if (again.ok()) watch = *std::move(again);
      continue;
    }
    last = batch->revision;
    for (const Event& event : batch->events) found = found || event.kv.key == "/after";
  }
  EXPECT_TRUE(found);
}

TEST_F(EtcdFault, MemberWithoutLeaderEndsWatchesAndWrites) {
  auto started = EtcdCluster::Start(ctx_, 3);
  ASSERT_TRUE(started.ok()) << started.status().ToString();
  EtcdCluster& cluster = **started;
  Connect(cluster.member(0).ClientOptions());
  auto watch = *store_->StartWatch(ctx_, "/", 0);
  Create("/a");
  ASSERT_TRUE(watch->Next(ctx_).ok());
  cluster.member(1).Pause();
  cluster.member(2).Pause();
  // The member responds, but has lost its quorum.
  const auto batch = watch->Next(ctx_);
  EXPECT_TRUE(batch.status().Is(Reason::kServiceUnavailable)) << batch.status().ToString();
  Context attempt = ctx_.WithTimeout(seconds(20));
  const auto created = store_->Create(attempt, "/b", "x");
  EXPECT_TRUE(created.status().Is(Reason::kServiceUnavailable)) << created.status().ToString();
}

TEST_F(EtcdFault, CompactorsOfTwoServersCoordinate) {
  StartServer();
  using Outcome = CompactionRound::Outcome;
  CompactionRound one;
  CompactionRound two;
  EXPECT_EQ(*one.Try(ctx_, *store_), Outcome::kNoted);  // the first round never compacts
  EXPECT_EQ(*two.Try(ctx_, *store_), Outcome::kLate);
  const Revision old = Create("/a");
  const Revision newer = Create("/b");
  EXPECT_EQ(*one.Try(ctx_, *store_), Outcome::kCompacted);  // to a revision before /a
  ListOptions options;
  options.at = old;
  EXPECT_TRUE(store_->List(ctx_, "/", options).ok());
  EXPECT_EQ(*two.Try(ctx_, *store_), Outcome::kLate);
  EXPECT_EQ(*two.Try(ctx_, *store_), Outcome::kCompacted);
  EXPECT_TRUE(store_->List(ctx_, "/", options).status().Is(Reason::kExpired));
  options.at = newer;
  EXPECT_TRUE(store_->List(ctx_, "/", options).status().Is(Reason::kExpired));
  EXPECT_EQ(*one.Try(ctx_, *store_), Outcome::kLate);
}

TEST_F(EtcdFault, CompactorCompactsEveryInterval) {
  StartServer();
  TestClock time;
  const Context ctx(time);
  const auto compactor = StartCompactor(ctx, *store_);
  const Revision old = Create("/a");
  ListOptions options;
  options.at = old;
  int rounds = 0;
  while (store_->List(ctx_, "/", options).ok() && rounds < 10) {
    time.WaitForWaiters(1);
    time.Advance(kCompactionInterval);
    time.WaitForWaiters(1);  // the round is over
    ++rounds;
  }
  EXPECT_EQ(rounds, 2) << "the first only notes where it is, the second compacts to there";
  EXPECT_EQ(StartCompactor(ctx, *store_, seconds(0)), nullptr);
}

}  // namespace
}  // namespace cox::storage
