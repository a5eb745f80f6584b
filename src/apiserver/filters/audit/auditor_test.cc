// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/auditor.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "apiserver/filters/authn/token_file.h"
#include "apiserver/filters/chain.h"
#include "apiserver/filters/fairness/inflight_limit.h"
#include "apiserver/testing/audit_harness.h"
#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The chain with auditing, and a dispatch that responds with 200.
class AuditChainTest : public testing::Test {
 protected:
  void Audit(const std::string& policy, bool strict = false) {
    audit_ = std::make_unique<AuditHarness>(clock_, policy, strict);
    chain_ = BuildChain({.metrics = metrics_,
                         .authenticator = authenticator_,
                         .auditor = &audit_->auditor(),
                         .impersonation = impersonation_,
                         .gate = gate_,
                         .authorizer = authorizer_,
                         .offload =
                             [this](std::shared_ptr<Call> call, auto then) {
                               ++offloaded_;
                               then(std::move(call));
                             },
                         .dispatch =
                             [this](const std::shared_ptr<Call>& call) {
                               ++dispatched_;
                               call->RespondText(200, "done");
                             }});
  }
  static std::vector<std::unique_ptr<const AuthMethod>> Methods() {
    std::vector<std::unique_ptr<const AuthMethod>> methods;
    methods.push_back(
        std::move(*NewTokenFileMethod("root-token,root,1,system:masters\nbob-token,bob,2\n")));
    return methods;
  }
  int Run(std::string target, net::Headers headers = {}, std::string method = "GET") {
    auto exchange =
        std::make_shared<FakeExchange>(clock_, net::Request{.method = std::move(method),
                                                            .target = std::move(target),
                                                            .headers = std::move(headers),
                                                            .body = {},
                                                            .peer = nullptr});
    RunChain(chain_, std::make_shared<Call>(exchange, "id"));
    return exchange->status();
  }

  TestClock clock_;
  MetricsRegistry registry_;
  RequestMetrics metrics_{registry_,
                          [] { return std::make_shared<const ServedSet>(ServedSet::Groups()); }};
  Authenticator authenticator_{Methods(), /*anonymous=*/true};
  InFlightLimit gate_{FairnessOptions(), clock_};
  UnionAuthorizer authorizer_{{}};  // system:masters only
  Impersonation impersonation_{authorizer_};
  std::unique_ptr<AuditHarness> audit_;
  Chain chain_;
  int offloaded_ = 0, dispatched_ = 0;
};

TEST_F(AuditChainTest, AllowedAndForbiddenRequestsAreRecordedWithReason) {
  Audit("rules: [{level: Metadata}]");
  EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer root-token"}}), 200);
  EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer bob-token"}}), 403);
  EXPECT_THAT(audit_->Stages(), ElementsAre("RequestReceived", "ResponseComplete 200",
                                            "RequestReceived", "ResponseComplete 403"));
  const std::vector<Value> events = audit_->Events();
  EXPECT_EQ(TextAt(events[1], {"annotations"}),
            R"({"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""})");
  EXPECT_EQ(TextAt(events[3], {"annotations", "authorization.k8s.io/decision"}), "forbid");
  EXPECT_EQ(TextAt(events[3], {"responseStatus", "reason"}), "Forbidden");
  EXPECT_EQ(TextAt(events[3], {"user", "username"}), "bob");
  EXPECT_EQ(events[0].Find("annotations"), nullptr);
  EXPECT_THAT(audit_->Metrics(), HasSubstr("apiserver_audit_event_total 4\n"));
  EXPECT_THAT(audit_->Metrics(), HasSubstr("apiserver_audit_level_total{level=\"Metadata\"} 2\n"));
}

// A CVE class: the log never contains credentials, valid or not.
TEST_F(AuditChainTest, FailedAuthenticationIsRecordedOnceWithoutCredential) {
  Audit("rules: [{level: RequestResponse}]");
  EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer stolen-token"}}), 401);
  EXPECT_THAT(audit_->Stages(), ElementsAre("ResponseStarted 401"));
  const Value event = audit_->Events().at(0);
  EXPECT_EQ(TextAt(event, {"user"}), "{}");
  EXPECT_EQ(TextAt(event, {"responseStatus", "reason"}), "Unauthorized");
  EXPECT_EQ(Run("/api/v1/pods?access_token=stolen-token", {{"authorization", "Bearer root-token"}}),
            200);
  for (const std::string& line : audit_->Lines()) EXPECT_THAT(line, Not(HasSubstr("-token")));
}

