// SPDX-License-Identifier: Apache-2.0
#include "sdk/cache/delta_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "api/core/v1.h"
#include "base/clock.h"
#include "base/scope.h"

namespace cox::sdk {
namespace {

using Type = Delta::Type;

class DeltaQueueTest : public testing::Test {
 protected:
  static Resource Maps() { return Resource::Of<core::v1::ConfigMap>(); }

  Item MakeItem(const std::string& name, int64_t version) const {
    core::v1::ConfigMap map;
    map.metadata.name = name;
    map.metadata.namespace_ = "ns";
    map.metadata.uid = "u-" + name;
    map.metadata.resourceVersion = std::to_string(version);
    return form_->Make(std::make_shared<const Object>(Object::Of(std::move(map))));
  }
  // "+a1": object a added at version 1; "~a2:1": updated from 1 to 2; "-a2": deleted; "=a2":
  // resync.
  PendingDelta Parse(const std::string& text) const {
    PendingDelta delta{.before = {}, .after = {}, .own_writer = {}};
    const std::string name = text.substr(1, 1);
    const auto number = [&](size_t at) { return std::stoll(text.substr(at, 1)); };
    switch (text[0]) {
      case '+':
        delta.after = MakeItem(name, number(2));
        break;
      case '~':
        delta.type = Type::kUpdated;
        delta.after = MakeItem(name, number(2));
        delta.before = MakeItem(name, number(4));
        break;
      case '-':
        delta.type = Type::kDeleted;
        delta.before = MakeItem(name, number(2));
        break;
      case '=':
        delta.type = Type::kResync;
        delta.after = MakeItem(name, number(2));
        break;
    }
    if (text.back() == '!') delta.own_writer = "me";
    return delta;
  }
  static std::string Print(const Delta& delta) {
    const ObjectHead head = HeadOf(*delta.object());
    std::string out =
        "+~-="[static_cast<size_t>(delta.type)] + head.key.name + std::to_string(head.version);
    if (delta.type == Type::kUpdated) {
      out += ":" + std::to_string(HeadOf(*delta.before).version);
    }
    return delta.own_writer.empty() ? out : out + "!";
  }

  const std::shared_ptr<const ItemForm> form_ =
      std::make_shared<const ItemForm>(Maps(), false, CacheScope());
};

TEST_F(DeltaQueueTest, MergesPendingDeltasOfOneObject) {
  const struct {
    std::vector<std::string> pushed;
    std::vector<std::string> seen;
  } kCases[] = {
      {{"+a1"}, {"+a1"}},
      {{"+a1", "~a2:1", "~a3:2"}, {"+a3"}},
      {{"~a2:1", "~a3:2"}, {"~a3:1"}},
      {{"~a2:1", "-a3"}, {"-a3"}},
      {{"=a1", "-a2"}, {"-a2"}},
      {{"+a1", "-a2"}, {"+a1", "-a2"}},
      {{"-a2", "+a3"}, {"-a2", "+a3"}},
      {{"~a2:1", "-a3", "+a4", "~a5:4"}, {"-a3", "+a5"}},
      {{"+a1", "=a1"}, {"+a1"}},
      {{"=a1", "=a1"}, {"=a1"}},
      {{"=a1", "~a2:1"}, {"~a2:1"}},
      {{"~a2:1", "=a2"}, {"~a2:1"}},
      // A merged delta keeps the position of the first; other objects are not affected.
      {{"+a1", "+b2", "~a3:1"}, {"+a3", "+b2"}},
      // A merged delta is an own write only if all its parts are.
      {{"~a2:1!", "~a3:2!"}, {"~a3:1!"}},
      {{"~a2:1!", "~a3:2"}, {"~a3:1"}},
      {{"~a2:1", "~a3:2!"}, {"~a3:1"}},
      {{"=a1", "~a2:1!"}, {"~a2:1"}},
  };
  for (const auto& c : kCases) {
    std::vector<std::string> seen;
    DeltaQueue queue([&](const Delta& delta) { seen.push_back(Print(delta)); });
    for (const std::string& text : c.pushed) queue.Push(Parse(text));
    queue.Drain();
    EXPECT_EQ(seen, c.seen) << testing::PrintToString(c.pushed);
  }
}

TEST_F(DeltaQueueTest, DeltaPushedByHandlerIsDeliveredAfterTheCall) {
  std::vector<std::string> seen;
  std::optional<DeltaQueue> queue;
  queue.emplace([&](const Delta& delta) {
    if (seen.empty()) {
      queue->Push(Parse("~a2:1"));
      queue->Drain();  // leaves delivery to the outer Drain
      EXPECT_TRUE(seen.empty());
    }
    seen.push_back(Print(delta));
  });
  queue->Push(Parse("+a1"));
  queue->Drain();
  EXPECT_EQ(seen, (std::vector<std::string>{"+a1", "~a2:1"}));
}

TEST_F(DeltaQueueTest, InitialLeftCountsUndeliveredInitialObjects) {
  std::optional<DeltaQueue> queue;
  size_t left_in_call = 0;
  queue.emplace([&](const Delta&) { left_in_call = queue->initial_left(); });
  PendingDelta delta = Parse("+a1");
  delta.initial = true;
  queue->Push(delta);
  queue->Push(Parse("~a2:1"));
  EXPECT_EQ(queue->initial_left(), 1);
  queue->Drain();
  EXPECT_EQ(left_in_call, 1);
  EXPECT_EQ(queue->initial_left(), 0);
}

TEST_F(DeltaQueueTest, CloseFromTheHandlerDoesNotDeadlock) {
  int calls = 0;
  std::optional<DeltaQueue> queue;
  queue.emplace([&](const Delta&) {
    ++calls;
    queue->Close();
  });
  queue->Push(Parse("+a1"));
  queue->Push(Parse("+b1"));
  queue->Drain();
  EXPECT_EQ(calls, 1);
}

TEST_F(DeltaQueueTest, HandlerDoesNotRunAfterClose) {
  RealClock clock;
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> closed = false;
    std::atomic<int> late = 0;
    std::atomic<int> calls = 0;
    DeltaQueue queue([&](const Delta&) {
      ++calls;
      if (closed) ++late;
    });
    Scope scope(Context(clock), "test");
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_TRUE(scope
                      .Go(name,
                          [&, name](Context& ctx) {
                            while (!ctx.Done()) {
                              queue.Push(Parse(std::string("+") + name + "1"));
                              queue.Drain();
                            }
                          })
                      .ok());
    }
    while (calls < 50) std::this_thread::yield();
    queue.Close();
    closed = true;
    scope.Stop();
    scope.Wait();
    EXPECT_EQ(late, 0);
  }
}

}  // namespace
}  // namespace cox::sdk
