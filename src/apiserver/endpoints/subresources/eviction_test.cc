// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "api/policy/v1.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

// pods/eviction: combinations of Pod state, disruption budget, precondition, and a change of the
// Pod between the check and the deletion.
namespace cox::apiserver {
namespace {

constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
constexpr std::string_view kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

enum class PodState { kPending, kUnready, kReady, kSucceeded, kFailed, kTerminating };
constexpr PodState kPodStates[] = {PodState::kPending, PodState::kUnready,
                                   PodState::kReady,   PodState::kSucceeded,
                                   PodState::kFailed,  PodState::kTerminating};

enum class Budget {
  kNone,
  kAllows,        // one disruption is allowed
  kExhausted,     // none is allowed; fewer Pods than desired are healthy
  kMet,           // none is allowed; as many Pods as desired are healthy
  kAlwaysAllow,   // kExhausted with unhealthyPodEvictionPolicy AlwaysAllow
  kNotProcessed,  // the controller has not seen the current generation
  kTwo,
};
constexpr Budget kBudgetStates[] = {Budget::kNone, Budget::kAllows,      Budget::kExhausted,
                                    Budget::kMet,  Budget::kAlwaysAllow, Budget::kNotProcessed,
                                    Budget::kTwo};

class EvictionTest : public ::testing::Test {
 protected:
  // Returns the JSON of the response, whose status must be `code`.
  Value Json(int code, FakeRequest request) {
    FakeCall call = api_->Do(std::move(request));
    EXPECT_EQ(call.exchange().status(), code) << call.exchange().Body();
    Result<Value> body = json::Parse(call.exchange().Body());
    return body.ok() ? *body : Value();
  }
  Value Patch(std::string target, std::string body) {
    return Json(200, {.method = "PATCH",
                      .target = std::move(target),
                      .body = std::move(body),
                      .headers = {{"content-type", "application/merge-patch+json"}}});
  }
  static std::string At(const Value& value, std::initializer_list<std::string_view> path) {
    const Value* found = value.At(path);
    if (found == nullptr) return "<none>";
    return found->is_string() ? std::string(found->as_string()) : json::Write(*found);
  }
  static std::string Pod(std::string_view rest = "") {
    return std::string(kPods) + "/p" + std::string(rest);
  }

  static std::string StatusOf(PodState state) {
    switch (state) {
      case PodState::kPending:
        return R"({"phase":"Pending"})";
      case PodState::kUnready:
      case PodState::kTerminating:
        return R"({"phase":"Running","conditions":[{"type":"Ready","status":"False"}]})";
      case PodState::kReady:
        return R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})";
      case PodState::kSucceeded:
        return R"({"phase":"Succeeded"})";
      case PodState::kFailed:
        return R"({"phase":"Failed"})";
    }
    return "";
  }
  void SetPodState(PodState state) {
    Patch(Pod("/status"), R"({"status":)" + StatusOf(state) + "}");
  }
  // Creates the Pod p in an empty cluster.
  void CreatePod(PodState state) {
    api_.emplace();
    Json(201, {.method = "POST",
               .target = std::string(kPods),
               .body = R"({"metadata":{"name":"p","labels":{"app":"a"}},"spec":{"nodeName":"n",
                        "containers":[{"name":"c","image":"i"}]}})"});
    SetPodState(state);
    if (state == PodState::kTerminating) {
      Json(200, {.method = "DELETE", .target = Pod("?gracePeriodSeconds=600")});
    }
  }
  void CreateBudget(const std::string& name, Budget budget) {
    std::string policy = "IfHealthyBudget";
    if (budget == Budget::kAlwaysAllow) policy = "AlwaysAllow";
    Json(201, {.method = "POST",
               .target = std::string(kBudgets),
               .body = R"({"metadata":{"name":")" + name +
                       R"("},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}},
                        "unhealthyPodEvictionPolicy":")" +
                       policy + R"("}})"});
    std::string status = R"("observedGeneration":1,"desiredHealthy":1,)";
    if (budget == Budget::kNotProcessed) status = R"("observedGeneration":0,"desiredHealthy":1,)";
    const bool allows = budget == Budget::kAllows || budget == Budget::kTwo;
    const bool met = allows || budget == Budget::kMet;
    status += R"("currentHealthy":)" + std::string(met ? "1" : "0") + R"(,"expectedPods":2,)" +
              R"("disruptionsAllowed":)" + (allows ? "1" : "0");
    Patch(std::string(kBudgets) + "/" + name + "/status", R"({"status":{)" + status + "}}");
  }
  void CreateBudgets(Budget budget) {
    if (budget == Budget::kNone) return;
    CreateBudget("b", budget);
    if (budget == Budget::kTwo) CreateBudget("b2", budget);
    api_->Sync(policy::v1::PodDisruptionBudget::kKind);
  }

  Value Evict(int code, const std::string& delete_options = "{}") {
    return Json(code, {.method = "POST",
                       .target = Pod("/eviction"),
                       .body = R"({"apiVersion":"policy/v1","kind":"Eviction",
                                "metadata":{"name":"p"},"deleteOptions":)" +
                               delete_options + "}"});
  }
  // Whether the Pod is deleted or being deleted.
  bool IsDeleted() {
    FakeCall call = api_->Do({.target = Pod()});
    if (call.exchange().status() == 404) return true;
    return At(*json::Parse(call.exchange().Body()), {"metadata", "deletionTimestamp"}) != "<none>";
  }
  std::string Allowed() {
    return At(Json(200, {.target = std::string(kBudgets) + "/b"}),
              {"status", "disruptionsAllowed"});
  }
  std::string Version() {
    return At(Json(200, {.target = Pod()}), {"metadata", "resourceVersion"});
  }

  // The status code of an eviction without precondition.
  static int Expected(PodState state, Budget budget) {
    const bool guarded = state == PodState::kReady || state == PodState::kUnready;
    if (!guarded) return 201;
    switch (budget) {
      case Budget::kNone:
      case Budget::kAllows:
        return 201;
      case Budget::kMet:
      case Budget::kAlwaysAllow:
        return state == PodState::kUnready ? 201 : 429;
      case Budget::kExhausted:
      case Budget::kNotProcessed:
        return 429;
      case Budget::kTwo:
        return 500;
    }
    return 0;
  }

  std::optional<ApiHarness> api_;
};

