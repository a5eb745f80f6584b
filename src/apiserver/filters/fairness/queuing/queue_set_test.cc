// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fairness/queuing/queue_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "apiserver/filters/fairness/queuing/shuffle_shard.h"
#include "apiserver/filters/fairness/retry_after.h"

namespace cox::apiserver {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Arrival = QueueSet::Arrival;
using State = FlowRequest::State;

constexpr Clock::SteadyTime kStart{std::chrono::hours(1)};

Work Seats(int seats) {
  Work work;
  work.seats = seats;
  return work;
}

TEST(ShuffleShard, HandContainsDistinctCardsOfDeck) {
  for (uint64_t hash = 0; hash < 2000; ++hash) {
    std::array<int, 6> hand;
    DealHand(FlowHash(7, "schema", std::to_string(hash)), 64, hand);
    const std::set<int> cards(hand.begin(), hand.end());
    EXPECT_EQ(cards.size(), hand.size());
    EXPECT_GE(*cards.begin(), 0);
    EXPECT_LT(*cards.rbegin(), 64);
  }
}

TEST(ShuffleShard, AllHandsAreEquallyFrequent) {
  // 5 * 4 hands of two cards out of five.
  std::map<std::pair<int, int>, int> times;
  for (uint64_t hash = 0; hash < 20 * 50; ++hash) {
    std::array<int, 2> hand;
    DealHand(hash, 5, hand);
    ++times[{hand[0], hand[1]}];
  }
  EXPECT_EQ(times.size(), 20u);
  for (const auto& [hand, count] : times) EXPECT_EQ(count, 50) << hand.first << hand.second;
}

TEST(ShuffleShard, HandMayBeWholeDeck) {
  std::array<int, 4> hand;
  DealHand(123456789, 4, hand);
  EXPECT_EQ(std::set<int>(hand.begin(), hand.end()).size(), 4u);
}

TEST(ShuffleShard, FlowHashDependsOnSchemaDistinguisherAndSeed) {
  const uint64_t hash = FlowHash(1, "a", "bc");
  EXPECT_EQ(hash, FlowHash(1, "a", "bc"));
  EXPECT_NE(hash, FlowHash(1, "ab", "c"));
  EXPECT_NE(hash, FlowHash(2, "a", "bc"));
  EXPECT_NE(hash, FlowHash(1, "a", ""));
}

// One heavy flow fills its queues. Nearly all of many light flows have a queue in their hand that
// it does not use.
TEST(ShuffleShard, HeavyFlowLeavesFreeQueueToNearlyAllOthers) {
  std::array<int, 6> elephant;
  DealHand(FlowHash(3, "s", "elephant"), 128, elephant);
  int squashed = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::array<int, 6> mouse;
    DealHand(FlowHash(3, "s", std::to_string(i)), 128, mouse);
    bool free = false;
    for (const int card : mouse) {
      free = free || std::find(elephant.begin(), elephant.end(), card) == elephant.end();
    }
    if (!free) ++squashed;
  }
  EXPECT_LE(squashed, 1);
}

TEST(QueueSet, LevelWithoutQueuesRejectsWithoutFreeSeat) {
  QueueSet set({.queues = 0}, 2, kStart);
  FlowRequest a, b, c;
  EXPECT_EQ(set.Add(a, kStart), Arrival::kExecute);
  EXPECT_EQ(set.Add(b, kStart), Arrival::kExecute);
  EXPECT_EQ(set.Add(c, kStart), Arrival::kNoSeat);
  set.Finish(a, kStart + milliseconds(1));
  EXPECT_EQ(set.Add(c, kStart + milliseconds(1)), Arrival::kExecute);
  EXPECT_EQ(set.executing(), 2u);
}

TEST(QueueSet, ExemptLevelHasNoLimit) {
  QueueSet set({.exempt = true}, 0, kStart);
  std::deque<FlowRequest> requests(1000);
  for (FlowRequest& request : requests) EXPECT_EQ(set.Add(request, kStart), Arrival::kExecute);
  EXPECT_EQ(set.seats_in_use(), 1000);
  for (FlowRequest& request : requests) set.Finish(request, kStart);
  EXPECT_TRUE(set.idle());
}

