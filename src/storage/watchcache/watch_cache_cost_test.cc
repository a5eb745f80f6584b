// SPDX-License-Identifier: Apache-2.0
// What the cache costs: memory per object, and time per change delivered, per read and per object
// looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "object/testing/cost_meter.h"
#include "storage/testing/test_support.h"
#include "storage/watchcache/cache_state.h"

namespace cox::storage {
namespace {

// A name as the Deployment controller makes them, in one of a hundred namespaces.
std::string PodKey(size_t i) {
  return "/registry/pods/namespace-" + std::to_string(i % 100) + "/web-server-6d4cf56db6-" +
         std::to_string(100'000 + i);
}

class PodHeads final : public HeadReader {
 public:
  std::vector<std::string> field_names() const override {
    return {"spec.nodeName",           "spec.restartPolicy", "spec.schedulerName",
            "spec.serviceAccountName", "status.phase",       "status.podIP"};
  }
  void Read(std::string_view, std::string_view, HeadBuilder& head) const override {
    head.Label("app.kubernetes.io/name", "web-server");
    head.Label("pod-template-hash", "6d4cf56db6");
    const char* const values[] = {"node-0123",       "Always",  "default-scheduler",
                                  "default-account", "Running", "10.244.12.34"};
    for (size_t i = 0; i < std::size(values); ++i) head.Field(i, values[i]);
  }
};

struct Filled {
  explicit Filled(const HeadReader& heads)
      : state(clock, "/registry/pods/", 1024, 65'536, heads, std::make_shared<EncodingBudget>()) {}

  void List(size_t objects, size_t bytes) {
    // In order of keys, as a store lists them, and one at a time, as pages do.
    std::vector<std::string> keys;
    for (size_t i = 0; i < objects; ++i) keys.push_back(PodKey(i));
    std::sort(keys.begin(), keys.end());
    const std::string value(bytes, 'x');
    std::vector<EntryPtr> entries;
    entries.reserve(objects);
    for (std::string& key : keys) {
      entries.push_back(state.MakeEntry({std::move(key), Bytes(value), 5}));
    }
    keys = {};
    state.Replace(std::move(entries), 10);
  }
  void Update(size_t i, Revision revision, size_t bytes) {
    WatchBatch batch;
    batch.revision = revision;
    batch.events.push_back(
        {Event::Type::kPut, {PodKey(i), Bytes(std::string(bytes, 'y')), revision}, false});
    ASSERT_EQ(state.Apply(batch).inconsistency, "");
  }

  RealClock clock;
  CacheState state;
};

// For the test's report: --gtest_output=xml.
void Record(const std::string& what, double value) {
  ::testing::Test::RecordProperty(what, std::to_string(value));
}

double Millis(const Cost& cost) { return cost.seconds * 1e3; }

TEST(WatchCacheCostTest, MemoryIsCloseToTheStoredBytes) {
  struct Case {
    const char* what;
    bool pods;
    size_t objects;
    size_t bytes;
    double limit;
  };
  const TextHeads plain;
  const PodHeads pods;
  const Case cases[] = {{"ConfigMaps of 1 KB", false, 20'000, 1024, 1.3},
                        {"Pods of 2.5 KB", true, 10'000, 2560, 1.2},
                        {"Pods of 10 KB", true, 3'000, 10'240, 1.06}};
  for (const Case& c : cases) {
    std::unique_ptr<Filled> filled;
    const Cost fill = Measure([&] {
      filled = std::make_unique<Filled>(c.pods ? static_cast<const HeadReader&>(pods) : plain);
      filled->List(c.objects, c.bytes);
    });
    const auto stored = static_cast<double>(c.objects * c.bytes);
    ASSERT_EQ(filled->state.Current()->size(), c.objects);
    // The keys and the list that the filling needs for a while are in it.
    Record(std::string(c.what) + ", heap / stored", static_cast<double>(fill.bytes) / stored);
    Record(std::string(c.what) + ", RAM / stored", static_cast<double>(fill.resident) / stored);
    EXPECT_LE(static_cast<double>(fill.bytes) / stored, c.limit) << c.what;
  }
}

TEST(WatchCacheCostTest, SelectingFromManyObjectsIsQuick) {
  const TextHeads plain;
  Filled filled(plain);
  filled.List(100'000, 200);
  size_t matches = 0;
  const Cost cost = Measure([&] {
    filled.state.Current()->Visit("/registry/pods/", "", [&](const EntryPtr& entry) {
      const HeadPairs labels = entry->labels();
      if (labels("app") == "nothing") ++matches;
      return true;
    });
  });
  EXPECT_EQ(matches, 0u);
  Record("selecting, ns per object", cost.seconds * 1e9 / 100'000);
  EXPECT_LT(Millis(cost), 40 * kSlow);
}

TEST(WatchCacheCostTest, UpdatesAreQuick) {
  const TextHeads plain;
  Filled filled(plain);
  filled.List(50'000, 500);
  for (const bool read : {false, true}) {
    const Cost cost = Measure([&] {
      static Revision revision = 10;
      for (size_t i = 0; i < 20'000; ++i) {
        filled.Update((i * 7919) % 50'000, ++revision, 500);
        ASSERT_TRUE(!read || filled.state.Current() != nullptr);
      }
    });
    Record(read ? "update and snapshot, ns" : "update, ns", cost.seconds * 1e9 / 20'000);
    EXPECT_LT(Millis(cost), 600 * kSlow);
  }
}

// Each watcher is woken for each change and takes it, which is the worst case.
TEST(WatchCacheCostTest, DeliveringAChangeIsCheap) {
  constexpr size_t kWatchers = 500;
  constexpr size_t kChanges = 1000;
  const TextHeads plain;
  Filled filled(plain);
  filled.List(1000, 1500);
  std::vector<std::unique_ptr<Watcher>> watchers(kWatchers);
  std::vector<Watcher*> woken;
  woken.reserve(kWatchers);
  const Cost each = Measure([&] {
    for (auto& watcher : watchers) {
      WatchOptions options{"/registry/pods/"};
      options.after = 10;
      options.wake = [&woken, &watcher] { woken.push_back(watcher.get()); };
      watcher = *filled.state.log().Watch(std::move(options));
      ASSERT_TRUE(watcher->Take(10).ok());
    }
  });
  size_t delivered = 0;
  const Cost cost = Measure([&] {
    for (size_t i = 0; i < kChanges; ++i) {
      filled.Update(i % 1000, static_cast<Revision>(11 + i), 1500);
      for (Watcher* watcher : woken) delivered += watcher->Take(10)->changes.size();
      woken.clear();
    }
  });
  EXPECT_EQ(delivered, kWatchers * kChanges);
  Record("fan-out, ns per change delivered", cost.seconds * 1e9 / static_cast<double>(delivered));
  Record("bytes per watcher", static_cast<double>(each.bytes) / static_cast<double>(kWatchers));
  EXPECT_LT(Millis(cost), 1000 * kSlow);
  EXPECT_LT(each.bytes / static_cast<int64_t>(kWatchers), 1024);
}

}  // namespace
}  // namespace cox::storage
