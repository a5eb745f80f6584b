// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fencing/fencing.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "api/coordination/v1.h"
#include "api/core/v1.h"
#include "apiserver/filters/fencing/fenced_store.h"
#include "apiserver/testing/call_harness.h"
#include "coxswain/fencing.h"

namespace cox::apiserver {
namespace {

using testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
constexpr char kLease[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/x";

// Allows or forbids reading Leases, and records the request.
class LeaseAuthorizer final : public Authorizer {
 public:
  Decision Decide(const UserInfo&, const RequestInfo& request, const Selectors&) const override {
    asked = request.verb + " " + request.resource + "." + request.group + " " + request.namespace_ +
            "/" + request.name;
    return {may_read, "by test"};
  }
  UserRules Rules(const UserInfo&, std::string_view) const override { return {}; }

  bool may_read = true;
  mutable std::string asked;
};

// Counts operations, and can change the Lease between the check and the write, to test that the
// write itself compares the guard.
class ObservedStore final : public storage::Store {
 public:
  explicit ObservedStore(storage::Store& under) : under_(under) {}

  Result<storage::WriteResult> WriteGuarded(Context& ctx, const storage::GuardedWrite& write,
                                            const storage::Guard& guard) override {
    ++guarded_writes;
    if (before_write) before_write();
    return under_.WriteGuarded(ctx, write, guard);
  }
  const void* key_space() const override { return under_.key_space(); }

  Result<storage::Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                                   std::chrono::seconds ttl) override {
    return under_.Create(ctx, key, value, ttl);
  }
  Result<storage::WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                                      storage::Revision expected,
                                      std::chrono::seconds ttl) override {
    return under_.Update(ctx, key, value, expected, ttl);
  }
  Result<storage::WriteResult> Delete(Context& ctx, std::string_view key,
                                      storage::Revision expected) override {
    return under_.Delete(ctx, key, expected);
  }
  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    if (key.starts_with("/registry/leases/")) ++lease_reads;
    return under_.Get(ctx, key);
  }
  Result<storage::Page> List(Context& ctx, std::string_view prefix,
                             const storage::ListOptions& options) override {
    return under_.List(ctx, prefix, options);
  }
  Result<std::unique_ptr<storage::Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                                     storage::Revision after) override {
    return under_.StartWatch(ctx, prefix, after);
  }
  Result<storage::Revision> CurrentRevision(Context& ctx) override {
    return under_.CurrentRevision(ctx);
  }
  Status Compact(Context& ctx, storage::Revision revision) override {
    return under_.Compact(ctx, revision);
  }
  Status Healthy(Context& ctx) override { return under_.Healthy(ctx); }

  std::function<void()> before_write;
  std::atomic<int> guarded_writes = 0;
  std::atomic<int> lease_reads = 0;

 private:
  storage::Store& under_;
};

// A watch cache that does not advance while it is frozen.
class FreezableCache final : public storage::WatchCache {
 public:
  explicit FreezableCache(storage::WatchCache& under) : under_(under) {}

  void Freeze() { frozen_ = under_.Current(); }
  storage::SnapshotPtr Current() const override {
    return frozen_ != nullptr ? frozen_ : under_.Current();
  }

  void End() override { under_.End(); }
  Status WaitReady(Context& ctx) override { return under_.WaitReady(ctx); }
  bool ready() const override { return under_.ready(); }
  Result<storage::SnapshotPtr> Read(Context& ctx, const storage::Freshness& freshness) override {
    return under_.Read(ctx, freshness);
  }
  Result<storage::Selection> ReadByField(Context& ctx, const storage::Freshness& freshness,
                                         std::string_view value) override {
    return under_.ReadByField(ctx, freshness, value);
  }
  Status WaitFor(Context& ctx, storage::Revision revision) override {
    return under_.WaitFor(ctx, revision);
  }
  Result<std::unique_ptr<storage::Watcher>> Watch(storage::WatchOptions options) override {
    return under_.Watch(std::move(options));
  }
  Stats stats() const override { return under_.stats(); }

 private:
  storage::WatchCache& under_;
  storage::SnapshotPtr frozen_;
};