TEST(QueueSet, FullQueueRejectsOnlyItsFlows) {
  QueueSet set({.queues = 2, .hand_size = 1, .queue_length_limit = 2}, 1, kStart);
  std::deque<FlowRequest> requests(6);
  // With a hand size of one, flows 0 and 1 have one queue each.
  for (FlowRequest& request : requests) request.flow = 0;
  requests[5].flow = 1;
  EXPECT_EQ(set.Add(requests[0], kStart), Arrival::kExecute);
  EXPECT_EQ(set.Add(requests[1], kStart), Arrival::kWait);
  EXPECT_EQ(set.Add(requests[2], kStart), Arrival::kWait);
  EXPECT_EQ(set.Add(requests[3], kStart), Arrival::kQueueFull);
  EXPECT_EQ(requests[3].state, State::kNew);
  EXPECT_EQ(set.Add(requests[5], kStart), Arrival::kWait);
  EXPECT_EQ(set.waiting(), 3u);
}

TEST(QueueSet, QueueOfWideRequestsIsBoundedEvenIfSeatsAreFree) {
  QueueSet set({.queues = 1, .hand_size = 1, .queue_length_limit = 2}, 10, kStart);
  std::deque<FlowRequest> requests(5);
  for (FlowRequest& request : requests) request.work = Seats(4);
  EXPECT_EQ(set.Add(requests[0], kStart), Arrival::kExecute);
  EXPECT_EQ(set.Add(requests[1], kStart), Arrival::kExecute);
  EXPECT_EQ(set.Add(requests[2], kStart), Arrival::kWait);
  EXPECT_EQ(set.Add(requests[3], kStart), Arrival::kWait);
  EXPECT_EQ(set.Add(requests[4], kStart), Arrival::kQueueFull);
}

TEST(QueueSet, QueueIsFifo) {
  QueueSet set({.queues = 1, .hand_size = 1, .queue_length_limit = 10}, 1, kStart);
  std::deque<FlowRequest> requests(4);
  for (FlowRequest& request : requests) set.Add(request, kStart);
  EXPECT_EQ(set.Next(kStart), nullptr) << "the seat is taken";
  for (size_t i = 0; i + 1 < requests.size(); ++i) {
    set.Finish(requests[i], kStart + milliseconds(i));
    EXPECT_EQ(set.Next(kStart + milliseconds(i)), &requests[i + 1]);
  }
}

TEST(QueueSet, WithdrawnRequestLeavesNoState) {
  QueueSet set({.queues = 1, .hand_size = 1, .queue_length_limit = 10}, 1, kStart);
  std::deque<FlowRequest> requests(4);
  for (FlowRequest& request : requests) {
    request.work = Seats(1);
    set.Add(request, kStart);
  }
  set.Withdraw(requests[1], kStart);
  set.Withdraw(requests[3], kStart);
  EXPECT_EQ(set.waiting(), 1u);
  set.Finish(requests[0], kStart);
  EXPECT_EQ(set.Next(kStart), &requests[2]);
  EXPECT_EQ(set.Next(kStart), nullptr);
  set.Finish(requests[2], kStart);
  EXPECT_TRUE(set.idle());
  EXPECT_EQ(set.seats_waiting(), 0);
  EXPECT_EQ(set.queues()[0]->waiting_work, 0);
  EXPECT_EQ(set.queues()[0]->waiting_max_seats, 0);
}

TEST(QueueSet, WideRequestIsNotPassedAndRunsAloneIfNecessary) {
  QueueSet set({.queues = 1, .hand_size = 1, .queue_length_limit = 10}, 4, kStart);
  FlowRequest narrow, wide, behind;
  wide.work = Seats(9);
  EXPECT_EQ(set.Add(narrow, kStart), Arrival::kExecute);
  EXPECT_EQ(set.Add(wide, kStart), Arrival::kWait);
  EXPECT_EQ(set.Add(behind, kStart), Arrival::kWait) << "three seats are free, but not for it";
  EXPECT_EQ(set.Next(kStart), nullptr);
  set.Finish(narrow, kStart + milliseconds(1));
  EXPECT_EQ(set.Next(kStart + milliseconds(1)), &wide);
  EXPECT_EQ(set.Next(kStart + milliseconds(1)), nullptr);
  set.Finish(wide, kStart + milliseconds(2));
  EXPECT_EQ(set.Next(kStart + milliseconds(2)), &behind);
}

