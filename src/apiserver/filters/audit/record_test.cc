// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/record.h"

#include <gmock/gmock.h>

#include "api/core/v1.h"
#include "apiserver/testing/audit_harness.h"
#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Requests through the real handlers, with a record like the chain's.
class AuditRecordTest : public testing::Test {
 protected:
  void Audit(const std::string& policy) {
    audit_ = std::make_unique<AuditHarness>(api_.clock(), policy);
  }
  FakeCall Do(FakeRequest request) {
    FakeCall call(api_.clock(), std::move(request));
    call->user = {.name = "tester", .uid = "7", .groups = {"g1", "g2"}, .extra = {{"k", {"v"}}}};
    call->set_audit(
        audit_->auditor().Begin({call->request(), call->info, &call->user, call->audit_id()}));
    EXPECT_TRUE(call->audit()->Received().ok());
    HandleResource(api_.handlers(), call.shared());
    return call;
  }
  static FakeRequest Create(std::string resource, std::string body) {
    return {.method = "POST",
            .target = "/api/v1/namespaces/default/" + std::move(resource),
            .body = std::move(body),
            .headers = {{"user-agent", "test/1 <x>"}}};
  }

  ApiHarness api_;
  std::unique_ptr<AuditHarness> audit_;
};

TEST_F(AuditRecordTest, EventMatchesUpstreamFormat) {
  Audit("rules: [{level: Metadata}]");
  Do(Create("configmaps", R"({"metadata":{"name":"m"},"data":{"k":"hidden"}})"));
  EXPECT_THAT(
      audit_->Lines(),
      ElementsAre(
          R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"audit",)"
          R"("stage":"RequestReceived","requestURI":"/api/v1/namespaces/default/configmaps",)"
          R"("verb":"create","user":{"username":"tester","uid":"7","groups":["g1","g2"],)"
          R"("extra":{"k":["v"]}},"userAgent":"test/1 \u003cx\u003e",)"
          R"("objectRef":{"resource":"configmaps","namespace":"default","apiVersion":"v1"},)"
          R"("requestReceivedTimestamp":"2030-01-02T03:04:05.000000Z",)"
          R"("stageTimestamp":"2030-01-02T03:04:05.000000Z"})",
          R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"audit",)"
          R"("stage":"ResponseComplete","requestURI":"/api/v1/namespaces/default/configmaps",)"
          R"("verb":"create","user":{"username":"tester","uid":"7","groups":["g1","g2"],)"
          R"("extra":{"k":["v"]}},"userAgent":"test/1 \u003cx\u003e",)"
          R"("objectRef":{"resource":"configmaps","namespace":"default","name":"m",)"
          R"("apiVersion":"v1"},"responseStatus":{"metadata":{},"code":201},)"
          R"("requestReceivedTimestamp":"2030-01-02T03:04:05.000000Z",)"
          R"("stageTimestamp":"2030-01-02T03:04:05.000000Z"})"));
}

TEST_F(AuditRecordTest, BodiesAreRecordedByLevel) {
  const struct {
    std::string_view level;
    bool request, response;
  } kCases[] = {
      {"Metadata", false, false}, {"Request", true, false}, {"RequestResponse", true, true}};
  for (const auto& c : kCases) {
    Audit("omitStages: [RequestReceived]\nrules: [{level: " + std::string(c.level) + "}]");
    const std::string name = "m-" + std::string(c.request ? "r" : "m") + (c.response ? "r" : "");
    Do(Create("configmaps", R"({"metadata":{"name":")" + name + R"("},"data":{"k":"text"}})"));
    ASSERT_EQ(audit_->Events().size(), 1u);
    const Value event = audit_->Events()[0];
    EXPECT_EQ(TextAt(event, {"requestObject", "data", "k"}), c.request ? "text" : "") << c.level;
    EXPECT_EQ(TextAt(event, {"responseObject", "data", "k"}), c.response ? "text" : "") << c.level;
    // The response contains fields that the server sets.
    EXPECT_EQ(TextAt(event, {"responseObject", "metadata", "uid"}).empty(), !c.response);
    EXPECT_EQ(TextAt(event, {"requestObject", "kind"}), c.request ? "ConfigMap" : "");
  }
}