TEST_F(EvictionTest, StateOfPodAndBudgetDecide) {
  for (const PodState state : kPodStates) {
    for (const Budget budget : kBudgetStates) {
      SCOPED_TRACE("state " + std::to_string(int(state)) + ", budget " +
                   std::to_string(int(budget)));
      CreatePod(state);
      CreateBudgets(budget);
      const int code = Expected(state, budget);
      Evict(code);
      EXPECT_EQ(IsDeleted(), code == 201 || state == PodState::kTerminating);
      // Only the eviction of a Pod that counts for the budget consumes a disruption.
      if (budget == Budget::kAllows) {
        EXPECT_EQ(Allowed(), state == PodState::kReady ? "0" : "1");
      }
    }
  }
}

TEST_F(EvictionTest, PreconditionsHoldInEveryState) {
  for (const PodState state : kPodStates) {
    for (const Budget budget : {Budget::kNone, Budget::kAllows, Budget::kAlwaysAllow}) {
      if (Expected(state, budget) != 201) continue;
      SCOPED_TRACE("state " + std::to_string(int(state)) + ", budget " +
                   std::to_string(int(budget)));
      CreatePod(state);
      CreateBudgets(budget);
      for (const std::string_view wrong : {R"("uid":"other")", R"("resourceVersion":"1")"}) {
        const Value error = Evict(409, R"({"preconditions":{)" + std::string(wrong) + "}}");
        EXPECT_EQ(At(error, {"reason"}), "Conflict");
        EXPECT_EQ(IsDeleted(), state == PodState::kTerminating);
        // A request that fails consumes no disruption.
        if (budget == Budget::kAllows) {
          EXPECT_EQ(Allowed(), "1");
        }
      }
      const Value pod = Json(200, {.target = Pod()});
      Evict(201, R"({"preconditions":{"uid":")" + At(pod, {"metadata", "uid"}) +
                     R"(","resourceVersion":")" + At(pod, {"metadata", "resourceVersion"}) +
                     R"("}})");
      EXPECT_TRUE(IsDeleted());
    }
  }
}

