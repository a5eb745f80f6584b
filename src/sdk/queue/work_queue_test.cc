// SPDX-License-Identifier: Apache-2.0
#include "coxswain/work_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>

#include "base/scope.h"
#include "base/testing/test_clock.h"

namespace cox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ObjectKey Key(const std::string& name) { return {"default", name}; }

class WorkQueueTest : public testing::Test {
 protected:
  // The names of all ready keys, in order; calls Done for each.
  std::vector<std::string> TakeAll() {
    std::vector<std::string> names;
    while (queue->size() > 0) {
      const auto item = queue->Get(ctx);
      names.push_back(item->key.name);
      queue->Done(item->key);
    }
    return names;
  }
  using Names = std::vector<std::string>;

  TestClock clock;
  Context ctx{clock};
  std::unique_ptr<WorkQueue> queue =
      WorkQueue::Create(clock, {.name = "q", .limiter = ExponentialBackoff(milliseconds(10))});
};

TEST_F(WorkQueueTest, ReturnsEachKeyOnceInOrder) {
  for (const char* name : {"c", "a", "b", "a", "c"}) queue->Add(Key(name));
  EXPECT_EQ(queue->size(), 3u);
  EXPECT_EQ(TakeAll(), (Names{"c", "a", "b"}));
}

TEST_F(WorkQueueTest, HigherPrioritiesComeFirstAndTheHighestApplies) {
  queue->Add(Key("low"), kLowPriority);
  queue->Add(Key("raised"), kLowPriority);
  queue->Add(Key("normal"));
  queue->Add(Key("raised"), 5);
  queue->Add(Key("normal"), kLowPriority);
  const auto first = queue->Get(ctx);
  EXPECT_EQ(first->key.name, "raised");
  EXPECT_EQ(first->priority, 5);
  queue->Done(first->key);
  EXPECT_EQ(TakeAll(), (Names{"normal", "low"}));
}

TEST_F(WorkQueueTest, KeyAddedWhileRunningIsReturnedAgainAfterDone) {
  queue->Add(Key("a"));
  const auto item = queue->Get(ctx);
  queue->Add(Key("a"), 7);
  queue->Add(Key("a"));
  EXPECT_EQ(queue->size(), 0u);
  queue->Done(item->key);
  EXPECT_EQ(queue->size(), 1u);
  EXPECT_EQ(queue->Get(ctx)->priority, 7);
  queue->Done(Key("a"));
  EXPECT_EQ(queue->size(), 0u);
}

TEST_F(WorkQueueTest, DelayedKeysBecomeReadyAtTheEarliestTime) {
  queue->AddAfter(Key("late"), seconds(10));
  queue->AddAfter(Key("twice"), seconds(10));
  queue->AddAfter(Key("twice"), seconds(2));
  queue->AddAfter(Key("twice"), seconds(5));
  queue->AddAfter(Key("now"), seconds(9));
  queue->Add(Key("now"));
  EXPECT_EQ(TakeAll(), (Names{"now"}));
  clock.Advance(seconds(2));
  EXPECT_EQ(TakeAll(), (Names{"twice"}));
  clock.Advance(seconds(8) - milliseconds(1));
  EXPECT_EQ(TakeAll(), Names{});
  clock.Advance(milliseconds(1));
  EXPECT_EQ(TakeAll(), (Names{"late"}));
}

TEST_F(WorkQueueTest, DelayThatEndsWhileRunningIsKept) {
  queue->Add(Key("a"));
  const auto item = queue->Get(ctx);
  queue->AddAfter(Key("a"), seconds(1));
  clock.Advance(seconds(1));
  queue->Add(Key("b"));
  EXPECT_EQ(TakeAll(), (Names{"b"}));
  queue->Done(item->key);
  EXPECT_EQ(TakeAll(), (Names{"a"}));
}

TEST_F(WorkQueueTest, BlockedWorkerReceivesADelayedKey) {
  std::atomic<int> handed = 0;
  Scope scope(ctx, "workers");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(scope
                    .Go("worker",
                        [&](Context& worker) {
                          while (auto item = queue->Get(worker)) {
                            ++handed;
                            queue->Done(item->key);
                          }
                        })
                    .ok());
  }
  queue->AddAfter(Key("a"), seconds(10));
  clock.WaitForWaiters(1);
  queue->AddAfter(Key("b"), seconds(1));  // earlier than the timekeeper's deadline
  clock.WaitForWaiters(1);
  clock.Advance(seconds(1));
  clock.WaitForWaiters(1);
  clock.Advance(seconds(9));
  queue->ShutDown();
  scope.Wait();
  scope.Stop();
  EXPECT_EQ(handed, 2);
}

