// SPDX-License-Identifier: Apache-2.0
#include "coxswain/leader_election.h"

#include <atomic>
#include <limits>

#include "api/core/v1.h"
#include "sdk/testing/lease_harness.h"

namespace cox::sdk {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

LeaderElectionOptions Options(std::string identity) {
  return {.lease = {"ns", "a"}, .identity = std::move(identity)};
}

class LeaderElectorTest : public ::testing::Test {
 protected:
  LeaderElectorTest() = default;

  LeaseSpec Spec() const { return leases_.Read()->spec; }
  // Advances the clock in small steps; before each step, waits until `threads` threads sleep.
  void Pass(Clock::Duration time, size_t threads) {
    for (Clock::Duration passed{}; passed < time; passed += milliseconds(250)) {
      clock_.WaitForWaiters(threads);
      clock_.Advance(milliseconds(250));
    }
    clock_.WaitForWaiters(threads);
  }

  TestClock clock_;
  Context ctx_{clock_};
  FakeLeases leases_;
};

TEST_F(LeaderElectorTest, AcquiresAnAbsentLease) {
  Candidate a(ctx_, leases_, Options("a"));
  EXPECT_FALSE(a.elector().IsLeader());
  EXPECT_EQ(a.elector().leader(), "");
  a.Start();
  a.AwaitLead();
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_EQ(a.elector().leader(), "a");
  EXPECT_EQ(a.elector().term()->ToString(), "ns/a;a;0");
  const LeaseSpec spec = Spec();
  EXPECT_EQ(spec.holderIdentity, "a");
  EXPECT_EQ(spec.leaseDurationSeconds, 15);
  EXPECT_EQ(spec.leaseTransitions, 0);
  EXPECT_EQ(spec.acquireTime->ToString(), "2030-01-02T03:04:05.000000Z");
  EXPECT_EQ(spec.renewTime, spec.acquireTime);
  EXPECT_NE(a.Metrics().find(R"(leader_election_master_status{name="a"} 1)"), std::string::npos);

  // Two threads sleep: the work and the renewal.
  Pass(seconds(3), 2);
  EXPECT_EQ(Spec().renewTime->ToString(), "2030-01-02T03:04:07.000000Z");
  EXPECT_EQ(Spec().acquireTime, spec.acquireTime);
  EXPECT_TRUE(a.elector().Healthy(seconds(0)).ok());
}

TEST_F(LeaderElectorTest, ReleasesTheLeaseAfterItsWorkHasEnded) {
  Candidate a(ctx_, leases_, Options("a"));
  a.on_end = [&](Context&) {
    EXPECT_EQ(Spec().holderIdentity, "a") << "not before";
    EXPECT_TRUE(a.elector().IsLeader()) << "what it finishes may be written";
  };
  a.Start();
  a.AwaitLead();
  a.Stop();
  a.Join();
  EXPECT_TRUE(a.AwaitEnd().ok());
  EXPECT_FALSE(a.elector().IsLeader());
  EXPECT_EQ(Spec().holderIdentity, "");
  EXPECT_EQ(Spec().leaseDurationSeconds, 1);
  EXPECT_EQ(Spec().leaseTransitions, 0);
  EXPECT_NE(a.Metrics().find(R"(leader_election_master_status{name="a"} 0)"), std::string::npos);

  // The next candidate does not wait, and has a new term.
  Candidate b(ctx_, leases_, Options("b"));
  b.Start();
  b.AwaitLead();
  EXPECT_EQ(b.elector().term()->transitions, 1);
}

TEST_F(LeaderElectorTest, KeepsTheLeaseWithoutReleaseOnStop) {
  LeaderElectionOptions options = Options("a");
  options.release_on_stop = false;
  Candidate a(ctx_, leases_, options);
  a.Start();
  a.AwaitLead();
  a.Stop();
  a.Join();
  EXPECT_EQ(Spec().holderIdentity, "a");
}

// Another participant, for example client-go's, renews for some time and then stops.
TEST_F(LeaderElectorTest, RespectsAnotherHolderByTheLocalClock) {
  int renewals = 0;
  const auto renew = [&](Lease& lease) {
    lease.spec.holderIdentity = "other";
    lease.spec.leaseDurationSeconds = 5;
    lease.spec.leaseTransitions = 41;
    lease.spec.strategy = "OldestEmulationVersion";
    // The time in the Lease is wrong by years, which does not matter.
    lease.spec.renewTime = MicroTime::FromUnix(++renewals);
  };
  leases_.Write(renew);
  Candidate a(ctx_, leases_, Options("a"));
  a.Start();
  for (int i = 0; i < 5; ++i) {
    Pass(seconds(4), 1);
    leases_.Write(renew);
    EXPECT_FALSE(a.leads());
  }
  EXPECT_EQ(a.elector().leader(), "other");
  // The change is observed after at most a retry period with jitter, and counts for 5 s from then.
  Pass(seconds(4), 1);
  EXPECT_FALSE(a.leads());
  for (int i = 0; i < 20 && !a.leads(); ++i) {
    clock_.WaitForWaiters(1);
    clock_.Advance(milliseconds(250));
  }
  a.AwaitLead();
  EXPECT_EQ(Spec().leaseTransitions, 42);
  EXPECT_EQ(Spec().leaseDurationSeconds, 15);
  EXPECT_EQ(Spec().strategy, "OldestEmulationVersion") << "left alone";
}

TEST_F(LeaderElectorTest, OwnIdentityInTheLeaseStartsANewTermAtOnce) {
  leases_.Write([](Lease& lease) {
    lease.spec.holderIdentity = "a";
    lease.spec.leaseDurationSeconds = 15;
    lease.spec.leaseTransitions = 3;
  });
  Candidate a(ctx_, leases_, Options("a"));
  a.Start();
  a.AwaitLead();
  EXPECT_EQ(a.elector().term()->transitions, 4);
}

TEST_F(LeaderElectorTest, InvalidTransitionsRestartAtZero) {
  for (const int32_t last : {std::numeric_limits<int32_t>::max(), -7}) {
    leases_.Write([last](Lease& lease) {
      lease.spec.holderIdentity = "";
      lease.spec.leaseTransitions = last;
    });
    Candidate a(ctx_, leases_, Options("a"));
    a.Start();
    a.AwaitLead();
    EXPECT_EQ(a.elector().term()->transitions, 0);
    a.Stop();
    a.Join();
  }
}

TEST_F(LeaderElectorTest, TermEndsIfRenewalFailsMeasuredFromBeforeTheRequest) {
  std::atomic<bool> cut = false;
  Candidate a(ctx_, leases_, Options("a"),
              [&](Context&, const Operation& operation, FakeLeases& leases) -> Result<Object> {
                if (cut) return Status::Unavailable("cut");
                return leases.Execute(operation);
              });
  a.Start();
  a.AwaitLead();
  Pass(seconds(2), 2);  // renewed once, at 2 s
  cut = true;
  Pass(milliseconds(9750), 2);
  EXPECT_TRUE(a.elector().IsLeader());
  clock_.Advance(milliseconds(250));
  EXPECT_FALSE(a.elector().IsLeader());
  const Status why = a.AwaitEnd();
  EXPECT_TRUE(why.Is(Reason::kTimeout) && IsDeposed(why)) << why.ToString();
  EXPECT_NE(why.message().find("within 10s: cut"), std::string::npos) << why.message();
  EXPECT_EQ(Spec().holderIdentity, "a") << "what is not ours is not given back";
}

// The process is stopped during a renewal, and receives the response too late.
TEST_F(LeaderElectorTest, LateResponseDoesNotRestoreATerm) {
  std::atomic<bool> slow = false;
  Candidate a(ctx_, leases_, Options("a"),
              [&](Context&, const Operation& operation, FakeLeases& leases) -> Result<Object> {
                Result<Object> answer = leases.Execute(operation);
                if (slow.exchange(false)) {
                  Context deaf(clock_);
                  (void)deaf.Sleep(seconds(12));
                }
                return answer;
              });
  a.Start();
  a.AwaitLead();
  clock_.WaitForWaiters(2);
  slow = true;
  clock_.Advance(seconds(2));  // the renewal is sent
  clock_.WaitForWaiters(2);
  clock_.Advance(seconds(8));
  EXPECT_FALSE(a.elector().IsLeader());
  clock_.Advance(seconds(4));
  EXPECT_TRUE(IsDeposed(a.AwaitEnd()));
  EXPECT_EQ(Spec().renewTime->ToString(), "2030-01-02T03:04:07.000000Z") << "it was stored";
}

TEST_F(LeaderElectorTest, RenewsAfterALostResponseAndAnEditOfTheLease) {
  std::atomic<int> lose = 0;
  Candidate a(ctx_, leases_, Options("a"),
              [&](Context&, const Operation& operation, FakeLeases& leases) -> Result<Object> {
                Result<Object> answer = leases.Execute(operation);
                if (operation.verb == Operation::Verb::kUpdate && lose-- > 0) {
                  return Status::Unavailable("lost");
                }
                return answer;
              });
  a.Start();
  a.AwaitLead();
  lose = 1;
  Pass(seconds(3), 2);
  leases_.Write([](Lease& lease) { lease.metadata.annotations["note"] = "by hand"; });
  Pass(seconds(20), 2);
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_EQ(a.elector().term()->transitions, 0);
  EXPECT_EQ(leases_.Read()->metadata.annotations["note"], "by hand");
  EXPECT_NE(a.Metrics().find(R"(leader_election_slowpath_total{name="a"} 2)"), std::string::npos)
      << a.Metrics();
}

TEST_F(LeaderElectorTest, AnotherTermInTheLeaseEndsTheTermAtOnce) {
  const struct {
    const char* what;
    std::function<void(FakeLeases&)> change;
  } kCases[] = {
      {"another holds it",
       [](FakeLeases& leases) {
         leases.Write([](Lease& lease) {
           lease.spec.holderIdentity = "b";
           lease.spec.leaseTransitions = 1;
         });
       }},
      {"another held it, and gave it back",
       [](FakeLeases& leases) {
         leases.Write([](Lease& lease) {
           lease.spec.holderIdentity = "";
           lease.spec.leaseTransitions = 1;
         });
       }},
      {"one of the same name holds it",
       [](FakeLeases& leases) {
         leases.Write([](Lease& lease) { lease.spec.leaseTransitions = 1; });
       }},
      {"it is gone", [](FakeLeases& leases) { leases.Remove(); }},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    FakeLeases leases;
    Context ctx = ctx_.Child();
    Candidate a(ctx, leases, Options("a"));
    a.Start();
    a.AwaitLead();
    clock_.WaitForWaiters(2);
    c.change(leases);
    clock_.Advance(seconds(2));
    EXPECT_TRUE(IsDeposed(a.AwaitEnd()));
    EXPECT_FALSE(a.elector().IsLeader());
    ctx.Stop();
    a.Join();
  }
}

TEST_F(LeaderElectorTest, TermNumbersContinueAfterTheLeaseIsDeleted) {
  Candidate a(ctx_, leases_, Options("a"));
  a.Start(/*again=*/true);
  a.AwaitLead();
  clock_.WaitForWaiters(2);
  leases_.Remove();
  clock_.Advance(seconds(2));
  while (a.terms() < 2) {
    if (clock_.waiters() > 0) clock_.Advance(milliseconds(250));
    std::this_thread::yield();
  }
  a.AwaitLead();
  EXPECT_EQ(a.elector().term()->transitions, 1);
}

TEST_F(LeaderElectorTest, RejectedFencedWriteEndsTheTerm) {
  Candidate a(ctx_, leases_, Options("a"),
              [](Context&, const Operation& operation, FakeLeases& leases) -> Result<Object> {
                if (operation.resource.plural == "leases") return leases.Execute(operation);
                EXPECT_EQ(operation.headers.Get(kFencingHeader), "ns/a;a;0");
                return DeposedStatus(Reason::kConflict, "over");
              });
  const std::unique_ptr<Client> fenced = a.elector().FencedClient(a.client());
  const Resource maps = Resource::Of<core::v1::ConfigMap>();
  const auto write = [&] {
    return fenced->Execute(ctx_, {.verb = Operation::Verb::kDelete, .resource = maps}).status();
  };
  const Status before = write();
  EXPECT_TRUE(IsDeposed(before));
  EXPECT_EQ(before.message(), "a does not hold Lease ns/a");
  a.Start();
  a.AwaitLead();
  EXPECT_EQ(write().message(), "over");
  EXPECT_TRUE(IsDeposed(a.AwaitEnd()));
}

TEST_F(LeaderElectorTest, IsUnhealthyIfTheWorkDoesNotEnd) {
  std::atomic<bool> cut = false;
  Candidate a(ctx_, leases_, Options("a"),
              [&](Context&, const Operation& operation, FakeLeases& leases) -> Result<Object> {
                if (cut) return Status::Unavailable("cut");
                return leases.Execute(operation);
              });
  Context release(clock_);
  a.on_end = [&](Context&) { (void)release.Sleep(std::chrono::hours(10)); };
  a.Start();
  a.AwaitLead();
  cut = true;
  Pass(milliseconds(9750), 2);
  clock_.Advance(milliseconds(250));
  EXPECT_TRUE(a.elector().Healthy(seconds(20)).ok());
  clock_.Advance(seconds(21));
  const Status sick = a.elector().Healthy(seconds(20));
  EXPECT_NE(sick.message().find("has been over for 21s"), std::string::npos) << sick.ToString();
  release.Stop();
  (void)a.AwaitEnd();
  EXPECT_TRUE(a.elector().Healthy(seconds(20)).ok());
}

TEST_F(LeaderElectorTest, RejectsInconsistentOptions) {
  const struct {
    int lease, renew, retry;
    std::string identity;
    std::string_view says;
  } kCases[] = {
      {10, 10, 2, "a", "lease_duration must be greater"},
      {15, 12, 10, "a", "renew_deadline must be greater"},
      {15, 10, 0, "a", "retry_period must be greater"},
      {15, 10, 2, "a b", "visible ASCII"},
      {15, 10, 2, std::string(513, 'a'), "visible ASCII"},
  };
  FunctionClient client;
  for (const auto& c : kCases) {
    auto elector = LeaderElector::Create(client, {.lease = {"ns", "a"},
                                                  .identity = c.identity,
                                                  .lease_duration = seconds(c.lease),
                                                  .renew_deadline = seconds(c.renew),
                                                  .retry_period = seconds(c.retry)});
    const Status refused = elector->Run(ctx_, [](Context&) { FAIL(); });
    EXPECT_TRUE(refused.Is(Reason::kBadRequest));
    EXPECT_NE(refused.message().find(c.says), std::string::npos) << refused.message();
  }
  auto elector = LeaderElector::Create(client, {.lease = {"", "a"}});
  EXPECT_TRUE(elector->Run(ctx_, [](Context&) {}).Is(Reason::kBadRequest));
  EXPECT_NE(elector->identity().find('_'), std::string::npos);
}

}  // namespace
}  // namespace cox::sdk
