// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/policy.h"

#include <gtest/gtest.h>

namespace cox::apiserver::pod_security {
namespace {

constexpr LevelVersion kBaseline{Level::kBaseline, {}};
constexpr LevelVersion kRestricted{Level::kRestricted, {}};

TEST(PolicyTest, VersionsAreLatestOrAReleaseOfV1) {
  for (const char* text : {"latest", "v1.0", "v1.9", "v1.36", "v1.1000"}) {
    const std::optional<Version> version = ParseVersion(text);
    ASSERT_TRUE(version) << text;
    EXPECT_EQ(version->ToString(), text);
  }
  for (const char* text : {"", "v1", "v1.", "1.2", "v1.01", "v1.-1", "v1.2.3", "v0.0.0.1", "v2.1",
                           "Latest", "v1.2 ", "v1.99999999999999999999", "v1.1073741824"}) {
    EXPECT_FALSE(ParseVersion(text)) << text;
  }
}

TEST(PolicyTest, LabelsOverrideTheDefaults) {
  const Policy defaults{.enforce = kBaseline, .audit = kRestricted, .warn = kRestricted};
  EXPECT_EQ(PolicyOf({}, defaults).policy, defaults);
  const LabelledPolicy pinned = PolicyOf({{"pod-security.kubernetes.io/enforce-version", "v1.22"},
                                          {"pod-security.kubernetes.io/audit", "privileged"},
                                          {"pod-security.kubernetes.io/warn-version", "v1.30"}},
                                         defaults);
  EXPECT_TRUE(pinned.errors.empty());
  EXPECT_EQ(pinned.policy.enforce.ToString(), "baseline:v1.22");
  EXPECT_EQ(pinned.policy.audit.ToString(), "privileged:latest");
  EXPECT_EQ(pinned.policy.warn.ToString(), "restricted:v1.30");
}

TEST(PolicyTest, WarnLevelDefaultsToTheEnforceLevel) {
  const struct {
    Map<std::string> labels;
    std::string_view warn;
  } kCases[] = {
      {{{"pod-security.kubernetes.io/enforce", "baseline"}}, "baseline:latest"},
      {{{"pod-security.kubernetes.io/enforce", "baseline"},
        {"pod-security.kubernetes.io/enforce-version", "v1.30"}},
       "baseline:v1.30"},
      {{{"pod-security.kubernetes.io/enforce", "baseline"},
        {"pod-security.kubernetes.io/warn-version", "v1.31"}},
       "baseline:v1.31"},
      {{{"pod-security.kubernetes.io/enforce", "restricted"},
        {"pod-security.kubernetes.io/warn", "privileged"}},
       "privileged:latest"},
      {{{"pod-security.kubernetes.io/enforce-version", "v1.30"}}, "privileged:latest"},
  };
  for (const auto& c : kCases) EXPECT_EQ(PolicyOf(c.labels, {}).policy.warn.ToString(), c.warn);
  // Unless the default warn level is stricter.
  EXPECT_EQ(PolicyOf({{"pod-security.kubernetes.io/enforce", "baseline"}}, {.warn = kRestricted})
                .policy.warn,
            kRestricted);
}

TEST(PolicyTest, InvalidLevelIsRestrictedForEnforceAndPrivilegedElsewhere) {
  const LabelledPolicy got = PolicyOf({{"pod-security.kubernetes.io/audit", "no"},
                                       {"pod-security.kubernetes.io/enforce", "yes"},
                                       {"pod-security.kubernetes.io/enforce-version", "v0.0.0.1"},
                                       {"pod-security.kubernetes.io/warn", ""}},
                                      {.audit = kBaseline, .warn = kBaseline});
  EXPECT_EQ(got.policy.enforce, kRestricted);
  EXPECT_EQ(got.policy.audit.level, Level::kPrivileged);
  EXPECT_EQ(got.policy.warn.level, Level::kPrivileged);
  ASSERT_EQ(got.errors.size(), 4u);
  EXPECT_EQ(got.errors[0].ToString(),
            "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"yes\": must be "
            "one of privileged, baseline, restricted");
  EXPECT_EQ(got.errors[1].ToString(),
            "metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "
            "\"v0.0.0.1\": must be \"latest\" or \"v1.x\"");
}

TEST(PolicyTest, DescribesTheLabels) {
  const Map<std::string> labels{{"pod-security.kubernetes.io/audit", "privileged"},
                                {"pod-security.kubernetes.io/enforce", "baseline"},
                                {"pod-security.kubernetes.io/warn", "restricted"},
                                {"pod-security.kubernetes.io/warn-version", "v1.30"}};
  EXPECT_EQ(DescribeLabels(labels, PolicyOf(labels, {}).policy),
            "enforce=baseline:latest, warn=restricted:v1.30");
}

}  // namespace
}  // namespace cox::apiserver::pod_security