TEST_F(AuditChainTest, ImpersonationRecordsBothUsers) {
  Audit("omitStages: [RequestReceived]\nrules: [{level: Metadata}]");
  EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer root-token"},
                                 {"impersonate-user", "alice"},
                                 {"impersonate-group", "dev"}}),
            403);
  EXPECT_EQ(
      Run("/api/v1/pods", {{"authorization", "Bearer bob-token"}, {"impersonate-user", "root"}}),
      403);
  const std::vector<Value> events = audit_->Events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(TextAt(events[0], {"user", "username"}), "root");
  EXPECT_EQ(TextAt(events[0], {"impersonatedUser"}),
            R"({"groups":["dev","system:authenticated"],"username":"alice"})");
  // A rejected impersonation is recorded without the impersonated user.
  EXPECT_EQ(TextAt(events[1], {"user", "username"}), "bob");
  EXPECT_EQ(events[1].Find("impersonatedUser"), nullptr);
}

TEST_F(AuditChainTest, RequestsAtLevelNoneCauseNoEventAndNoOffload) {
  Audit("rules: [{level: None, nonResourceURLs: ['/healthz*']}, {level: Metadata}]");
  EXPECT_EQ(Run("/healthz", {{"authorization", "Bearer bob-token"}}), 403);
  EXPECT_EQ(offloaded_, 0);
  EXPECT_THAT(audit_->Lines(), IsEmpty());
  // An audited request moves to a worker before its event is written.
  EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer bob-token"}}), 403);
  EXPECT_EQ(offloaded_, 1);
  EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer wrong"}}), 401);
  EXPECT_EQ(offloaded_, 2);
}

TEST_F(AuditChainTest, FailedEventRejectsRequestOnlyInStrictMode) {
  for (bool strict : {false, true}) {
    Audit("rules: [{level: Metadata}]", strict);
    audit_->output().SetFail(true);
    dispatched_ = 0;
    EXPECT_EQ(Run("/api/v1/pods", {{"authorization", "Bearer root-token"}}), strict ? 500 : 200);
    EXPECT_EQ(dispatched_, strict ? 0 : 1);
    EXPECT_THAT(audit_->Metrics(), HasSubstr("apiserver_audit_requests_rejected_total " +
                                             std::to_string(strict ? 1 : 0) + "\n"));
  }
}

TEST(AuditorTest, DisabledWithoutPolicyOrBackend) {
  TestClock clock;
  MetricsRegistry metrics;
  const std::string policy =
      "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}";
  AuditOptions options;
  options.policy = policy;
  Result<std::unique_ptr<Auditor>> nowhere = Auditor::Create(Context(clock), options, metrics);
  ASSERT_TRUE(nowhere.ok());
  EXPECT_EQ(*nowhere, nullptr);
  options.policy.clear();
  options.log.path = "/nonexistent/audit.log";
  Result<std::unique_ptr<Auditor>> nothing = Auditor::Create(Context(clock), options, metrics);
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(*nothing, nullptr);
}

TEST(AuditorTest, InvalidOptionsAreRejected) {
  TestClock clock;
  AuditOptions options;
  options.policy = "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: []}";
  options.log.path = "-";
  MetricsRegistry one;
  EXPECT_THAT(Auditor::Create(Context(clock), options, one).status().message(),
              HasSubstr("audit policy"));
  options.policy = "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: None}]}";
  options.log.path = "/dev/null/audit.log";
  MetricsRegistry two;
  EXPECT_FALSE(Auditor::Create(Context(clock), options, two).ok());
}

// The worker pool may stop with the work still in its queue.
TEST(AuditorTest, EventIsDeliveredIfWorkerQueueIsDiscarded) {
  TestClock clock;
  AuditHarness harness(clock, "rules: [{level: Metadata}]");
  Auditor& auditor = harness.auditor();
  std::vector<std::function<void()>> queue;
  auditor.set_offload([&](std::function<void()> work) {
    queue.push_back(std::move(work));
    return true;
  });
  auditor.DeliverFromLoop(MakeEvent("{\"stage\":\"a\"}"));
  auditor.DeliverFromLoop(MakeEvent("{\"stage\":\"b\"}"));
  EXPECT_THAT(harness.Lines(), IsEmpty());
  queue[0]();
  EXPECT_EQ(harness.Lines().size(), 1u);
  queue.clear();
  EXPECT_EQ(harness.Lines().size(), 2u);
  auditor.set_offload([](const std::function<void()>&) { return false; });
  auditor.DeliverFromLoop(MakeEvent("{\"stage\":\"c\"}"));
  EXPECT_EQ(harness.Lines().size(), 3u);
}

}  // namespace
}  // namespace cox::apiserver
