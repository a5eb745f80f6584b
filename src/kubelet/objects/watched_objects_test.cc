// SPDX-License-Identifier: Apache-2.0
#include "kubelet/objects/watched_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <map>
#include <string>

#include "base/testing/test_clock.h"
#include "kubelet/testing/test_pods.h"
#include "sdk/testing/history_client.h"

namespace cox::kubelet {
namespace {

using core::v1::Pod;
using testing::MakePod;

class WatchedObjectsTest : public ::testing::Test {
 protected:
  WatchedObjectsTest()
      : objects_(ctx_, server_, [this](const std::string& uid) {
          MutexLock lock(mu_);
          ++changes_[uid];
          changed_.NotifyAll();
        }) {}
  static Pod Naming(const std::string& map, const std::string& uid) {
    Pod pod = MakePod(R"({"volumes":[{"name":"v","configMap":{"name":")" + map + R"("}}]})");
    pod.metadata.uid = uid;
    return pod;
  }
  void WaitForChanges(const std::string& uid, int n) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return changes_[uid] >= n; });
  }

  TestClock clock_;
  Context ctx_{clock_};
  sdk::HistoryClient server_;
  Mutex mu_;
  CondVar changed_;
  std::map<std::string, int> changes_ COX_GUARDED_BY(mu_);
  WatchedObjects objects_;
};

TEST_F(WatchedObjectsTest, WatchesReferencedObjects) {
  server_.Put("default", "m", "one");
  objects_.Register(Naming("m", "u1"));
  auto map = objects_.GetConfigMap(ctx_, {"default", "m"});
  ASSERT_TRUE(map.ok()) << map.status().ToString();
  EXPECT_EQ(*(*map)->data.Get("data"), "one");
  EXPECT_EQ(server_.last_watch().list.fields.ToString(), "metadata.name=m");
  EXPECT_EQ(server_.last_watch().list.ns, "default");
  WaitForChanges("u1", 1);
  server_.Put("default", "m", "two");
  WaitForChanges("u1", 2);
  map = objects_.GetConfigMap(ctx_, {"default", "m"});
  EXPECT_EQ(*(*map)->data.Get("data"), "two");
  server_.Remove("default", "m");
  WaitForChanges("u1", 3);
  EXPECT_EQ(objects_.GetConfigMap(ctx_, {"default", "m"}).status().message(),
            "configmap \"m\" not found");
}

TEST_F(WatchedObjectsTest, PodsShareWatchAndLastOneClosesIt) {
  server_.Put("default", "m", "one");
  objects_.Register(Naming("m", "u1"));
  objects_.Register(Naming("m", "u2"));
  objects_.Register(Naming("m", "u2"));
  EXPECT_EQ(objects_.watches(), 1U);
  objects_.Unregister("u1");
  EXPECT_EQ(objects_.watches(), 1U);
  server_.Put("default", "m", "two");
  WaitForChanges("u2", 1);
  // The Pod references another object now.
  objects_.Register(Naming("n", "u2"));
  EXPECT_EQ(objects_.watches(), 1U);
  objects_.Unregister("u2");
  objects_.Unregister("u2");
  EXPECT_EQ(objects_.watches(), 0U);
}

int Threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
  }
  return 0;
}

TEST_F(WatchedObjectsTest, NumberOfThreadsDoesNotDependOnNumberOfObjects) {
  constexpr int kObjects = 500;
  const int before = Threads();
  for (int i = 0; i < kObjects; ++i) {
    const std::string number = std::to_string(i);
    server_.Put("default", "m" + number, "one");
    objects_.Register(Naming("m" + number, "u" + number));
  }
  for (int i = 0; i < kObjects; ++i) {
    const auto map = objects_.GetConfigMap(ctx_, {"default", "m" + std::to_string(i)});
    ASSERT_TRUE(map.ok()) << map.status().ToString();
  }
  server_.AwaitFollowing(kObjects);
  EXPECT_LE(Threads() - before, 8);
  // All watches still deliver changes.
  for (int i = 0; i < kObjects; ++i) server_.Put("default", "m" + std::to_string(i), "two");
  for (int i = 0; i < kObjects; ++i) WaitForChanges("u" + std::to_string(i), 2);
  EXPECT_LE(Threads() - before, 8);
  for (int i = 0; i < kObjects; ++i) objects_.Unregister("u" + std::to_string(i));
  EXPECT_EQ(objects_.watches(), 0U);
  EXPECT_FALSE(server_.Follows()) << "the last Pod closes the watch";
}

TEST_F(WatchedObjectsTest, UnregisterEndsGetThatWaitsForTheObject) {
  server_.Set({.away = Status::Forbidden("not yours")});
  objects_.Register(Naming("m", "u1"));
  server_.AwaitAsked([](const auto& requests) { return requests.all() >= 1; });
  auto got = std::async(std::launch::async, [&] {
    return objects_.GetConfigMap(ctx_, {"default", "m"}).status();
  });
  // Whether Get waits already or reads from the server later, it fails.
  objects_.Unregister("u1");
  EXPECT_FALSE(got.get().ok());
}

TEST_F(WatchedObjectsTest, ReadsUnregisteredObjectsFromServer) {
  EXPECT_TRUE(objects_.GetConfigMap(ctx_, {"default", "other"}).status().Is(Reason::kNotFound));
  EXPECT_EQ(objects_.watches(), 0U);
}

}  // namespace
}  // namespace cox::kubelet