// Like ApiHarness, over a fenced store.
class FencingTest : public ::testing::Test {
 protected:
  FencingTest() {
    fencing_.set_leases(registry_.Hub(coordination::v1::Lease::kKind).store());
    EXPECT_TRUE(registry_.WaitReady(ctx_).ok());
    Prepare("/api/v1/namespaces", R"({"metadata":{"name":"default"}})");
    Prepare("/apis/coordination.k8s.io/v1/namespaces/default/leases",
            R"({"metadata":{"name":"x"},"spec":{"holderIdentity":"a","leaseTransitions":3,
                "leaseDurationSeconds":15}})");
    Prepare(kMaps, R"({"metadata":{"name":"m"}})");
    WaitForCache();
  }
  // Threads that wait for the clock would never return.
  ~FencingTest() override { ctx_.Stop(); }

  void Prepare(std::string target, std::string body) {
    EXPECT_EQ(Do({.method = "POST", .target = std::move(target), .body = std::move(body)}, {}),
              "201");
  }

  // Executes the request like the chain: returns "200", or the code and the message.
  std::string Do(FakeRequest request, std::vector<std::string> tokens = {"default/x;a;3"}) {
    for (std::string& token : tokens) {
      request.headers.Add(std::string(kFencingHeader), std::move(token));
    }
    if (request.method == "PATCH") {
      request.headers.Add("content-type", "application/merge-patch+json");
    }
    FakeCall call(clock_, std::move(request));
    call->user.name = user_;
    if (Fencing::Concerns(*call)) {
      const Status entered = fencing_.Enter(*call);
      if (!entered.ok()) {
        EXPECT_EQ(IsDeposed(entered), entered.Is(Reason::kConflict));
        return std::to_string(entered.code()) + " " + entered.message();
      }
      if (meanwhile_) meanwhile_();
    }
    HandleResource(handlers_, call.shared());
    const int code = call.exchange().status();
    return std::to_string(code) + (code >= 400 ? " " + call.exchange().Body() : "");
  }
  std::string Patch(std::vector<std::string> tokens) {
    return Do({.method = "PATCH",
               .target = std::string(kMaps) + "/m",
               .body = R"({"data":{"n":")" + std::to_string(++patches_) + R"("}})"},
              std::move(tokens));
  }
  void ChangeLease(const std::string& spec) {
    EXPECT_EQ(Do({.method = "PATCH", .target = kLease, .body = R"({"spec":)" + spec + "}"}, {}),
              "200");
  }

  ResourceStore& leases() { return registry_.Hub(coordination::v1::Lease::kKind).store(); }
  // Waits until the watch cache has the Lease as it is stored.
  void WaitForCache() {
    const Result<storage::KeyValue> stored = leases().GetStored(ctx_, "default", "x");
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
    ASSERT_TRUE(leases().cache()->WaitFor(ctx_, stored->revision).ok());
  }
  // From now on, the cache has the Lease as it is stored at this time.
  void FreezeCache() {
    WaitForCache();
    cache_.emplace(*leases().cache());
    cache_->Freeze();
    leases().set_cache(&*cache_);
  }
  // Number of reads of the Lease during `action`.
  int LeaseReads(const std::function<void()>& action) {
    const int before = observed_.lease_reads;
    action();
    return observed_.lease_reads - before;
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::optional<FreezableCache> cache_;
  const std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore(clock_);
  LeaseAuthorizer authorizer_;
  std::string user_ = "user";
  Fencing fencing_{authorizer_};
  ObservedStore observed_{*store_};
  const std::unique_ptr<storage::Store> fenced_ = NewFencedStore(observed_, fencing_);
  Registry registry_{ctx_,
                     {.storage = [this](const KindInfo&) -> storage::Store& { return *fenced_; },
                      .serves =
                          [](const KindInfo& kind) {
                            return IsServedByDefault(kind.group, kind.version, kind.plural);
                          }}};
  const AdmissionChain admission_ =
      MakeAdmission({.registry = registry_, .authorizer = authorizer_}, {}, {"ServiceAccount"});
  ResourceHandlers handlers_{registry_, admission_};
  std::function<void()> meanwhile_;
  int patches_ = 0;
};

TEST_F(FencingTest, WritesOfCurrentTermSucceed) {
  EXPECT_EQ(Patch({"default/x;a;3"}), "200");
  EXPECT_EQ(authorizer_.asked, "get leases.coordination.k8s.io default/x");
  EXPECT_EQ(Do({.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"n"}})"}), "201");
  EXPECT_EQ(Do({.method = "DELETE", .target = std::string(kMaps) + "/n"}), "200");
}

