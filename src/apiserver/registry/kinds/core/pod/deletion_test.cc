// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <sstream>

#include "apiserver/registry/kinds/core/pod/strategy.h"
#include "apiserver/registry/store/store.h"
#include "apiserver/testing/test_pods.h"
#include "base/testing/test_clock.h"
#include "storage/memory/memory_store.h"
#include "storage/testing/faulty_store.h"

// The graceful deletion of Pods: every combination of Pod state, pending deletion, requested grace
// period, precondition and finalizer.
namespace cox::apiserver {
namespace {

using core::v1::Pod;

constexpr int64_t kDeletedAt = 1'700'000'000;
constexpr int64_t kPending = 600;     // the grace period of a pending deletion
constexpr int64_t kPendingFor = 100;  // seconds since that deletion began

enum class PodState { kUnscheduled, kRunning, kSucceeded, kFailed };
enum class Before { kNotDeleted, kPending, kGracePeriodEnded };
enum class Precondition { kNone, kUid, kVersion, kOtherUid, kOtherVersion };

constexpr PodState kStates[] = {PodState::kUnscheduled, PodState::kRunning, PodState::kSucceeded,
                                PodState::kFailed};
constexpr Precondition kPreconditions[] = {Precondition::kNone, Precondition::kUid,
                                           Precondition::kVersion, Precondition::kOtherUid,
                                           Precondition::kOtherVersion};

struct DeletionOutcome {
  enum { kUnchanged, kGrace, kRemoved } what;
  int64_t grace = 0;    // deletionGracePeriodSeconds
  int64_t ends_in = 0;  // deletionTimestamp, in seconds from now
};

constexpr DeletionOutcome kUnchanged{DeletionOutcome::kUnchanged};
constexpr DeletionOutcome kRemoved{DeletionOutcome::kRemoved};
constexpr DeletionOutcome Grace(int64_t grace, int64_t ends_in) {
  return {DeletionOutcome::kGrace, grace, ends_in};
}

struct DeletionCase {
  std::optional<int64_t> requested;
  DeletionOutcome outcome;
};

// A running Pod whose terminationGracePeriodSeconds is 30.
constexpr DeletionCase kRunningCases[] = {
    {std::nullopt, Grace(30, 30)}, {-1, Grace(1, 1)}, {0, kRemoved}, {5, Grace(5, 5)},
    {700, Grace(700, 700)},
};
// No process is running.
constexpr DeletionCase kStoppedCases[] = {
    {std::nullopt, kRemoved}, {-1, kRemoved}, {0, kRemoved}, {5, kRemoved}, {700, kRemoved},
};
// A pending deletion of any Pod is only shortened, and never ends in the past.
constexpr DeletionCase kPendingCases[] = {
    {std::nullopt, kUnchanged},
    {-1, Grace(1, 0)},
    {0, kRemoved},
    {5, Grace(5, 0)},
    {kPendingFor, Grace(kPendingFor, 0)},
    {200, Grace(200, 200 - kPendingFor)},
    {kPending - 1, Grace(kPending - 1, kPending - 1 - kPendingFor)},
    {kPending, kUnchanged},
    {700, kUnchanged},
};
constexpr DeletionCase kWaitingForFinalizersCases[] = {
    {std::nullopt, kUnchanged}, {-1, kUnchanged}, {0, kUnchanged}, {5, kUnchanged},
    {700, kUnchanged},
};
// The request that ended the grace period could not remove the Pod.
constexpr DeletionCase kNotRemovedCases[] = {
    {std::nullopt, kRemoved}, {-1, kRemoved}, {0, kRemoved}, {5, kRemoved}, {700, kRemoved},
};

std::span<const DeletionCase> CasesOf(PodState state, Before before, bool has_finalizer) {
  if (before == Before::kPending) return kPendingCases;
  if (before == Before::kGracePeriodEnded) {
    return has_finalizer ? std::span<const DeletionCase>(kWaitingForFinalizersCases)
                         : kNotRemovedCases;
  }
  if (state == PodState::kRunning) return kRunningCases;
  return kStoppedCases;
}

class PodDeletionTest : public ::testing::Test {
 protected:
  static Time At(int64_t seconds) { return Time::FromUnix(kDeletedAt + seconds); }
  WriteContext W(bool dry_run = false) { return {ctx_, user_, At(0), dry_run}; }
  ResourceStore& store() { return *store_; }

