// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "storage/errors.h"
#include "storage/store.h"

// The fixture of the tests in contract_test.h.
namespace cox::storage {

// One store under test, with control of its clock.
class StoreBackend {
 public:
  virtual ~StoreBackend() = default;
  virtual Store& store() = 0;
  // Advances the store's clock if it is a test clock; with a real clock the time passes by itself.
  virtual void Pass(std::chrono::seconds time) = 0;
};

struct StoreCase {
  std::string name;
  std::function<std::unique_ptr<StoreBackend>()> make;  // returns null: unavailable here, skip
};
inline std::string CaseName(const testing::TestParamInfo<StoreCase>& info) {
  return info.param.name;
}

class StoreContract : public testing::TestWithParam<StoreCase> {
 protected:
  static constexpr std::chrono::seconds kTestTimeout{60};

  void SetUp() override {
    backend_ = GetParam().make();
    if (backend_ == nullptr) GTEST_SKIP() << GetParam().name << " is not on this machine";
    // Stores may be shared by tests, so each test uses its own prefix.
    static std::atomic<int> tests = 0;
    prefix_ = "/contract/" + std::to_string(++tests) + "/";
  }

  Store& store() { return backend_->store(); }
  std::string Key(std::string_view name) const { return prefix_ + std::string(name); }

  Revision Create(std::string_view name, std::string_view value, std::chrono::seconds ttl = {}) {
    const Result<Revision> created = store().Create(ctx_, Key(name), value, ttl);
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    return created.value_or(0);
  }
  Revision Update(std::string_view name, std::string_view value, Revision expected) {
    const auto updated = store().Update(ctx_, Key(name), value, expected);
    EXPECT_TRUE(updated.ok() && updated->written) << updated.status().ToString();
    return updated.ok() ? updated->revision : 0;
  }
  Revision Delete(std::string_view name, Revision expected) {
    const auto deleted = store().Delete(ctx_, Key(name), expected);
    EXPECT_TRUE(deleted.ok() && deleted->written) << deleted.status().ToString();
    return deleted.ok() ? deleted->revision : 0;
  }
  Page List(const ListOptions& options) {
    Result<Page> page = store().List(ctx_, prefix_, options);
    EXPECT_TRUE(page.ok()) << page.status().ToString();
    return page.ok() ? *std::move(page) : Page();
  }
  Page ListAt(Revision at) {
    ListOptions options;
    options.at = at;
    return List(options);
  }
  Revision Now() {
    const Result<Revision> now = store().CurrentRevision(ctx_);
    EXPECT_TRUE(now.ok()) << now.status().ToString();
    return now.value_or(0);
  }
  std::unique_ptr<Watch> WatchAfter(Revision after) {
    Result<std::unique_ptr<Watch>> watch = store().StartWatch(ctx_, prefix_, after);
    EXPECT_TRUE(watch.ok()) << watch.status().ToString();
    return watch.ok() ? *std::move(watch) : nullptr;
  }

  // Reads until there are `count` events; checks the invariants of every watch.
  std::vector<Event> Take(Watch& watch, size_t count) {
    std::vector<Event> events;
    Revision delivered = 0;
    while (events.size() < count) {
      Result<WatchBatch> batch = watch.Next(ctx_);
      EXPECT_TRUE(batch.ok()) << batch.status().ToString();
      if (!batch.ok()) break;
      for (const Event& event : batch->events) {
        EXPECT_GT(event.kv.revision, delivered) << "a revision was delivered in two batches";
        EXPECT_LE(event.kv.revision, batch->revision);
        EXPECT_TRUE(events.empty() || events.back().kv.revision <= event.kv.revision);
        EXPECT_TRUE(event.kv.key.starts_with(prefix_)) << event.kv.key;
        events.push_back(event);
      }
      EXPECT_GE(batch->revision, delivered);
      delivered = batch->revision;
    }
    EXPECT_EQ(events.size(), count);
    return events;
  }

  // "+key=value" created, "~key=value" changed, "-key" deleted.
  std::string Describe(const Event& event) const {
    const std::string key = event.kv.key.substr(prefix_.size());
    if (event.type == Event::Type::kDelete) return "-" + key;
    return (event.created ? "+" : "~") + key + "=" + std::string(event.kv.value.view());
  }
  std::vector<std::string> Describe(const std::vector<Event>& events) const {
    std::vector<std::string> out;
    for (const Event& event : events) out.push_back(Describe(event));
    return out;
  }
  std::vector<std::string> Describe(const Page& page) const {
    std::vector<std::string> out;
    for (const KeyValue& kv : page.items) {
      out.push_back(kv.key.substr(prefix_.size()) + "=" + std::string(kv.value.view()));
    }
    return out;
  }

  RealClock clock_;
  Context ctx_ = Context(clock_).WithTimeout(kTestTimeout);
  std::unique_ptr<StoreBackend> backend_;
  std::string prefix_;
};

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

}  // namespace cox::storage