TEST_F(AuditRecordTest, EveryVerbRecordsRequestAndResponseObjects) {
  Audit(
      "omitStages: [RequestReceived]\nrules: [{level: RequestResponse, omitManagedFields: true}]");
  const std::string one = "/api/v1/namespaces/default/configmaps/m";
  Do(Create("configmaps", R"({"metadata":{"name":"m"},"data":{"a":"1"}})"));
  Do({.target = one, .headers = {{"accept", "application/vnd.kubernetes.protobuf"}}});
  Do({.method = "PUT", .target = one, .body = R"({"metadata":{"name":"m"},"data":{"a":"2"}})"});
  Do({.method = "PATCH",
      .target = one,
      .body = "{ \"data\": {\"a\": \"3\"} }",
      .headers = {{"content-type", "application/merge-patch+json"}}});
  Do({.method = "PATCH",
      .target = one + "?fieldManager=me&force=true",
      .body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: '4'}\n",
      .headers = {{"content-type", "application/apply-patch+yaml"}}});
  api_.Sync(core::v1::ConfigMap::kKind);
  Do({.target = "/api/v1/namespaces/default/configmaps"});
  Do({.method = "DELETE", .target = one, .body = R"({"propagationPolicy":"Background"})"});
  Do({.target = one});
  const std::vector<Value> events = audit_->Events();
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(TextAt(events[1], {"responseObject", "data", "a"}), "1");  // from protobuf
  EXPECT_EQ(TextAt(events[1], {"requestObject"}), "");
  EXPECT_EQ(TextAt(events[2], {"requestObject", "data", "a"}), "2");
  EXPECT_EQ(TextAt(events[2], {"responseObject", "data", "a"}), "2");
  EXPECT_EQ(TextAt(events[3], {"requestObject"}), R"({"data":{"a":"3"}})");
  EXPECT_EQ(TextAt(events[3], {"responseObject", "data", "a"}), "3");
  EXPECT_EQ(TextAt(events[4], {"requestObject", "data", "a"}), "4");  // from YAML
  EXPECT_EQ(TextAt(events[5], {"responseObject", "kind"}), "ConfigMapList");
  EXPECT_EQ(TextAt(events[6], {"requestObject", "kind"}), "DeleteOptions");
  EXPECT_EQ(TextAt(events[6], {"requestObject", "propagationPolicy"}), "Background");
  EXPECT_EQ(TextAt(events[6], {"responseStatus", "status"}), "Success");
  EXPECT_EQ(TextAt(events[6], {"responseStatus", "code"}), "200");
  EXPECT_EQ(TextAt(events[7], {"responseStatus", "reason"}), "NotFound");
  EXPECT_EQ(TextAt(events[7], {"responseStatus", "message"}), "configmaps \"m\" not found");
  EXPECT_EQ(TextAt(events[7], {"responseStatus", "details", "kind"}), "configmaps");
  EXPECT_EQ(TextAt(events[7], {"responseObject", "kind"}), "Status");
  for (const std::string& line : audit_->Lines())
    EXPECT_THAT(line, Not(HasSubstr("managedFields")));
}

TEST_F(AuditRecordTest, ProtobufListsAreRecorded) {
  Audit("omitStages: [RequestReceived]\nrules: [{level: RequestResponse}]");
  api_.Sync(core::v1::Namespace::kKind);
  Do({.target = "/api/v1/namespaces",
      .headers = {{"accept", "application/vnd.kubernetes.protobuf"}}});
  const Value event = audit_->Events().at(0);
  EXPECT_EQ(TextAt(event, {"responseObject", "kind"}), "NamespaceList") << audit_->Lines()[0];
  EXPECT_THAT(TextAt(event, {"responseObject", "items"}), HasSubstr("default"));
}

TEST_F(AuditRecordTest, StreamsRecordStartAndEnd) {
  Audit("rules: [{level: RequestResponse}]");
  FakeCall watch = Do({.target = "/api/v1/namespaces/default/configmaps?watch=1"});
  EXPECT_THAT(audit_->Stages(), ElementsAre("RequestReceived", "ResponseStarted 200"));
  watch.exchange().Close();
  EXPECT_THAT(audit_->Stages(),
              ElementsAre("RequestReceived", "ResponseStarted 200", "ResponseComplete 200"));
  // A watch that fails before streaming records all three stages too, as upstream does.
  Do({.target = "/api/v1/namespaces/default/configmaps?watch=1&labelSelector=,,"});
  const std::vector<std::string> stages = audit_->Stages();
  EXPECT_THAT(std::vector<std::string>(stages.begin() + 3, stages.end()),
              ElementsAre("RequestReceived", "ResponseStarted 400", "ResponseComplete 400"));
}

TEST_F(AuditRecordTest, RequestWithoutResponseIsRecordedAsPanic) {
  Audit("rules: [{level: Metadata}]");
  {
    FakeCall call(api_.clock(), {.target = "/api/v1/pods"});
    call->set_audit(
        audit_->auditor().Begin({call->request(), call->info, &call->user, call->audit_id()}));
  }
  EXPECT_THAT(audit_->Stages(), ElementsAre("RequestReceived", "Panic 500"));
}