TEST_F(WorkQueueTest, RateLimitedDelaysDouble) {
  for (const int wait : {10, 20, 40}) {
    queue->AddRateLimited(Key("a"));
    clock.Advance(milliseconds(wait - 1));
    EXPECT_EQ(queue->size(), 0u);
    clock.Advance(milliseconds(1));
    EXPECT_EQ(TakeAll(), (Names{"a"}));
  }
  EXPECT_EQ(queue->Failures(Key("a")), 3);
  queue->Forget(Key("a"));
  EXPECT_EQ(queue->Failures(Key("a")), 0);
}

TEST_F(WorkQueueTest, ShutDownReturnsReadyKeysAndDropsDelayedOnes) {
  queue->Add(Key("running"));
  const auto running = queue->Get(ctx);
  queue->Add(Key("running"));
  queue->Add(Key("ready"));
  queue->AddAfter(Key("waiting"), seconds(1));
  queue->ShutDown();
  queue->Add(Key("new"));
  queue->AddAfter(Key("new"), seconds(1));
  clock.Advance(seconds(2));
  EXPECT_EQ(queue->Get(ctx)->key.name, "ready");
  EXPECT_FALSE(queue->Get(ctx).has_value());
  queue->Done(running->key);
  EXPECT_EQ(queue->Get(ctx)->key.name, "running");
  EXPECT_FALSE(queue->Get(ctx).has_value());
}

TEST_F(WorkQueueTest, StoppedContextEndsGetAndLeavesTheKey) {
  Context stopped = ctx.Child();
  stopped.Stop();
  queue->Add(Key("a"));
  EXPECT_FALSE(queue->Get(stopped).has_value());
  EXPECT_EQ(queue->Get(ctx)->key.name, "a");

  Context blocked = ctx.Child();
  Scope scope(ctx, "worker");
  ASSERT_TRUE(scope.Go("worker", [&](Context&) { EXPECT_FALSE(queue->Get(blocked)); }).ok());
  blocked.Stop();
  scope.Wait();
  scope.Stop();
}

// A simple single-threaded model of the queue's behavior.
class Model {
 public:
  void Add(const std::string& key, Clock::SteadyTime due, int priority, Clock::SteadyTime now) {
    Move(now);
    if (due > now) {
      if (Pending(key)) return Raise(key, priority);
      const auto at = waiting_.find(key);
      const int highest = at == waiting_.end() ? priority : std::max(priority, at->second.priority);
      if (at != waiting_.end() && at->second.due <= due) {
        at->second.priority = highest;
      } else {
        waiting_[key] = {due, highest, sequence_++};
      }
      return;
    }
    if (const auto at = waiting_.find(key); at != waiting_.end()) {
      priority = std::max(priority, at->second.priority);
      waiting_.erase(at);
    }
    MakeReady(key, priority);
  }
  std::optional<std::pair<std::string, int>> Get(Clock::SteadyTime now) {
    Move(now);
    if (ready_.empty()) return {};
    const auto best =
        std::max_element(ready_.begin(), ready_.end(), [](const Ready& a, const Ready& b) {
          return std::pair(a.priority, -a.sequence) < std::pair(b.priority, -b.sequence);
        });
    std::pair<std::string, int> item(best->key, best->priority);
    running_.insert(best->key);
    ready_.erase(best);
    return item;
  }
  void Done(const std::string& key, Clock::SteadyTime now) {
    Move(now);
    running_.erase(key);
    const auto at = again_.find(key);
    if (at == again_.end()) return;
    const int priority = at->second;
    again_.erase(at);
    ready_.push_back({key, priority, sequence_++});
  }

 private:
  struct Ready {
    std::string key;
    int priority;
    int64_t sequence;
  };
  struct Wait {
    Clock::SteadyTime due;
    int priority;
    int64_t sequence;
  };