  // A new Pod with that state.
  Object Stored(PodState state, Before before, bool has_finalizer) {
    Pod pod = PodWith(state == PodState::kUnscheduled ? "" : R"("nodeName":"n")");
    pod.metadata.name = "p" + std::to_string(++pods_);
    pod.metadata.namespace_ = "ns";
    if (has_finalizer) pod.metadata.finalizers = {"example.com/a"};
    Result<Object> created = store().Create(W(), Object::Of(std::move(pod)), nullptr);
    EXPECT_TRUE(created.ok()) << created.status().message();
    // The rest is written to storage, because not every combination can be reached by requests.
    Pod& p = *created->As<Pod>();
    if (state == PodState::kRunning) p.status.phase = "Running";
    if (state == PodState::kSucceeded) p.status.phase = "Succeeded";
    if (state == PodState::kFailed) p.status.phase = "Failed";
    if (before == Before::kPending) {
      p.metadata.deletionTimestamp = At(kPending - kPendingFor);
      p.metadata.deletionGracePeriodSeconds = kPending;
    }
    if (before == Before::kGracePeriodEnded) {
      p.metadata.deletionTimestamp = At(-kPendingFor);
      p.metadata.deletionGracePeriodSeconds = 0;
    }
    Result<storage::WriteResult> written =
        storage_->Update(ctx_, store().Key("ns", p.metadata.name), store().Encode(*created),
                         *ParseResourceVersion(p.metadata.resourceVersion), {});
    EXPECT_TRUE(written.ok() && written->written);
    return *Get(*created);
  }

  Result<ResourceStore::DeleteResult> Delete(const Object& pod,
                                             const meta::v1::DeleteOptions& options,
                                             bool dry_run = false) {
    return store().Delete(W(dry_run), "ns", pod.object_meta()->name, options, nullptr);
  }
  Result<Object> Get(const Object& pod) { return store().Get(ctx_, "ns", pod.object_meta()->name); }

  static meta::v1::DeleteOptions Options(std::optional<int64_t> grace, Precondition precondition,
                                         const Object& pod) {
    meta::v1::DeleteOptions options;
    options.gracePeriodSeconds = grace;
    if (precondition == Precondition::kNone) return options;
    options.preconditions.emplace();
    const meta::v1::ObjectMeta& meta = *pod.object_meta();
    if (precondition == Precondition::kUid) options.preconditions->uid = meta.uid;
    if (precondition == Precondition::kOtherUid) options.preconditions->uid = "other";
    if (precondition == Precondition::kVersion) {
      options.preconditions->resourceVersion = meta.resourceVersion;
    }
    if (precondition == Precondition::kOtherVersion) options.preconditions->resourceVersion = "1";
    return options;
  }

  // Checks the stored Pod after a deletion.
  void ExpectOutcome(const Object& before, const DeletionOutcome& outcome, bool has_finalizer) {
    Result<Object> after = Get(before);
    if (outcome.what == DeletionOutcome::kRemoved && !has_finalizer) {
      EXPECT_TRUE(after.status().Is(Reason::kNotFound));
      return;
    }
    ASSERT_TRUE(after.ok()) << after.status().message();
    if (outcome.what == DeletionOutcome::kUnchanged) {
      EXPECT_EQ(after->object_meta()->resourceVersion, before.object_meta()->resourceVersion);
      return;
    }
    const meta::v1::ObjectMeta& meta = *after->object_meta();
    EXPECT_EQ(meta.deletionGracePeriodSeconds, outcome.grace);
    EXPECT_EQ(meta.deletionTimestamp, At(outcome.ends_in));
    const bool was_deleted = before.object_meta()->deletionTimestamp.has_value();
    EXPECT_EQ(meta.generation, before.object_meta()->generation + (was_deleted ? 0 : 1));
  }

