// SPDX-License-Identifier: Apache-2.0
#include "api/admissionregistration/v1.h"
#include "apiserver/registry/kinds/admissionregistration/rules.h"
#include "apiserver/registry/kinds/admissionregistration/strategies.h"
#include "apiserver/registry/kinds/admissionregistration/webhook_client.h"
#include "apiserver/testing/recorded_creates.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

const std::filesystem::path kScenarios =
    std::filesystem::path(test::SharedDirectory()) / "reference" / "scenarios";

using admissionregistration::v1::RuleWithOperations;
using admissionregistration::v1::ValidatingWebhookConfiguration;

TEST(AdmissionregistrationTest, ErrorsMatchUpstreamScenarios) {
  // Excluded: errors that only a CEL compiler can find.
  const int compared =
      CompareCreates(*NewMutatingWebhookConfigurationStrategy(),
                     kScenarios / "validation/mutatingwebhook.json") +
      CompareCreates(*NewValidatingWebhookConfigurationStrategy(),
                     kScenarios / "validation/validatingwebhook.json",
                     {"023-webhooks.0.matchConditions", "025-webhooks.0.matchConditions"}) +
      CompareCreates(
          *NewValidatingAdmissionPolicyStrategy(), kScenarios / "validation/vap.json",
          {"002-validations.0.expression", "003-validations.0.expression",
           "004-validations.0.expression", "007-validations.0.messageExpression", "012-variables",
           "014-auditAnnotations", "017-matchConditions", "018-validations"}) +
      CompareCreates(*NewValidatingAdmissionPolicyBindingStrategy(),
                     kScenarios / "validation/vapbinding.json") +
      CompareCreates(*NewMutatingAdmissionPolicyStrategy(),
                     kScenarios / "crud/mutatingadmissionpolicies.json") +
      CompareCreates(*NewMutatingAdmissionPolicyBindingStrategy(),
                     kScenarios / "crud/mutatingadmissionpolicybindings.json");
  if (compared == 0) GTEST_SKIP() << "no reference data";
  EXPECT_GT(compared, 45);
}

TEST(AdmissionregistrationTest, SetsDefaultsOfWebhooks) {
  Object object = Object::Of(ValidatingWebhookConfiguration{});
  auto& configuration = *object.As<ValidatingWebhookConfiguration>();
  configuration.webhooks.push_back({.name = "a.example.com", .rules = {RuleWithOperations{}}});
  configuration.webhooks[0].clientConfig.service =
      admissionregistration::v1::ServiceReference{.namespace_ = "n", .name = "s"};
  NewValidatingWebhookConfigurationStrategy()->SetDefaults(object);
  const auto& hook = configuration.webhooks[0];
  EXPECT_EQ(hook.failurePolicy, "Fail");
  EXPECT_EQ(hook.matchPolicy, "Equivalent");
  EXPECT_EQ(hook.timeoutSeconds, 10);
  EXPECT_TRUE(hook.namespaceSelector.has_value());
  EXPECT_EQ(hook.clientConfig.service->port, 443);
  EXPECT_EQ(hook.rules[0].rule.scope, "*");
}

TEST(AdmissionregistrationTest, GenerationCountsOnlyChangesOfWebhooks) {
  const StrategyPtr strategy = NewValidatingWebhookConfigurationStrategy();
  TestClock clock;
  Context ctx(clock);
  const UserInfo user;
  const WriteContext w{ctx, user, Time()};
  Object old = Object::Of(ValidatingWebhookConfiguration{});
  strategy->PrepareForCreate(w, old);
  Object labelled = old;
  labelled.object_meta()->labels["a"] = "b";
  strategy->PrepareForUpdate(w, labelled, old);
  EXPECT_EQ(labelled.object_meta()->generation, 1);
  Object changed = old;
  changed.As<ValidatingWebhookConfiguration>()->webhooks.push_back({.name = "b"});
  strategy->PrepareForUpdate(w, changed, old);
  EXPECT_EQ(changed.object_meta()->generation, 2);
}

TEST(WebhookUrlTest, AllowsOnlyHttpsUrlsWithHostAndPath) {
  const FieldPath path("url");
  struct Case {
    const char* url;
    const char* problem;  // part of the error; empty: valid
  } cases[] = {
      {"https://host:8443/a/b", ""},
      {"HTTPS://host", ""},
      {"http://host", "'https' is the only allowed URL scheme"},
      {"https:///path", "host must be specified"},
      {"https://user:pw@host/", "user information is not permitted in the URL"},
      {"https://host/#x", "fragments are not permitted in the URL"},
      {"https://host/?q", "query parameters are not permitted in the URL"},
      {"://host", "url must be a valid URL: parse \"://host\": missing protocol scheme"},
      {"https://ho\nst", "net/url: invalid control character in URL"},
  };
  for (const Case& c : cases) {
    const std::string text = AggregateText(ValidateWebhookUrl(c.url, path));
    if (*c.problem == '\0') {
      EXPECT_EQ(text, "") << c.url;
    } else {
      EXPECT_NE(text.find(c.problem), std::string::npos) << c.url << ": " << text;
    }
  }
}

TEST(RulesTest, WildcardMustNotOverlapOtherResources) {
  auto errors = [](std::vector<std::string> resources) {
    RuleWithOperations rule;
    rule.operations = {"CREATE"};
    rule.rule.apiGroups = {""};
    rule.rule.apiVersions = {"v1"};
    rule.rule.resources = std::move(resources);
    return AggregateText(ValidateRule(rule, FieldPath("r")));
  };
  EXPECT_EQ(errors({"pods", "pods/log"}), "");
  EXPECT_EQ(errors({"*", "pods/log"}), "");
  EXPECT_NE(errors({"*", "pods"}).find("without subresources"), std::string::npos);
  EXPECT_EQ(errors({"pods/*", "pods/log"}),
            "r.resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify "
            "pods/log");
  EXPECT_EQ(errors({""}), "r.resources[0]: Required value");
}

}  // namespace
}  // namespace cox::apiserver