  bool Pending(const std::string& key) const {
    return again_.contains(key) ||
           std::any_of(ready_.begin(), ready_.end(), [&](const Ready& r) { return r.key == key; });
  }
  void Raise(const std::string& key, int priority) {
    if (const auto at = again_.find(key); at != again_.end()) {
      at->second = std::max(at->second, priority);
    }
    for (Ready& ready : ready_) {
      if (ready.key != key || ready.priority >= priority) continue;
      ready.priority = priority;
      ready.sequence = sequence_++;
    }
  }
  void MakeReady(const std::string& key, int priority) {
    if (Pending(key)) return Raise(key, priority);
    if (running_.contains(key)) {
      again_[key] = priority;
    } else {
      ready_.push_back({key, priority, sequence_++});
    }
  }
  void Move(Clock::SteadyTime now) {
    while (true) {
      auto first = waiting_.end();
      for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        if (at->second.due > now) continue;
        if (first == waiting_.end() || std::pair(at->second.due, at->second.sequence) <
                                           std::pair(first->second.due, first->second.sequence)) {
          first = at;
        }
      }
      if (first == waiting_.end()) return;
      const auto [key, wait] = *first;
      waiting_.erase(first);
      MakeReady(key, wait.priority);
    }
  }

  int64_t sequence_ = 0;
  std::vector<Ready> ready_;
  std::map<std::string, int> again_;
  std::map<std::string, Wait> waiting_;
  std::set<std::string> running_;
};

TEST_F(WorkQueueTest, MatchesTheModel) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    queue = WorkQueue::Create(clock, {.name = "q"});
    Model model;
    std::vector<std::string> running;
    for (int step = 0; step < 500; ++step) {
      const std::string name = std::string(1, static_cast<char>('a' + random() % 6));
      const int priority = static_cast<int>(random() % 3) - 1;
      switch (random() % 5) {
        case 0:
          queue->Add(Key(name), priority);
          model.Add(name, clock.Monotonic(), priority, clock.Monotonic());
          break;
        case 1: {
          const Clock::Duration delay = milliseconds(1 + random() % 20);
          queue->AddAfter(Key(name), delay, priority);
          model.Add(name, clock.Monotonic() + delay, priority, clock.Monotonic());
          break;
        }
        case 2:
          clock.Advance(milliseconds(random() % 10));
          break;
        case 3: {
          const auto want = model.Get(clock.Monotonic());
          ASSERT_EQ(queue->size() > 0, want.has_value()) << "seed " << seed << " step " << step;
          if (!want) break;
          const auto got = queue->Get(ctx);
          ASSERT_EQ(got->key.name, want->first) << "seed " << seed << " step " << step;
          ASSERT_EQ(got->priority, want->second) << "seed " << seed << " step " << step;
          running.push_back(got->key.name);
          break;
        }
        default:
          if (running.empty()) break;
          queue->Done(Key(running.back()));
          model.Done(running.back(), clock.Monotonic());
          running.pop_back();
      }
    }
  }
}

TEST(WorkQueueThreadsTest, NoKeyRunsConcurrentlyOrIsLost) {
  constexpr int kKeys = 17;
  constexpr int kAdds = 20'000;
  RealClock clock;
  Context ctx(clock);
  MetricsRegistry metrics;
  const auto queue = WorkQueue::Create(clock, {.name = "q", .metrics = &metrics});
  struct State {
    std::atomic<int> workers = 0;
    std::atomic<int> wanted = 0;  // number of adds
    std::atomic<int> seen = 0;    // last number that a worker has read
  };
  std::array<State, kKeys> states;
  std::atomic<bool> overlapped = false;

  Scope workers(ctx, "workers");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(workers
                    .Go("worker",
                        [&](Context& worker) {
                          while (auto item = queue->Get(worker)) {
                            State& state = states[std::stoul(item->key.name)];
                            if (state.workers.fetch_add(1) != 0) overlapped = true;
                            state.seen = state.wanted.load();
                            state.workers.fetch_sub(1);
                            queue->Done(item->key);
                          }
                        })
                    .ok());
  }
  Scope adders(ctx, "adders");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(adders
                    .Go("adder",
                        [&, i](Context&) {
                          std::mt19937 random(static_cast<uint32_t>(i));
                          for (int n = 0; n < kAdds; ++n) {
                            const size_t k = random() % kKeys;
                            states[k].wanted.fetch_add(1);
                            ObjectKey key = Key(std::to_string(k));
                            if (n % 7 == 0) {
                              queue->AddAfter(std::move(key), std::chrono::microseconds(50));
                            } else {
                              queue->Add(std::move(key), static_cast<int>(random() % 2));
                            }
                            if (n % 1000 == 0) (void)metrics.Render();
                          }
                        })
                    .ok());
  }
  adders.Wait();
  adders.Stop();
  const auto all_seen = [&] {
    return std::all_of(states.begin(), states.end(),
                       [](const State& state) { return state.seen == state.wanted; });
  };
  while (!all_seen()) ASSERT_TRUE(ctx.Sleep(milliseconds(1)).ok());  // until the test's timeout
  queue->ShutDown();
  workers.Wait();
  workers.Stop();
  EXPECT_FALSE(overlapped);
}

}  // namespace
}  // namespace cox
