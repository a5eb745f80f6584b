// SPDX-License-Identifier: Apache-2.0
// A store with an etcd that fails during a call, rejects it or sends wrong responses. The tests
// count calls: a write that may have been applied is not retried.
#include "storage/etcd/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "net/testing/fake_grpc_server.h"
#include "object/codec/protobuf/wire.h"
#include "storage/etcd/etcd_store.h"

namespace cox::storage {
namespace {

using net::grpc::FakeServer;
using std::chrono::seconds;
using Kind = FakeServer::Action::Kind;
using Actions = std::vector<FakeServer::Action>;

constexpr int kRefusedStream = 7;
constexpr int kInternalError = 2;

std::string Header(Revision revision) {
  proto::BackWriter writer;
  const size_t before = writer.size();
  writer.VarintField(3, static_cast<uint64_t>(revision));
  writer.MessageField(1, before);
  return std::string(writer.view());
}
std::string Succeeded(Revision revision) { return Header(revision) + std::string("\x10\x01", 2); }
Actions Answer(std::string message) {
  return {{Kind::kMessage, 0, std::move(message)}, {Kind::kEnd, 0, ""}};
}

class ClientTest : public testing::Test {
 protected:
  void Serve(FakeServer::Script script) {
    server_ = std::make_unique<FakeServer>(
        ctx_, [this, script = std::move(script)](const FakeServer::Request& r) {
          ++calls_;
          return script(r);
        });
    EtcdOptions options;
    options.servers = {server_->url()};
    store_ = *ConnectEtcd(ctx_, options);
  }
  Status Write() { return store_->Create(ctx_, "/a", "x").status(); }
  Status Read() { return store_->Get(ctx_, "/a").status(); }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(seconds(30));
  std::atomic<int> calls_ = 0;
  std::unique_ptr<FakeServer> server_;
  std::unique_ptr<EtcdStore> store_;
};

TEST_F(ClientTest, DoesNotRetryWriteThatMayHaveBeenApplied) {
  const struct {
    const char* name;
    Actions actions;
    Reason reason;
  } kCases[] = {
      {"hang up", {{Kind::kHangUp, 0, ""}}, Reason::kServiceUnavailable},
      {"reset", {{Kind::kReset, kInternalError, ""}}, Reason::kServiceUnavailable},
      {"unavailable",
       {{Kind::kEnd, 14, "etcdserver: leader changed"}},
       Reason::kServiceUnavailable},
      {"timed out", {{Kind::kEnd, 14, "etcdserver: request timed out"}}, Reason::kTimeout},
      {"deadline", {{Kind::kEnd, 4, "context deadline exceeded"}}, Reason::kTimeout},
      {"full",
       {{Kind::kEnd, 8, "etcdserver: mvcc: database space exceeded"}},
       Reason::kInternalError},
      {"busy", {{Kind::kEnd, 8, "etcdserver: too many requests"}}, Reason::kTooManyRequests},
      {"large",
       {{Kind::kEnd, 3, "etcdserver: request is too large"}},
       Reason::kRequestEntityTooLarge},
      {"no response", {{Kind::kEnd, 0, ""}}, Reason::kInternalError},
      {"garbage", Answer("\x0a\x7f"), Reason::kInternalError},
  };
  for (const auto& c : kCases) {
    Serve([&c](const FakeServer::Request&) { return c.actions; });
    calls_ = 0;
    const Status status = Write();
    EXPECT_TRUE(status.Is(c.reason)) << c.name << ": " << status.ToString();
    EXPECT_EQ(calls_, 1) << c.name;
  }
}

TEST_F(ClientTest, RetriesWriteThatWasNotExecuted) {
  const struct {
    const char* name;
    Actions actions;
  } kCases[] = {
      {"refused stream", {{Kind::kReset, kRefusedStream, ""}}},
      {"going away", {{Kind::kGoAway, 0, ""}}},
      {"no leader", {{Kind::kEnd, 14, "etcdserver: no leader"}}},
  };
  for (const auto& c : kCases) {
    int seen = 0;
    Serve(
        [&](const FakeServer::Request&) { return ++seen <= 2 ? c.actions : Answer(Succeeded(9)); });
    const auto created = store_->Create(ctx_, "/a", "x");
    ASSERT_TRUE(created.ok()) << c.name << ": " << created.status().ToString();
    EXPECT_EQ(*created, 9);
    EXPECT_EQ(seen, 3) << c.name;
  }
}

TEST_F(ClientTest, RetriesReadAfterAnyFailure) {
  const struct {
    const char* name;
    Actions actions;
  } kCases[] = {
      {"hang up", {{Kind::kHangUp, 0, ""}}},
      {"reset", {{Kind::kReset, kInternalError, ""}}},
      {"half a message", {{Kind::kMessage, 0, "\x0a"}, {Kind::kHangUp, 0, ""}}},
      {"unavailable", {{Kind::kEnd, 14, "etcdserver: leader changed"}}},
  };
  for (const auto& c : kCases) {
    int seen = 0;
    Serve([&](const FakeServer::Request&) { return ++seen <= 2 ? c.actions : Answer(Header(9)); });
    const Status status = Read();
    EXPECT_TRUE(status.ok()) << c.name << ": " << status.ToString();
    EXPECT_EQ(seen, 3) << c.name;
  }
}

TEST_F(ClientTest, ReplacesLeaseThatNoLongerExists) {
  int grants = 0;
  int writes = 0;
  Serve([&](const FakeServer::Request& request) -> Actions {
    if (request.method == etcd::kLeaseGrant) {
      ++grants;
      return Answer(std::string("\x10", 1) + static_cast<char>(grants));
    }
    if (++writes == 1) return {{Kind::kEnd, 5, "etcdserver: requested lease not found"}};
    return Answer(Succeeded(9));
  });
  const auto created = store_->Create(ctx_, "/a", "x", seconds(60));
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  EXPECT_EQ(grants, 2);
  EXPECT_EQ(writes, 2);
}

// Watches that violate etcd's guarantees. They reproduce etcd bugs: events after a progress
// notification that covered them, and duplicate events.
std::string Put(Revision revision) {
  proto::BackWriter writer;
  const size_t event = writer.size();
  const size_t kv = writer.size();
  writer.VarintField(3, static_cast<uint64_t>(revision));
  writer.BytesField(1, "/w/a");
  writer.MessageField(2, kv);
  writer.MessageField(11, event);
  return std::string(writer.view());
}

TEST_F(ClientTest, WatchWithEventsOutOfOrderExpires) {
  const struct {
    const char* name;
    std::vector<std::string> messages;
    int good;  // batches before the violation
  } kCases[] = {
      {"late after progress", {Header(9), Header(9) + Put(7)}, 1},
      {"twice", {Header(7) + Put(7), Header(7) + Put(7)}, 1},
      {"before the start", {Header(9) + Put(5)}, 0},
  };
  for (const auto& c : kCases) {
    Serve([&c](const FakeServer::Request&) {
      Actions actions;
      for (const std::string& message : c.messages) actions.push_back({Kind::kMessage, 0, message});
      return actions;
    });
    auto watch = *store_->StartWatch(ctx_, "/w/", 5);
    for (int i = 0; i < c.good; ++i) EXPECT_TRUE(watch->Next(ctx_).ok()) << c.name;
    EXPECT_TRUE(watch->Next(ctx_).status().Is(Reason::kExpired)) << c.name;
  }
}

TEST_F(ClientTest, WatchJoinsFragmentsIntoOneBatch) {
  const std::string more("\x38\x01", 2);  // fragment: true
  Serve([&](const FakeServer::Request&) -> Actions {
    return {{Kind::kMessage, 0, Header(7) + Put(7) + more},
            {Kind::kMessage, 0, Header(7) + Put(7) + more},
            {Kind::kMessage, 0, Header(8) + Put(8)}};
  });
  auto watch = *store_->StartWatch(ctx_, "/w/", 5);
  const auto batch = watch->Next(ctx_);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->events.size(), 3U);
  EXPECT_EQ(batch->revision, 8);
}

TEST_F(ClientTest, WatchEndedByServerIsUnavailable) {
  Serve([](const FakeServer::Request&) -> Actions {
    return {{Kind::kEnd, 14, "etcdserver: no leader"}};
  });
  auto watch = *store_->StartWatch(ctx_, "/w/", 5);
  EXPECT_TRUE(watch->Next(ctx_).status().Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(watch->RequestProgress().Is(Reason::kServiceUnavailable));
}

TEST_F(ClientTest, WatchIsUnavailableAfterStoreIsDestroyed) {
  Serve([](const FakeServer::Request&) { return Actions(); });
  auto watch = *store_->StartWatch(ctx_, "/w/", 5);
  store_ = nullptr;
  EXPECT_TRUE(watch->Next(ctx_).status().Is(Reason::kServiceUnavailable));
}

}  // namespace
}  // namespace cox::storage