  const StrategyPtr strategy_ = NewPodStrategy();
  TestClock clock_;
  Context ctx_{clock_};
  UserInfo user_;
  const std::unique_ptr<storage::Store> storage_ = storage::NewMemoryStore(clock_);
  const std::unique_ptr<ResourceStore> store_ = std::make_unique<ResourceStore>(
      ResourceStore::Options{.strategy = strategy_.get(), .storage = storage_.get()});
  int pods_ = 0;
};

TEST_F(PodDeletionTest, GracePeriodOfEveryCombination) {
  int combinations = 0;
  for (const PodState state : kStates) {
    for (const Before before : {Before::kNotDeleted, Before::kPending, Before::kGracePeriodEnded}) {
      for (const bool has_finalizer : {false, true}) {
        for (const DeletionCase& c : CasesOf(state, before, has_finalizer)) {
          for (const Precondition precondition : kPreconditions) {
            std::ostringstream trace;
            trace << "state " << int(state) << ", before " << int(before) << ", requested "
                  << c.requested.value_or(-100) << ", precondition " << int(precondition)
                  << ", finalizer " << has_finalizer;
            SCOPED_TRACE(trace.str());
            ++combinations;
            const Object pod = Stored(state, before, has_finalizer);
            Result<ResourceStore::DeleteResult> deleted =
                Delete(pod, Options(c.requested, precondition, pod));
            const bool fails = precondition == Precondition::kOtherUid ||
                               precondition == Precondition::kOtherVersion;
            if (fails) {
              EXPECT_TRUE(deleted.status().Is(Reason::kConflict));
              ExpectOutcome(pod, kUnchanged, has_finalizer);
              continue;
            }
            ASSERT_TRUE(deleted.ok()) << deleted.status().message();
            EXPECT_EQ(deleted->gone, c.outcome.what == DeletionOutcome::kRemoved && !has_finalizer);
            ExpectOutcome(pod, c.outcome, has_finalizer);
          }
        }
      }
    }
  }
  EXPECT_EQ(combinations, 4 * (5 + 9 + 5) * 5 * 2);
}

TEST_F(PodDeletionTest, RequestsWithoutEffectKeepPropagationPolicy) {
  const Object pod = Stored(PodState::kRunning, Before::kPending, /*has_finalizer=*/false);
  meta::v1::DeleteOptions options;
  options.propagationPolicy = "Foreground";
  ASSERT_TRUE(Delete(pod, options).ok());
  EXPECT_TRUE(Get(pod)->object_meta()->finalizers.empty());
  // With a shorter grace period, the policy is set too.
  options.gracePeriodSeconds = 0;
  ASSERT_TRUE(Delete(pod, options).ok());
  EXPECT_THAT(Get(pod)->object_meta()->finalizers, ::testing::ElementsAre("foregroundDeletion"));
}

// The removal fails if another client changes the Pod after the end of the grace period was written
// and the request requires a version. The next request removes it.
TEST_F(PodDeletionTest, DeletionThatLostARaceCanBeRepeated) {
  const Object pod = Stored(PodState::kUnscheduled, Before::kNotDeleted, /*has_finalizer=*/false);
  storage::FaultyStore racing(*storage_);
  ResourceStore store({.strategy = strategy_.get(), .storage = &racing});
  racing.OnNextDelete([&] {
    Object marked = *Get(pod);
    marked.As<Pod>()->status.phase = "Failed";
    const meta::v1::ObjectMeta& meta = *marked.object_meta();
    const storage::Revision version = *ParseResourceVersion(meta.resourceVersion);
    const std::string key = store.Key(meta.namespace_, meta.name);
    ASSERT_TRUE(storage_->Update(ctx_, key, store.Encode(marked), version, {})->written);
  });
  const auto lost = store.Delete(W(), "ns", pod.object_meta()->name,
                                 Options(std::nullopt, Precondition::kVersion, pod), nullptr);
  EXPECT_TRUE(lost.status().Is(Reason::kConflict)) << lost.status().ToString();
  ASSERT_TRUE(Get(pod).ok());
  ASSERT_TRUE(Delete(pod, Options(0, Precondition::kUid, pod))->gone);
  EXPECT_TRUE(Get(pod).status().Is(Reason::kNotFound));
}

TEST_F(PodDeletionTest, WatchersReceiveEndOfGracePeriodBeforeRemoval) {
  for (const Before before : {Before::kNotDeleted, Before::kPending}) {
    const Object pod = Stored(PodState::kRunning, before, /*has_finalizer=*/false);
    Result<storage::Revision> now = storage_->CurrentRevision(ctx_);
    auto watch = storage_->StartWatch(ctx_, "/registry/pods/", *now);
    ASSERT_TRUE(watch.ok());
    ASSERT_TRUE(Delete(pod, Options(0, Precondition::kVersion, pod))->gone);
    std::vector<storage::Event> events;
    while (events.size() < 2) {
      Result<storage::WatchBatch> batch = (*watch)->Next(ctx_);
      ASSERT_TRUE(batch.ok());
      for (storage::Event& event : batch->events) events.push_back(std::move(event));
    }
    EXPECT_EQ(events[0].type, storage::Event::Type::kPut);
    EXPECT_EQ(events[1].type, storage::Event::Type::kDelete);
  }
}

TEST_F(PodDeletionTest, DryRunChangesNothing) {
  for (const PodState state : kStates) {
    const Object pod = Stored(state, Before::kPending, /*has_finalizer=*/false);
    for (const std::optional<int64_t> grace : {std::optional<int64_t>(), {5}, {0}}) {
      ASSERT_TRUE(Delete(pod, Options(grace, Precondition::kVersion, pod), /*dry_run=*/true).ok());
      ExpectOutcome(pod, kUnchanged, /*has_finalizer=*/false);
    }
  }
}

}  // namespace
}  // namespace cox::apiserver