TEST_F(AuditRecordTest, SlowRequestHasLatencyAnnotation) {
  Audit("omitStages: [RequestReceived]\nrules: [{level: Metadata}]");
  FakeCall call(api_.clock(), {.target = "/version"});
  call->set_audit(
      audit_->auditor().Begin({call->request(), call->info, &call->user, call->audit_id()}));
  call->audit()->Annotate("k", "first");
  call->audit()->Annotate("k", "second");
  api_.clock().Advance(std::chrono::milliseconds(501));
  call->RespondText(200, "ok");
  const Value event = audit_->Events().at(0);
  EXPECT_EQ(TextAt(event, {"annotations"}),
            R"({"apiserver.latency.k8s.io/total":"501ms","k":"first"})");
  EXPECT_EQ(event.Find("objectRef"), nullptr);
}

// A CVE class: validation errors of a Secret often quote its data.
TEST_F(AuditRecordTest, SecretDataIsOmittedBelowRequestLevel) {
  const std::string secret = "c3VwZXItc2VjcmV0";  // base64
  auto attack = [&](const std::string& level) {
    Audit("rules: [{level: " + level + "}]");
    const std::string name = level == "Metadata" ? "a" : "b";
    Do(Create("secrets",
              R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" + secret + "\"}}"));
    // Errors that quote the request: undecodable, invalid, and unpatchable bodies.
    Do(Create("secrets", R"(")" + secret));
    Do(Create("secrets", R"({"metadata":{"name":"x"},"data":{"k":"!)" + secret + "\"}}"));
    Do(Create("secrets", R"({"metadata":{"name":"x"},"data":{")" + secret + R"(/":""}})"));
    Do({.method = "PATCH",
        .target = "/api/v1/namespaces/default/secrets/" + name,
        .body = R"({"data":[")" + secret + "\"]}",
        .headers = {{"content-type", "application/merge-patch+json"}}});
    Do({.target = "/api/v1/namespaces/default/secrets/" + name});
    std::string all;
    for (const std::string& line : audit_->Lines()) all += line;
    return all;
  };
  EXPECT_THAT(attack("Metadata"), Not(HasSubstr(secret)));
  EXPECT_THAT(attack("Request"), HasSubstr(secret));
}

TEST_F(AuditRecordTest, LegacyFormatIsOneLineOfPairs) {
  MetricsRegistry registry;
  AuditMetrics metrics(registry);
  auto state = std::make_shared<FakeOutput::State>();
  struct LegacySink final : AuditSink {
    explicit LegacySink(std::vector<std::string>& to) : lines(to) {}
    bool blocks() const override { return false; }
    bool Process(const AuditEventPtr& event) override {
      lines.push_back(event->legacy);
      return true;
    }
    void Stop(std::chrono::nanoseconds) override {}
    std::vector<std::string>& lines;
  };
  std::vector<std::string> lines;
  std::vector<std::unique_ptr<AuditSink>> sinks;
  sinks.push_back(std::make_unique<LegacySink>(lines));
  MetricsRegistry own;
  Auditor auditor(api_.ctx(),
                  *AuditPolicy::Parse(
                      "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}"),
                  std::move(sinks), own, /*legacy=*/true);
  FakeCall call(api_.clock(), {.target = "/api/v1/namespaces/n/pods?limit=1",
                               .headers = {{"user-agent", "a \"b\""}}});
  call->user.groups = {"g1", "g2"};
  call->set_audit(auditor.Begin({call->request(), call->info, &call->user, call->audit_id()}));
  ASSERT_TRUE(call->audit()->Received().ok());
  call->audit()->SetImpersonated({.name = "other", .uid = {}, .groups = {}, .extra = {}});
  call->RespondText(403, "no");
  EXPECT_THAT(
      lines,
      ElementsAre(
          "2030-01-02T03:04:05.000000Z AUDIT: id=\"audit\" stage=\"RequestReceived\" "
          "ip=\"<unknown>\" method=\"list\" user=\"tester\" "
          "groups=\"\\\"g1\\\",\\\"g2\\\"\" as=\"<self>\" asgroups=\"<lookup>\" "
          "user-agent=\"a \\\"b\\\"\" namespace=\"n\" uri=\"/api/v1/namespaces/n/pods?limit=1\" "
          "response=\"<deferred>\"\n",
          "2030-01-02T03:04:05.000000Z AUDIT: id=\"audit\" stage=\"ResponseComplete\" "
          "ip=\"<unknown>\" method=\"list\" user=\"tester\" "
          "groups=\"\\\"g1\\\",\\\"g2\\\"\" as=\"other\" asgroups=\"<lookup>\" "
          "user-agent=\"a \\\"b\\\"\" namespace=\"n\" uri=\"/api/v1/namespaces/n/pods?limit=1\" "
          "response=\"403\"\n"));
}

}  // namespace
}  // namespace cox::apiserver
