// SPDX-License-Identifier: Apache-2.0
// The cache with the real API server. Tests of closed watches are in dying_watches_test.cc.
#include "coxswain/cache.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "base/clock.h"
#include "sdk/testing/test_recorder.h"
#include "testkit/faulty_transport.h"
#include "testkit/test_cluster.h"
#include "testkit/wait.h"

namespace cox {
namespace {

using core::v1::ConfigMap;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testkit::Fault;
using testkit::FaultyTransport;
using testkit::TestCluster;

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    auto cluster = TestCluster::Start();
    ASSERT_TRUE(cluster.ok()) << cluster.status().ToString();
    cluster_ = *std::move(cluster);
    faults_ = FaultyTransport::Over(cluster_->transport());
    faulty_ = MakeClient(faults_);
    ctx_.emplace(cluster_->context().WithTimeout(seconds(60)));
  }
  void StartCache(CacheOptions options = {}) {
    options.backoff_min = milliseconds(10);
    options.backoff_max = milliseconds(100);
    cache_ = Cache::Create(cluster_->context(), *faulty_, std::move(options));
    informer_ = cache_->Get(Resource::Of<ConfigMap>());
    handle_ = informer_->AddHandler(recorder_.handler());
    const Status synced = informer_->WaitSynced(*ctx_);
    ASSERT_TRUE(synced.ok()) << synced.ToString();
  }
  void TearDown() override { EXPECT_EQ(recorder_.broken(), std::vector<std::string>()); }