TEST_F(FencingTest, WritesOfOtherTermsAreConflictsWithReason) {
  const struct {
    std::string_view token, says;
  } kCases[] = {
      {"default/x;a;2", R"(409 term 2 of "a" in Lease default/x is over: term 3 is that of "a")"},
      {"default/x;b;3", R"(409 term 3 of "b" in Lease default/x is over: term 3 is that of "a")"},
      {"default/x;a;4", R"(409 term 4 of "a" in Lease default/x is over)"},
      {"default/y;a;3", R"(409 term 3 of "a" in Lease default/y is over: there is no such Lease)"},
      {"other/x;a;3", R"(409 term 3 of "a" in Lease other/x is over: there is no such Lease)"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Patch({std::string(c.token)}), HasSubstr(c.says));
  }
  ChangeLease(R"({"holderIdentity":""})");
  EXPECT_THAT(Patch({"default/x;a;3"}), HasSubstr("is over: it was given back"));
}

TEST_F(FencingTest, MalformedHeaderIsBadRequest) {
  EXPECT_THAT(Patch({""}), HasSubstr("400 malformed coxswain-fencing header"));
  EXPECT_THAT(Patch({"x;a;3"}), HasSubstr("400 malformed"));
  EXPECT_THAT(Patch({"default/x;a;3", "default/x;a;3"}), HasSubstr("400 more than one"));
}

TEST_F(FencingTest, ForbiddenUserLearnsNothingAboutLease) {
  authorizer_.may_read = false;
  const std::string refused = Patch({"default/x;a;3"});
  EXPECT_THAT(refused, HasSubstr("403 leases.coordination.k8s.io \"x\" is forbidden"));
  EXPECT_EQ(Patch({"default/x;b;3"}), refused) << "the same for a wrong guess";
}

TEST_F(FencingTest, ServiceAccountsOfNamespaceMayUseItsLeases) {
  authorizer_.may_read = false;
  user_ = "system:serviceaccount:default:controller";
  EXPECT_EQ(Patch({"default/x;a;3"}), "200");
  const auto over = [](const std::string& term) { return "409 " + term + " is over"; };
  EXPECT_EQ(Patch({"default/x;b;3"}), over("term 3 of \"b\" in Lease default/x"));
  EXPECT_EQ(Patch({"default/y;b;3"}), over("term 3 of \"b\" in Lease default/y"))
      << "also whether there is one they are not told";
  meanwhile_ = [&] { ChangeLease(R"({"holderIdentity":"secret"})"); };
  EXPECT_THAT(Patch({"default/x;a;3"}),
              testing::AllOf(HasSubstr("is over"), testing::Not(HasSubstr("secret"))));
  meanwhile_ = nullptr;
  user_ = "system:serviceaccount:other:controller";
  EXPECT_THAT(Patch({"default/x;a;3"}), HasSubstr("403"));
}

TEST_F(FencingTest, AppliesToWritesOnly) {
  const std::vector<std::string> wrong = {"default/x;b;9"};
  EXPECT_EQ(Do({.target = std::string(kMaps) + "/m"}, wrong), "200");
  EXPECT_EQ(Do({.target = kMaps}, wrong), "200");
  EXPECT_EQ(Patch({}), "200") << "and those with the header";
  FakeCall call(clock_, {.method = "POST", .target = "/healthz"});
  EXPECT_FALSE(Fencing::Concerns(*call));
}

// The check in the chain has passed, but the term ends before the write, for example during an
// admission webhook: the store rejects the write.
TEST_F(FencingTest, TermThatEndsDuringRequestIsDetectedInTransaction) {
  const struct {
    const char* what;
    FakeRequest request;
  } kCases[] = {
      {"update",
       {.method = "PATCH",
        .target = std::string(kMaps) + "/m",
        .body = R"({"data":{"late":"1"}})"}},
      {"create", {.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"late"}})"}},
      {"delete", {.method = "DELETE", .target = std::string(kMaps) + "/m"}},
      {"deletecollection", {.method = "DELETE", .target = kMaps}},
  };
  int term = 3;
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.what);
    const std::string token = "default/x;a;" + std::to_string(term);
    ++term;
    meanwhile_ = [&] { ChangeLease(R"({"leaseTransitions":)" + std::to_string(term) + "}"); };
    EXPECT_THAT(Do(c.request, {token}), testing::AllOf(HasSubstr("409"), HasSubstr("is over")));
  }
  meanwhile_ = nullptr;
  EXPECT_EQ(Do({.target = std::string(kMaps) + "/m"}, {}), "200");
  EXPECT_EQ(Do({.target = std::string(kMaps) + "/late"}, {}).substr(0, 3), "404");
}