TEST(QueueSet, WriteHoldsFinalSeats) {
  QueueSet set({.queues = 1, .hand_size = 1, .queue_length_limit = 10}, 4, kStart);
  FlowRequest write, wide;
  write.work = {.seats = 1, .final_seats = 3, .after = milliseconds(5)};
  wide.work = Seats(2);
  EXPECT_EQ(set.Add(write, kStart), Arrival::kExecute);
  EXPECT_EQ(set.seats_in_use(), 3) << "the widest it will be";
  EXPECT_EQ(set.Add(wide, kStart), Arrival::kWait);
  const QueueSet::Rest rest = set.Finish(write, kStart + milliseconds(1));
  EXPECT_EQ(rest.seats, 3);
  EXPECT_EQ(set.executing(), 0u);
  EXPECT_EQ(set.Next(kStart + milliseconds(1)), nullptr);
  set.Release(rest, kStart + milliseconds(6));
  EXPECT_EQ(set.Next(kStart + milliseconds(6)), &wide);
}

TEST(QueueSet, SurplusQueuesAreRemovedWhenEmpty) {
  QueueSet set({.queues = 8, .hand_size = 1, .queue_length_limit = 10}, 1, kStart);
  FlowRequest runs, waits;
  runs.flow = 0;
  waits.flow = 7;
  set.Add(runs, kStart);
  EXPECT_EQ(set.Add(waits, kStart), Arrival::kWait);
  set.Configure({.queues = 2, .hand_size = 1, .queue_length_limit = 10}, kStart);
  EXPECT_EQ(set.queues().size(), 8u);
  set.Finish(runs, kStart);
  EXPECT_EQ(set.Next(kStart), &waits);
  set.Finish(waits, kStart);
  EXPECT_EQ(set.queues().size(), 2u);
}

TEST(QueueSet, MoreSeatsDispatchMoreRequests) {
  QueueSet set({.queues = 1, .hand_size = 1, .queue_length_limit = 10}, 1, kStart);
  std::deque<FlowRequest> requests(4);
  for (FlowRequest& request : requests) set.Add(request, kStart);
  set.SetSeats(3, kStart);
  EXPECT_EQ(set.Next(kStart), &requests[1]);
  EXPECT_EQ(set.Next(kStart), &requests[2]);
  EXPECT_EQ(set.Next(kStart), nullptr);
}

// Simulates clients that send a new request after each response, and measures their shares.
class Simulation {
 public:
  struct Client {
    uint64_t flow;
    int parallel;  // number of concurrent requests
    int seats;
    Clock::Duration takes;
  };

  Simulation(QueueSet::Options options, int seats) : set_(options, seats, kStart) {}

  // Returns the seat seconds of each client.
  std::vector<double> Run(const std::vector<Client>& clients, Clock::Duration length) {
    std::vector<double> served(clients.size());
    std::deque<Running> all;
    for (size_t i = 0; i < clients.size(); ++i) {
      for (int n = 0; n < clients[i].parallel; ++n) Arrive(all.emplace_back(i), clients[i]);
    }
    while (!ends_.empty() && ends_.top().first < kStart + length) {
      now_ = ends_.top().first;
      Running& done = *ends_.top().second;
      ends_.pop();
      const Client& client = clients[done.client];
      served[done.client] += client.seats * std::chrono::duration<double>(client.takes).count();
      set_.Finish(done, now_);
      Arrive(done, client);
      while (FlowRequest* next = set_.Next(now_)) Begin(*next, clients);
    }
    return served;
  }

 private:
  struct Running : FlowRequest {
    explicit Running(size_t of) : client(of) {}
    size_t client;
  };
  using End = std::pair<Clock::SteadyTime, Running*>;

  void Arrive(Running& request, const Client& client) {
    const size_t of = request.client;
    static_cast<FlowRequest&>(request) = FlowRequest{};
    request.client = of;
    request.flow = client.flow;
    request.work = Seats(client.seats);
    if (set_.Add(request, now_) == Arrival::kExecute) ends_.push({now_ + client.takes, &request});
  }
  void Begin(FlowRequest& request, const std::vector<Client>& clients) {
    auto& running = static_cast<Running&>(request);
    ends_.push({now_ + clients[running.client].takes, &running});
  }

