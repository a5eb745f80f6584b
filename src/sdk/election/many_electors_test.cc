// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "sdk/testing/lease_harness.h"

// Many processes compete for one Lease while the test advances the clock and requests fail. At no
// time may two of them lead.
namespace cox::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kProcesses = 5;
constexpr milliseconds kStep{100};

// Faults between one process and the server, shared by the process's threads.
class Trouble {
 public:
  Trouble(Clock& clock, unsigned seed) : clock_(clock), random_(seed) {}

  void set_cut(bool cut) { cut_ = cut; }
  void set_faults(bool faults) { faults_ = faults; }
  bool cut() const { return cut_; }

  Result<Object> Pass(Context& ctx, const Operation& operation, FakeLeases& leases) {
    if (cut_) {
      (void)ctx.Sleep(seconds(1));
      return Status::Unavailable("cut");
    }
    if (!faults_) return leases.Execute(operation);
    const int dice = Roll(100);
    if (dice < 5) return Status::Unavailable("not sent");
    if (dice < 20) (void)ctx.Sleep(milliseconds(Roll(3000)));
    if (ctx.Done()) return ctx.status();
    Result<Object> answer = leases.Execute(operation);
    if (dice >= 20 && dice < 25) return Status::Unavailable("the answer was lost");
    // The thread blocks like in a stopped process: no context wakes it.
    if (dice == 25) (void)Context(clock_).Sleep(milliseconds(Roll(20'000)));
    return answer;
  }
  int Roll(int below) {
    MutexLock lock(mu_);
    return std::uniform_int_distribution<int>(0, below - 1)(random_);
  }

 private:
  Clock& clock_;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> faults_ = false;
  Mutex mu_;
  std::mt19937 random_ COX_GUARDED_BY(mu_);
};

class ManyElectorsTest : public ::testing::Test {
 protected:
  ManyElectorsTest() {
    for (size_t i = 0; i < kProcesses; ++i) {
      troubles_[i] = std::make_unique<Trouble>(clock_, static_cast<unsigned>(i) + 1);
      candidates_[i] = std::make_unique<Candidate>(
          ctx_, leases_,
          LeaderElectionOptions{.lease = {"ns", "a"}, .identity = "p" + std::to_string(i)},
          [trouble = troubles_[i].get()](Context& ctx, const Operation& operation,
                                         FakeLeases& leases) {
            return trouble->Pass(ctx, operation, leases);
          });
    }
    for (auto& candidate : candidates_) candidate->Start(/*again=*/true);
  }
  ~ManyElectorsTest() override {
    for (auto& trouble : troubles_) trouble->set_cut(true);
    ctx_.Stop();
    // Some threads are blocked.
    std::atomic<bool> joined = false;
    std::thread time([&] {
      while (!joined) {
        clock_.Advance(seconds(1));
        std::this_thread::yield();
      }
    });
    for (auto& candidate : candidates_) candidate->Join();
    joined = true;
    time.join();
  }

  // Waits until all threads sleep: one per process, and one more for a leader's work. Not necessary
  // for correctness, but makes more happen per step.
  void Settle() {
    while (clock_.waiters() != Expected()) std::this_thread::yield();
  }
  size_t Expected() const {
    size_t count = kProcesses;
    for (const auto& candidate : candidates_) count += candidate->leads() ? 1 : 0;
    return count;
  }
  std::vector<size_t> Leaders() const {
    std::vector<size_t> leaders;
    for (size_t i = 0; i < kProcesses; ++i) {
      if (candidates_[i]->elector().IsLeader()) leaders.push_back(i);
    }
    return leaders;
  }
  int Terms() const {
    int terms = 0;
    for (const auto& candidate : candidates_) terms += candidate->terms();
    return terms;
  }

  TestClock clock_;
  Context ctx_{clock_};
  FakeLeases leases_;
  std::array<std::unique_ptr<Trouble>, kProcesses> troubles_;
  std::array<std::unique_ptr<Candidate>, kProcesses> candidates_;
};

TEST_F(ManyElectorsTest, AtMostOneLeadsUnderRandomFaults) {
  std::mt19937 random(7);
  const auto one_in = [&](int n) { return std::uniform_int_distribution<int>(1, n)(random) == 1; };
  for (auto& trouble : troubles_) trouble->set_faults(true);
  int led = 0;
  constexpr int kSteps = 3000;  // five minutes
  for (int step = 0; step < kSteps; ++step) {
    Settle();
    const std::vector<size_t> leaders = Leaders();
    ASSERT_LE(leaders.size(), 1u) << "at step " << step;
    led += static_cast<int>(leaders.size());
    // A leader is disconnected about twice a minute; disconnected processes return.
    for (size_t i : leaders) {
      if (one_in(300)) troubles_[i]->set_cut(true);
    }
    for (auto& trouble : troubles_) {
      if (trouble->cut() && one_in(200)) trouble->set_cut(false);
    }
    clock_.Advance(kStep);
  }
  EXPECT_GT(Terms(), 3) << "leadership moved";
  EXPECT_GT(led, kSteps / 10) << "somebody led for some of the time";
}

TEST_F(ManyElectorsTest, AnotherLeadsWithinTheLeaseDurationAndTwoRetryPeriods) {
  for (int round = 0; round < 20; ++round) {
    while (Leaders().empty()) {
      Settle();
      clock_.Advance(kStep);
    }
    Settle();
    const size_t deposed = Leaders().at(0);
    troubles_[deposed]->set_cut(true);
    const auto cut_at = clock_.Monotonic();
    for (;;) {
      Settle();
      const std::vector<size_t> leaders = Leaders();
      ASSERT_LE(leaders.size(), 1u);
      if (!leaders.empty() && leaders[0] != deposed) break;
      ASSERT_LE(clock_.Monotonic() - cut_at, seconds(15 + 2 * 2)) << "in round " << round;
      clock_.Advance(kStep);
    }
    troubles_[deposed]->set_cut(false);
  }
}

}  // namespace
}  // namespace cox::sdk
