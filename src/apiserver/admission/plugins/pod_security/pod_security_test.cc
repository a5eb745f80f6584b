// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/admission/plugins/pod_security/existing_pods.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using core::v1::Namespace;
using core::v1::Pod;

// The API in process, with a namespace "ns" whose labels the test sets.
class PodSecurityTest : public ::testing::Test {
 protected:
  static std::string NamespaceOf(const std::string& labels) {
    return R"({"metadata":{"name":"ns","labels":)" + labels + "}}";
  }
  void Label(const std::string& labels) {
    const std::string got =
        api_.Text({.method = "POST", .target = "/api/v1/namespaces", .body = NamespaceOf(labels)});
    ASSERT_EQ(got.substr(0, 3), "201") << got;
    api_.Sync(Namespace::kKind);
  }
  FakeCall Create(const std::string& name, const std::string& spec) {
    return api_.Do({.method = "POST",
                    .target = "/api/v1/namespaces/ns/pods",
                    .body = R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}"});
  }
  FakeCall Patch(const std::string& target, const std::string& body,
                 const std::string& type = "application/merge-patch+json") {
    return api_.Do(
        {.method = "PATCH", .target = target, .body = body, .headers = {{"content-type", type}}});
  }

  // The texts of the Warning headers, without those about kinds that have no controller.
  static Warnings WarningsOf(FakeCall& call) {
    Warnings out;
    for (std::string_view value : call.exchange().response().headers.All("warning")) {
      std::string text;
      for (size_t i = value.find('"') + 1; i + 1 < value.size(); ++i) {
        if (value[i] == '\\') ++i;
        text += value[i];
      }
      if (text.find(": not implemented: ") == std::string::npos) out.push_back(std::move(text));
    }
    return out;
  }

  static constexpr char kPlain[] = R"({"containers":[{"name":"c","image":"i"}]})";
  static constexpr char kHostNetwork[] =
      R"({"hostNetwork":true,"containers":[{"name":"c","image":"i"}]})";

  ApiHarness api_;
};

TEST_F(PodSecurityTest, RejectsPodsThatViolateTheEnforcedStandard) {
  Label(R"({"pod-security.kubernetes.io/enforce":"baseline"})");
  EXPECT_EQ(Create("good", kPlain).exchange().status(), 201);
  FakeCall bad = Create("bad", kHostNetwork);
  EXPECT_EQ(bad.exchange().status(), 403);
  EXPECT_NE(bad.exchange().Body().find(
                R"(pods \"bad\" is forbidden: violates PodSecurity \"baseline:latest\": )"
                R"(host namespaces (hostNetwork=true))"),
            std::string::npos)
      << bad.exchange().Body();
  EXPECT_TRUE(WarningsOf(bad).empty());  // no warnings in addition to the error
}

TEST_F(PodSecurityTest, NamespacesWithoutLabelsAllowEverything) {
  Label("{}");
  EXPECT_EQ(Create("bad", kHostNetwork).exchange().status(), 201);
}

TEST_F(PodSecurityTest, WarnsAboutPodsAndTemplates) {
  Label(R"({"pod-security.kubernetes.io/warn":"baseline"})");
  const std::vector<std::string> want = {
      "would violate PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)"};
  FakeCall pod = Create("p", kHostNetwork);
  EXPECT_EQ(pod.exchange().status(), 201);
  EXPECT_EQ(WarningsOf(pod), want);
  const std::string selected =
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":)" + std::string(kHostNetwork) + "}";
  const std::string finished = R"("template":{"spec":{"restartPolicy":"Never","hostNetwork":true,)"
                               R"("containers":[{"name":"c","image":"i"}]}})";
  const std::string selector = R"("selector":{"matchLabels":{"a":"b"}},)";
  const struct {
    std::string target, body;
  } kCases[] = {
      {"/apis/apps/v1/namespaces/ns/deployments", R"("spec":{)" + selector + selected + "}"},
      {"/apis/apps/v1/namespaces/ns/replicasets", R"("spec":{)" + selector + selected + "}"},
      {"/apis/apps/v1/namespaces/ns/daemonsets", R"("spec":{)" + selector + selected + "}"},
      {"/apis/apps/v1/namespaces/ns/statefulsets", R"("spec":{)" + selector + selected + "}"},
      {"/apis/batch/v1/namespaces/ns/jobs", R"("spec":{)" + finished + "}"},
      {"/apis/batch/v1/namespaces/ns/cronjobs",
       R"("spec":{"schedule":"@daily","jobTemplate":{"spec":{)" + finished + "}}}"},
      {"/api/v1/namespaces/ns/replicationcontrollers",
       R"("spec":{"selector":{"a":"b"},)" + selected + "}"},
      {"/api/v1/namespaces/ns/podtemplates", selected},
  };
  for (const auto& c : kCases) {
    FakeCall call = api_.Do({.method = "POST",
                             .target = c.target,
                             .body = R"({"metadata":{"name":"w"},)" + c.body + "}"});
    EXPECT_EQ(call.exchange().status(), 201) << call.exchange().Body();
    EXPECT_EQ(WarningsOf(call), want) << c.target;
  }
}

TEST_F(PodSecurityTest, UpdatesWithoutRelevantChangesAreAllowed) {
  Label("{}");
  ASSERT_EQ(Create("old", kHostNetwork).exchange().status(), 201);
  ASSERT_EQ(Patch("/api/v1/namespaces/ns",
                  R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}})")
                .exchange()
                .status(),
            200);
  api_.Sync(Namespace::kKind);
  const std::string pod = "/api/v1/namespaces/ns/pods/old";
  EXPECT_EQ(Patch(pod, R"({"metadata":{"labels":{"a":"b"}}})").exchange().status(), 200);
  EXPECT_EQ(Patch(pod + "/status", R"({"status":{"phase":"Running"}})").exchange().status(), 200);
  const std::string image = R"({"spec":{"containers":[{"name":"c","image":"other"}]}})";
  EXPECT_EQ(Patch(pod, image, "application/strategic-merge-patch+json").exchange().status(), 403);
  const std::string debug = R"({"spec":{"ephemeralContainers":[{"name":"d","image":"i"}]}})";
  EXPECT_EQ(Patch(pod + "/ephemeralcontainers", debug, "application/strategic-merge-patch+json")
                .exchange()
                .status(),
            403);
}