TEST_F(FencingTest, LeaseRenewalDuringRequestIsHarmless) {
  meanwhile_ = [&] { ChangeLease(R"({"renewTime":"2030-01-02T03:04:05.000001Z"})"); };
  EXPECT_EQ(Patch({"default/x;a;3"}), "200");
  EXPECT_EQ(Do({.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"n"}})"}), "201");
}

TEST_F(FencingTest, LeaseChangedBetweenCheckAndWriteIsCheckedAgain) {
  Context leading = ctx_.WithValue("term", "default/x;a;3");
  ASSERT_EQ(Fencing::TermOf(leading), "default/x;a;3");
  int renewals = 3;
  observed_.before_write = [&] {
    --renewals;
    ChangeLease(renewals >= 0 ? R"({"renewTime":"2030-01-02T03:04:0)" + std::to_string(renewals) +
                                    R"(.000000Z"})"
                              : R"({"leaseTransitions":4})");
  };
  const Result<storage::Revision> late = fenced_->Create(leading, "/registry/late", "x");
  EXPECT_TRUE(IsDeposed(late.status())) << late.status().ToString();
  EXPECT_EQ(observed_.guarded_writes, 4);
  EXPECT_FALSE(store_->Get(ctx_, "/registry/late")->kv.has_value());
  // Writes without a token are not checked.
  EXPECT_TRUE(fenced_->Create(ctx_, "/registry/other", "x").ok());
}

TEST_F(FencingTest, WriteOfCurrentTermReadsNoLeaseFromStorage) {
  EXPECT_EQ(LeaseReads([&] {
              EXPECT_EQ(Patch({"default/x;a;3"}), "200");
              EXPECT_EQ(
                  Do({.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"n"}})"}),
                  "201");
              EXPECT_EQ(Do({.method = "DELETE", .target = std::string(kMaps) + "/n"}), "200");
            }),
            0);
  EXPECT_EQ(observed_.guarded_writes, 3);
}

TEST_F(FencingTest, WriteOfNewTermSucceedsWhileCacheHasOldTerm) {
  FreezeCache();
  ChangeLease(R"({"holderIdentity":"b","leaseTransitions":4})");
  EXPECT_EQ(Patch({"default/x;b;4"}), "200");
}

TEST_F(FencingTest, WriteSucceedsWhileCacheHasNoLease) {
  EXPECT_EQ(Do({.method = "DELETE", .target = kLease}, {}), "200");
  ASSERT_TRUE(leases().cache()->Read(ctx_, {}).ok());
  cache_.emplace(*leases().cache());
  cache_->Freeze();
  leases().set_cache(&*cache_);
  ASSERT_EQ(cache_->Current()->size(), 0u);
  Prepare("/apis/coordination.k8s.io/v1/namespaces/default/leases",
          R"({"metadata":{"name":"x"},"spec":{"holderIdentity":"a","leaseTransitions":3}})");
  EXPECT_EQ(Patch({"default/x;a;3"}), "200");
}

TEST_F(FencingTest, WriteSucceedsWhileCacheHasLeaseBeforeRenewal) {
  FreezeCache();
  ChangeLease(R"({"renewTime":"2030-01-02T03:04:05.000000Z"})");
  EXPECT_EQ(LeaseReads([&] { EXPECT_EQ(Patch({"default/x;a;3"}), "200"); }), 1)
      << "one read after the transaction has failed";
  EXPECT_EQ(observed_.guarded_writes, 2);
}