  static ConfigMap MakeMap(const std::string& name) {
    ConfigMap map;
    map.metadata.name = name;
    map.metadata.namespace_ = "default";
    return map;
  }
  Client& admin() { return cluster_->client(); }
  ConfigMap Create(const std::string& name) {
    Result<ConfigMap> made = admin().Create(*ctx_, MakeMap(name));
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *made : ConfigMap();
  }
  ConfigMap Change(ConfigMap map, const std::string& data) {
    map.data["data"] = data;
    Result<ConfigMap> changed = admin().Update(*ctx_, map);
    EXPECT_TRUE(changed.ok()) << changed.status().ToString();
    return changed.ok() ? *changed : map;
  }
  // Waits until the cache contains exactly this version.
  void ExpectArrives(const ConfigMap& map) {
    const Status status = testkit::WaitForCache(*ctx_, *informer_, [&] {
      const ObjectPtr object = informer_->Get(KeyOf(map));
      return object != nullptr &&
             object->As<ConfigMap>()->metadata.resourceVersion == map.metadata.resourceVersion;
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  void ExpectGoes(const ConfigMap& map) {
    const Status status = testkit::WaitForCache(
        *ctx_, *informer_, [&] { return informer_->Get(KeyOf(map)) == nullptr; });
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  std::unique_ptr<TestCluster> cluster_;
  std::shared_ptr<FaultyTransport> faults_;
  std::unique_ptr<Client> faulty_;
  std::optional<Context> ctx_;
  sdk::Recorder recorder_;
  std::unique_ptr<Cache> cache_;
  std::shared_ptr<SharedInformer> informer_;
  InformerHandle handle_;
};

// In the process of the API server.
TEST_F(CacheTest, CachesShareTheDecodedObjects) {
  const ConfigMap listed = Create("listed");
  const auto one = Cache::Create(cluster_->context(), admin(), {});
  const auto two = Cache::Create(cluster_->context(), admin(), {});
  const auto first = one->Get(Resource::Of<ConfigMap>());
  const auto second = two->Get(Resource::Of<ConfigMap>());
  const auto expect_shared = [&](const ConfigMap& map) {
    for (const auto& informer : {first, second}) {
      EXPECT_TRUE(testkit::WaitForCache(*ctx_, *informer, [&] {
                    const ObjectPtr object = informer->Get(KeyOf(map));
                    return object != nullptr &&
                           object->object_meta()->resourceVersion == map.metadata.resourceVersion;
                  }).ok());
    }
    const ObjectPtr object = first->Get(KeyOf(map));
    EXPECT_EQ(object, second->Get(KeyOf(map)));
    EXPECT_EQ(object->As<ConfigMap>()->data, map.data);
    EXPECT_TRUE(object->object_meta()->managedFields.empty());
  };
  expect_shared(listed);
  expect_shared(Change(listed, "changed"));
  expect_shared(Create("watched"));
}

TEST_F(CacheTest, StreamsTheListAndFollowsChanges) {
  const ConfigMap a = Create("a");
  StartCache();
  ExpectArrives(a);
  EXPECT_EQ(faults_->requests({.verb = "list"}), 0);
  ConfigMap b = Create("b");
  ExpectArrives(b);
  ExpectArrives(b = Change(b, "x"));
  ASSERT_TRUE(admin().Delete<ConfigMap>(*ctx_, KeyOf(b)).ok());
  ExpectGoes(b);
}

TEST_F(CacheTest, ListsInPagesIfStreamingIsRejected) {
  for (int i = 0; i < 25; ++i) Create("m" + std::to_string(i));
  faults_->Add({.verb = "watch"}, Fault{.answer = Status::Invalid("no streams here"), .times = 1});
  CacheOptions options;
  options.page_size = 10;
  StartCache(options);
  EXPECT_GE(informer_->size(), 25);
  EXPECT_GE(faults_->requests({.verb = "list"}), 3);
  ExpectArrives(Create("later"));
}

TEST_F(CacheTest, MetadataAndBytesShowTheSameObjects) {
  Create("a");
  CacheOptions options;
  options.defaults.keep = CacheScope::Keep::kBytes;
  StartCache(options);
  const auto metadata = cache_->MetadataInformerOf(Resource::Of<ConfigMap>());
  const auto dynamic = cache_->Get(Resource::Dynamic({"", "v1", "ConfigMap"}, "configmaps", true));
  ASSERT_TRUE(cache_->WaitForSync(*ctx_).ok());
  const ObjectKey key{"default", "a"};
  const ObjectPtr whole = informer_->Get(key);
  EXPECT_EQ(HeadOf(*metadata.shared().Get(key)).uid, HeadOf(*whole).uid);
  EXPECT_EQ(HeadOf(*dynamic->Get(key)).uid, HeadOf(*whole).uid);
  EXPECT_EQ(metadata.shared().size(), informer_->size());
}

TEST_F(CacheTest, OwnWritesAreVisibleImmediately) {
  StartCache();
  const std::unique_ptr<Client> client = cache_->WritingThrough(*faulty_);
  const Lister<ConfigMap> lister = cache_->ListerOf<ConfigMap>();
  ConfigMap map = *client->Create(*ctx_, MakeMap("mine"));
  for (int i = 0; i < 1000; ++i) {
    map.data["data"] = std::to_string(i);
    Result<ConfigMap> written = client->Update(*ctx_, map);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    map = *written;
    const auto read = lister.Get(KeyOf(map));
    ASSERT_NE(read, nullptr);
    ASSERT_EQ(read->metadata.resourceVersion, map.metadata.resourceVersion) << i;
  }
  for (int i = 0; i < 100; ++i) {
    const ConfigMap made = *client->Create(*ctx_, MakeMap("short-lived"));
    ASSERT_NE(lister.Get(KeyOf(made)), nullptr) << i;
    ASSERT_TRUE(client->Delete<ConfigMap>(*ctx_, KeyOf(made)).ok());
    ASSERT_EQ(lister.Get(KeyOf(made)), nullptr) << i;
  }
  ExpectArrives(Create("after"));  // the watch does not restore deleted objects
  EXPECT_EQ(lister.Get({"default", "short-lived"}), nullptr);
}

}  // namespace
}  // namespace cox