TEST_F(PodSecurityTest, EphemeralContainersMustMeetTheStandard) {
  Label(R"({"pod-security.kubernetes.io/enforce":"baseline"})");
  ASSERT_EQ(Create("p", kPlain).exchange().status(), 201);
  auto debug = [&](const std::string& security) {
    return Patch("/api/v1/namespaces/ns/pods/p/ephemeralcontainers",
                 R"({"spec":{"ephemeralContainers":[{"name":"d","image":"i","securityContext":)" +
                     security + "}]}}",
                 "application/strategic-merge-patch+json")
        .exchange()
        .status();
  };
  EXPECT_EQ(debug(R"({"privileged":true})"), 403);
  EXPECT_EQ(debug(R"({"capabilities":{"add":["SYS_PTRACE"]}})"), 403);
  EXPECT_EQ(debug("{}"), 200);
}

TEST_F(PodSecurityTest, InvalidNamespaceLabelsAreRejected) {
  const std::string bad =
      api_.Text({.method = "POST",
                 .target = "/api/v1/namespaces",
                 .body = NamespaceOf(R"({"pod-security.kubernetes.io/warn":"bogus"})")});
  EXPECT_EQ(bad.substr(0, 3), "422") << bad;
  Label("{}");
  FakeCall patched = Patch("/api/v1/namespaces/ns",
                           R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"x"}}})");
  EXPECT_EQ(patched.exchange().status(), 422);
}

TEST_F(PodSecurityTest, StricterEnforceLevelWarnsAboutExistingPods) {
  Label(R"({"pod-security.kubernetes.io/warn":"privileged"})");
  for (const char* name : {"b", "a", "c"}) {
    ASSERT_EQ(Create(name, kHostNetwork).exchange().status(), 201);
  }
  ASSERT_EQ(Create("d", R"({"containers":[{"name":"c","image":"i",
                              "securityContext":{"privileged":true}}]})")
                .exchange()
                .status(),
            201);
  ASSERT_EQ(Create("e", kPlain).exchange().status(), 201);
  api_.Sync(Pod::kKind);
  auto enforce = [&](const std::string& level) {
    FakeCall call = Patch(
        "/api/v1/namespaces/ns",
        R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":")" + level + R"("}}})");
    EXPECT_EQ(call.exchange().status(), 200) << call.exchange().Body();
    // An update reads the cache first: wait until it contains this update.
    api_.Sync(Namespace::kKind);
    return WarningsOf(call);
  };
  EXPECT_EQ(enforce("baseline"),
            (Warnings{"existing pods in namespace \"ns\" violate the new PodSecurity enforce level "
                      "\"baseline:latest\"",
                      "a (and 2 other pods): host namespaces", "d: privileged"}));
  EXPECT_EQ(enforce("baseline"), Warnings{});    // unchanged
  EXPECT_EQ(enforce("privileged"), Warnings{});  // not stricter
  EXPECT_EQ(enforce("restricted").size(), 4u);
  EXPECT_EQ(enforce("baseline"), Warnings{});
}