TEST_F(FencingTest, WriteOfPastTermIsRejectedWhileCacheHasThatTerm) {
  FreezeCache();
  ChangeLease(R"({"holderIdentity":"b","leaseTransitions":4})");
  const FakeRequest kWrites[] = {
      {.method = "PATCH", .target = std::string(kMaps) + "/m", .body = R"({"data":{"late":"1"}})"},
      {.method = "POST", .target = kMaps, .body = R"({"metadata":{"name":"late"}})"},
      {.method = "DELETE", .target = std::string(kMaps) + "/m"},
  };
  for (const FakeRequest& write : kWrites) {
    EXPECT_THAT(Do(write),
                testing::AllOf(testing::StartsWith("409"), HasSubstr("LeadershipLost"),
                               HasSubstr("in Lease default/x is over: term 4 is that of")))
        << write.method;
  }
  EXPECT_EQ(Do({.target = std::string(kMaps) + "/m"}, {}), "200");
  EXPECT_EQ(Do({.target = std::string(kMaps) + "/late"}, {}).substr(0, 3), "404");
}

TEST_F(FencingTest, UpdateWithoutChangeReadsLeaseFromStorage) {
  const FakeRequest same{.method = "PATCH",
                         .target = std::string(kMaps) + "/m",
                         .body = R"({"metadata":{"name":"m"}})"};
  FreezeCache();
  EXPECT_EQ(LeaseReads([&] { EXPECT_EQ(Do(same), "200"); }), 1);
  EXPECT_EQ(observed_.guarded_writes, 0);
  ChangeLease(R"({"holderIdentity":"b","leaseTransitions":4})");
  EXPECT_THAT(Do(same), testing::AllOf(testing::StartsWith("409"), HasSubstr("is over")));
}

TEST_F(FencingTest, WriteIsRejectedWhileCacheHasDeletedLease) {
  FreezeCache();
  EXPECT_EQ(Do({.method = "DELETE", .target = kLease}, {}), "200");
  EXPECT_THAT(Patch({"default/x;a;3"}), HasSubstr("is over: there is no such Lease"));
}

// A token of a service account is not stored, so no transaction can reject the request.
TEST_F(FencingTest, RequestWithoutTransactionReadsLeaseFromStorage) {
  FreezeCache();
  ChangeLease(R"({"leaseTransitions":4})");
  for (const char* target : {"/api/v1/namespaces/default/serviceaccounts/a/token",
                             "/api/v1/namespaces/default/pods/a/exec"}) {
    EXPECT_THAT(Do({.method = "POST", .target = target}), HasSubstr("is over")) << target;
  }
}

TEST_F(FencingTest, LeaseInOtherKeySpaceIsReadFromStorage) {
  FreezeCache();
  ChangeLease(R"({"leaseTransitions":4})");
  const std::unique_ptr<storage::Store> elsewhere = storage::NewMemoryStore(clock_);
  const std::unique_ptr<storage::Store> fenced = NewFencedStore(*elsewhere, fencing_);
  Context leading = ctx_.WithValue("term", "default/x;a;3");
  EXPECT_TRUE(IsDeposed(fenced->Create(leading, "/registry/late", "x").status()));
  EXPECT_FALSE(elsewhere->Get(ctx_, "/registry/late")->kv.has_value());
}

TEST_F(FencingTest, NumberOfAttemptsIsBounded) {
  Context leading = ctx_.WithValue("term", "default/x;a;3");
  int renewals = 0;
  observed_.before_write = [&] {
    ChangeLease(R"({"renewTime":"2030-01-02T03:04:05.)" + std::to_string(100000 + ++renewals) +
                R"(Z"})");
  };
  const Result<storage::Revision> created = fenced_->Create(leading, "/registry/late", "x");
  EXPECT_TRUE(created.status().Is(Reason::kServiceUnavailable)) << created.status().ToString();
  EXPECT_EQ(observed_.guarded_writes, 17);
  EXPECT_FALSE(store_->Get(ctx_, "/registry/late")->kv.has_value());
}

TEST_F(FencingTest, DeleteOfMissingKeyIsNotTakenForChangedLease) {
  Context leading = ctx_.WithValue("term", "default/x;a;3");
  const Result<storage::WriteResult> removed = fenced_->Delete(leading, "/registry/none", 0);
  ASSERT_TRUE(removed.ok()) << removed.status().ToString();
  EXPECT_FALSE(removed->written);
}

}  // namespace
}  // namespace cox::apiserver
