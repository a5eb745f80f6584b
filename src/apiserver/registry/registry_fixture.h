// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include "apiserver/discovery/served.h"
#include "apiserver/registry/registry.h"
#include "base/clock.h"
#include "base/context.h"
#include "storage/memory/memory_store.h"

namespace cox::apiserver {

// For tests: every kind of a default server, over a store in memory, with its caches filled.
class RegistryFixture : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(registry_.WaitReady(ctx_).ok()); }

  template <class T>
  ResourceStore& StoreOf() {
    return registry_.Hub(T::kKind).store();
  }

  // The object as stored; a failure and an empty one if there is none.
  template <class T>
  T Read(std::string_view name, std::string_view ns = {}) {
    Result<Object> found = StoreOf<T>().Get(ctx_, ns, name);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? *found->template As<T>() : T{};
  }

  template <class T>
  Status Create(T object) {
    return StoreOf<T>().Create(Writing(), Object::Of(std::move(object)), nullptr).status();
  }

  template <class T, class Change>
  Status Update(std::string_view name, Change change) {
    return StoreOf<T>()
        .Update(Writing(), {.name = std::string(name),
                            .change = [&](const Object* existing) -> Result<Object> {
                              Object after = *existing;
                              change(*after.template As<T>());
                              return after;
                            }})
        .status();
  }

  // Every cache is as the store is now.
  void CatchUp() {
    for (const auto& resource : registry_.served()) {
      ASSERT_TRUE(resource->store().cache()->Read(ctx_, storage::Freshness{}).ok());
    }
  }
  storage::Revision Revision() { return storage_->CurrentRevision(ctx_).value_or(0); }

  WriteContext Writing() { return {ctx_, user_, Time::FromUnix(1'700'000'000)}; }

  RealClock clock_;
  Context ctx_{clock_};
  UserInfo user_{.name = "test", .uid = {}, .groups = {}, .extra = {}};
  std::unique_ptr<storage::Store> storage_ = storage::NewMemoryStore(clock_);
  Registry registry_{ctx_,
                     {.storage = [this](const KindInfo&) -> storage::Store& { return *storage_; },
                      .serves =
                          [](const KindInfo& kind) {
                            return IsServedByDefault(kind.group, kind.version, kind.plural);
                          }}};
};

}  // namespace cox::apiserver