TEST_F(PodSecurityTest, OnePodPerControllerIsCheckedFirst) {
  Label("{}");
  auto owned = [&](const std::string& name, const std::string& owner) {
    const std::string got = api_.Text(
        {.method = "POST",
         .target = "/api/v1/namespaces/ns/pods",
         .body = R"({"metadata":{"name":")" + name +
                 R"(","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r",)"
                 R"("uid":")" +
                 owner + R"(","controller":true}]},"spec":)" + kHostNetwork + "}"});
    ASSERT_EQ(got.substr(0, 3), "201") << got;
  };
  for (int i = 0; i < 5; ++i) owned("a" + std::to_string(i), "one");
  owned("z", "two");
  api_.Sync(Pod::kKind);
  const ResourceStore& pods = api_.registry().Hub(Pod::kKind).store();
  const pod_security::LevelVersion baseline{pod_security::Level::kBaseline, {}};
  const Warnings some =
      pod_security::WarnAboutExistingPods(api_.ctx(), pods, "ns", baseline, {}, {.pods = 2});
  EXPECT_EQ(some,
            (Warnings{"new PodSecurity enforce level only checked against the first 2 of 6 "
                      "existing pods",
                      "existing pods in namespace \"ns\" violate the new PodSecurity enforce level "
                      "\"baseline:latest\"",
                      "a0 (and 1 other pod): host namespaces"}));
  // The time is limited, too.
  const Warnings none = pod_security::WarnAboutExistingPods(api_.ctx(), pods, "ns", baseline, {},
                                                            {.time = std::chrono::milliseconds(0)});
  ASSERT_FALSE(none.empty());
  EXPECT_EQ(none[0].find("new PodSecurity enforce level only checked"), 0u) << none[0];
}

// Tests options of the configuration file with the plugin alone.
class PodSecurityExemptionTest : public PodSecurityTest {
 protected:
  Status Validate(const pod_security::Options& options, const std::string& spec,
                  const std::string& user = "alice") {
    const auto plugin = pod_security::NewPlugin(api_.registry(), options);
    Object pod(Pod::kKind);
    EXPECT_TRUE(pod.FromValue(*json::Parse(R"({"metadata":{"name":"p","namespace":"ns"},"spec":)" +
                                           spec + "}"))
                    .ok());
    UserInfo who;
    who.name = user;
    audit_.clear();
    return plugin->Validate(api_.ctx(), {.operation = Operation::kCreate,
                                         .resource = api_.registry().Hub(Pod::kKind),
                                         .subresource = {},
                                         .ns = "ns",
                                         .name = "p",
                                         .user = who,
                                         .object = &pod,
                                         .audit = &audit_});
  }

  AuditAnnotations audit_;
};

TEST_F(PodSecurityExemptionTest, DefaultsApplyToNamespacesWithoutLabels) {
  Label("{}");
  pod_security::Options options;
  EXPECT_TRUE(Validate(options, kHostNetwork).ok());
  options.defaults.enforce.level = pod_security::Level::kBaseline;
  EXPECT_EQ(Validate(options, kHostNetwork).code(), 403);
  EXPECT_TRUE(Validate(options, kPlain).ok());
}

TEST_F(PodSecurityExemptionTest, UsersNamespacesAndRuntimeClassesCanBeExempt) {
  Label(R"({"pod-security.kubernetes.io/enforce":"restricted"})");
  const std::string spec = R"({"runtimeClassName":"sandbox","hostNetwork":true})";
  EXPECT_EQ(Validate({}, spec).code(), 403);
  const std::pair<pod_security::Options, std::string> kCases[] = {
      {{.exempt_users = {"alice"}}, "user"},
      {{.exempt_namespaces = {"ns"}}, "namespace"},
      {{.exempt_runtime_classes = {"sandbox"}}, "runtimeClass"},
  };
  for (const auto& [options, why] : kCases) {
    EXPECT_TRUE(Validate(options, spec).ok()) << why;
    EXPECT_EQ(audit_, (AuditAnnotations{{"pod-security.kubernetes.io/exempt", why}}));
  }
  EXPECT_EQ(Validate({.exempt_users = {"alice"}}, spec, "bob").code(), 403);
}

TEST_F(PodSecurityExemptionTest, AuditAnnotationsContainPolicyAndViolations) {
  Label(R"({"pod-security.kubernetes.io/enforce":"privileged",
            "pod-security.kubernetes.io/audit":"baseline"})");
  EXPECT_TRUE(Validate({}, kHostNetwork).ok());
  EXPECT_EQ(audit_,
            (AuditAnnotations{{"pod-security.kubernetes.io/enforce-policy", "privileged:latest"},
                              {"pod-security.kubernetes.io/audit-violations",
                               "would violate PodSecurity \"baseline:latest\": host namespaces "
                               "(hostNetwork=true)"}}));
}

}  // namespace
}  // namespace cox::apiserver