TEST_F(EvictionTest, EvictedPodIsMarkedAsDisrupted) {
  for (const PodState state :
       {PodState::kPending, PodState::kUnready, PodState::kReady, PodState::kTerminating}) {
    for (const std::string_view options : {"{}", R"({"dryRun":["All"]})"}) {
      SCOPED_TRACE("state " + std::to_string(int(state)) + ", options " + std::string(options));
      CreatePod(state);
      CreateBudgets(Budget::kAllows);
      Evict(201, std::string(options));
      const bool dry_run = options != "{}";
      const std::string conditions = At(Json(200, {.target = Pod()}), {"status", "conditions"});
      EXPECT_EQ(conditions.find("EvictionByEvictionAPI") == std::string::npos, dry_run)
          << conditions;
      EXPECT_EQ(IsDeleted(), !dry_run || state == PodState::kTerminating);
      EXPECT_EQ(Allowed(), state == PodState::kReady && !dry_run ? "0" : "1");
    }
  }
}

TEST_F(EvictionTest, PendingPodThatBecomesReadyIsGuarded) {
  const struct {
    Budget budget;
    int code;
  } kCases[] = {{Budget::kNone, 201}, {Budget::kAllows, 201}, {Budget::kExhausted, 429}};
  for (const auto& c : kCases) {
    SCOPED_TRACE(int(c.budget));
    CreatePod(PodState::kPending);
    CreateBudgets(c.budget);
    bool done = false;
    api_->faults().OnGet("/registry/pods/default/p", [&] {
      if (!std::exchange(done, true)) SetPodState(PodState::kReady);
    });
    Evict(c.code);
    EXPECT_TRUE(done);
    EXPECT_EQ(IsDeleted(), c.code == 201);
    if (c.budget == Budget::kAllows) {
      EXPECT_EQ(Allowed(), "0");
    }
  }
}

TEST_F(EvictionTest, PendingPodThatChangesWithoutStartingIsEvicted) {
  CreatePod(PodState::kPending);
  CreateBudgets(Budget::kExhausted);
  int changes = 0;
  api_->faults().OnGet("/registry/pods/default/p", [&] {
    if (changes < 3)
      Patch(Pod(), R"({"metadata":{"annotations":{"n":")" + std::to_string(++changes) + R"("}}})");
  });
  Evict(201);
  EXPECT_EQ(changes, 3);
  EXPECT_TRUE(IsDeleted());
}

TEST_F(EvictionTest, UnreadyPodThatChangesIsNotEvicted) {
  for (const Budget budget : {Budget::kMet, Budget::kAlwaysAllow}) {
    CreatePod(PodState::kUnready);
    CreateBudgets(budget);
    bool done = false;
    api_->faults().OnGet("/registry/pods/default/p", [&] {
      if (!std::exchange(done, true)) SetPodState(PodState::kReady);
    });
    const Value error = Evict(429);
    EXPECT_EQ(At(error, {"details", "retryAfterSeconds"}), "10");
    EXPECT_NE(json::Write(error).find("is still being processed by the server"), std::string::npos);
    EXPECT_FALSE(IsDeleted());
  }
}

TEST_F(EvictionTest, PodWithOwnPreconditionThatChangesConflicts) {
  for (const PodState state : {PodState::kPending, PodState::kUnready, PodState::kReady}) {
    SCOPED_TRACE(int(state));
    CreatePod(state);
    CreateBudgets(Budget::kAlwaysAllow);
    if (state == PodState::kReady) {
      Patch(std::string(kBudgets) + "/b/status", R"({"status":{"disruptionsAllowed":1}})");
      api_->Sync(policy::v1::PodDisruptionBudget::kKind);
    }
    const std::string version = Version();
    bool done = false;
    api_->faults().OnGet("/registry/pods/default/p", [&] {
      if (!std::exchange(done, true)) Patch(Pod(), R"({"metadata":{"annotations":{"n":"1"}}})");
    });
    Evict(409, R"({"preconditions":{"resourceVersion":")" + version + R"("}})");
    EXPECT_FALSE(IsDeleted());
  }
}

TEST_F(EvictionTest, PendingDeletionKeepsItsGracePeriod) {
  CreatePod(PodState::kTerminating);
  Evict(201);
  EXPECT_EQ(At(Json(200, {.target = Pod()}), {"metadata", "deletionGracePeriodSeconds"}), "600");
  Evict(201, R"({"gracePeriodSeconds":5})");
  EXPECT_EQ(At(Json(200, {.target = Pod()}), {"metadata", "deletionGracePeriodSeconds"}), "5");
}

}  // namespace
}  // namespace cox::apiserver