  QueueSet set_;
  Clock::SteadyTime now_ = kStart;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

constexpr QueueSet::Options kTwoQueues{.queues = 2, .hand_size = 1, .queue_length_limit = 1000};

TEST(FairQueuing, ManyRequestsGetNoLargerShareThanFew) {
  const std::vector<double> served =
      Simulation(kTwoQueues, 10)
          .Run({{0, 200, 1, milliseconds(10)}, {1, 20, 1, milliseconds(10)}}, seconds(20));
  EXPECT_NEAR(served[0] / served[1], 1, 0.05);
  EXPECT_NEAR(served[0] + served[1], 10 * 20, 5) << "no seat is idle";
}

TEST(FairQueuing, WideRequestsGetNoLargerShareThanNarrow) {
  const std::vector<double> served =
      Simulation(kTwoQueues, 48)
          .Run({{0, 50, 4, milliseconds(10)}, {1, 50, 1, milliseconds(10)}}, seconds(20));
  EXPECT_NEAR(served[0] / served[1], 1, 0.1);
}

TEST(FairQueuing, LongRequestsGetNoLargerShareThanShort) {
  const std::vector<double> served =
      Simulation(kTwoQueues, 10)
          .Run({{0, 100, 1, milliseconds(80)}, {1, 100, 1, milliseconds(4)}}, seconds(40));
  EXPECT_NEAR(served[0] / served[1], 1, 0.1);
}

TEST(FairQueuing, UnusedShareGoesToOtherFlows) {
  const std::vector<double> served =
      Simulation(kTwoQueues, 10)
          .Run({{0, 100, 1, milliseconds(10)}, {1, 2, 1, milliseconds(10)}}, seconds(20));
  EXPECT_NEAR(served[1], 2 * 20, 2) << "all it asks for";
  EXPECT_NEAR(served[0], 8 * 20, 3);
}

TEST(FairQueuing, HeavyFlowDoesNotTakeSharesOfOthers) {
  const QueueSet::Options options{.queues = 128, .hand_size = 6, .queue_length_limit = 50};
  std::vector<Simulation::Client> clients = {{FlowHash(1, "s", "storm"), 250, 4, milliseconds(20)}};
  for (int i = 0; i < 20; ++i) {
    clients.push_back({FlowHash(1, "s", "tenant" + std::to_string(i)), 2, 1, milliseconds(5)});
  }
  const std::vector<double> served = Simulation(options, 50).Run(clients, seconds(10));
  // 20 tenants need 40 of 50 seats, and the heavy flow's six queues could use all.
  for (size_t i = 1; i < served.size(); ++i) EXPECT_GT(served[i], 0.7 * 2 * 10) << i;
  EXPECT_GT(served[0], 0.15 * 50 * 10);
}

TEST(FairQueuing, IdleTimeGivesNoCredit) {
  QueueSet set(kTwoQueues, 1, kStart);
  FlowRequest first;
  first.flow = 0;
  set.Add(first, kStart);
  // Queue 0 executes for a minute while queue 1 is idle; then both have waiting requests and
  // alternate.
  const Clock::SteadyTime later = kStart + seconds(60);
  std::deque<FlowRequest> requests(8);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].flow = i % 2;
    set.Add(requests[i], later);
  }
  set.Finish(first, later);
  std::vector<uint64_t> order;
  Clock::SteadyTime now = later;
  while (FlowRequest* next = set.Next(now)) {
    order.push_back(next->flow);
    now += milliseconds(3);
    set.Finish(*next, now);
  }
  ASSERT_EQ(order.size(), 8u);
  // The idle queue has no credit, and the busy queue has no debt.
  EXPECT_EQ(std::count(order.begin(), order.begin() + 4, 1u), 2);
}

TEST(RetryAfter, GrowsWithManyRejectionsAndShrinksAgain) {
  RetryAfter retry;
  Clock::SteadyTime now = kStart;
  EXPECT_EQ(retry.seconds(), 1);
  for (int i = 0; i < 200; ++i) {
    for (int n = 0; n < 10; ++n) retry.OnRejected(now);
    now += seconds(1);
  }
  EXPECT_EQ(retry.seconds(), RetryAfter::kMost);
  now += std::chrono::hours(2);
  retry.OnRejected(now);
  EXPECT_EQ(retry.seconds(), 1);
}

TEST(RetryAfter, StaysWithFewRejections) {
  RetryAfter retry;
  for (int i = 0; i < 100; ++i) retry.OnRejected(kStart + seconds(i));
  EXPECT_EQ(retry.seconds(), 1);
}

}  // namespace
}  // namespace cox::apiserver
