// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rules.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

PolicyRule Rule(std::string_view json) {
  Result<PolicyRule> rule = json::Decode<PolicyRule>(json);
  EXPECT_TRUE(rule.ok()) << json;
  return *rule;
}

RequestInfo MakeRequest(std::string_view verb, std::string_view group, std::string_view resource,
                        std::string_view subresource = "", std::string_view name = "") {
  RequestInfo ask;
  ask.is_resource = true;
  ask.verb = verb;
  ask.group = group;
  ask.resource = resource;
  ask.subresource = subresource;
  ask.name = name;
  return ask;
}

TEST(RulesTest, ResourcesMatch) {
  constexpr std::string_view kPods =
      R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]})";
  constexpr std::string_view kAll = R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})";
  constexpr std::string_view kLog =
      R"({"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]})";
  constexpr std::string_view kScale =
      R"({"verbs":["get"],"apiGroups":["apps"],"resources":["*/scale"]})";
  constexpr std::string_view kStars =
      R"({"verbs":["get"],"apiGroups":[""],"resources":["pods/*"]})";
  constexpr std::string_view kNamed =
      R"({"verbs":["get","list","create"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a","b"]})";
  constexpr std::string_view kPath = R"({"verbs":["get"],"nonResourceURLs":["*"]})";
  const struct {
    std::string_view rule;
    RequestInfo ask;
    bool allowed;
  } kCases[] = {
      {kPods, MakeRequest("get", "", "pods"), true},
      {kPods, MakeRequest("get", "", "pods", "", "web"), true},
      {kPods, MakeRequest("delete", "", "pods"), false},
      {kPods, MakeRequest("get", "apps", "pods"), false},
      {kPods, MakeRequest("get", "", "podsx"), false},
      {kPods, MakeRequest("get", "", "pods", "log"), false},
      {kAll, MakeRequest("get", "apps", "deployments", "scale", "x"), true},
      {kLog, MakeRequest("get", "", "pods", "log"), true},
      {kLog, MakeRequest("get", "", "pods"), false},
      {kLog, MakeRequest("get", "", "pod", "s/log"), false},
      {kScale, MakeRequest("get", "apps", "deployments", "scale"), true},
      {kScale, MakeRequest("get", "apps", "deployments", "status"), false},
      {kScale, MakeRequest("get", "apps", "scale"), false},
      {kStars, MakeRequest("get", "", "pods", "log"), false},
      {kNamed, MakeRequest("get", "", "secrets", "", "b"), true},
      {kNamed, MakeRequest("get", "", "secrets", "", "c"), false},
      {kNamed, MakeRequest("list", "", "secrets"), false},
      {kNamed, MakeRequest("list", "", "secrets", "", "a"), true},
      {kNamed, MakeRequest("create", "", "secrets"), false},
      {kPath, MakeRequest("get", "", "pods"), false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(RuleAllows(Rule(c.rule), c.ask), c.allowed)
        << c.rule << " " << c.ask.verb << " " << c.ask.resource << "/" << c.ask.subresource;
  }
}

TEST(RulesTest, PathsMatchExactlyOrByPrefix) {
  const struct {
    std::string_view urls, path;
    bool allowed;
  } kCases[] = {
      {R"(["/healthz"])", "/healthz", true}, {R"(["/healthz"])", "/healthz/x", false},
      {R"(["/ref/*"])", "/ref/thing", true}, {R"(["/ref/*"])", "/ref", false},
      {R"(["/ref*"])", "/reference", true},  {R"(["*"])", "/anything", true},
      {R"(["/a","/b"])", "/b", true},        {R"(["/a*b"])", "/axb", false},
  };
  for (const auto& c : kCases) {
    RequestInfo ask;
    ask.verb = "get";
    ask.path = c.path;
    const PolicyRule rule =
        Rule(R"({"verbs":["get"],"nonResourceURLs":)" + std::string(c.urls) + "}");
    EXPECT_EQ(RuleAllows(rule, ask), c.allowed) << c.urls << " " << c.path;
    ask.verb = "post";
    EXPECT_FALSE(RuleAllows(rule, ask)) << c.urls;
  }
}

TEST(RulesTest, MissingRulesAreSplitAndCompacted) {
  const struct {
    std::vector<std::string_view> held;
    std::string_view wanted;
    std::string missing;
  } kCases[] = {
      {{R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})"},
       R"({"verbs":["get","list"],"apiGroups":["","apps"],"resources":["pods","*/scale"]})",
       ""},
      {{R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})",
        R"({"verbs":["list"],"apiGroups":[""],"resources":["pods"]})"},
       R"({"verbs":["get","list","watch"],"apiGroups":[""],"resources":["pods"]})",
       R"({APIGroups:[""], Resources:["pods"], Verbs:["watch"]})"},
      {{R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})"},
       R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods","pods/log"]})",
       R"({APIGroups:[""], Resources:["pods"], Verbs:["list"]})"
       "\n"
       R"({APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]})"},
      {{R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a"]})"},
       R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a","b"]})",
       R"({APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]})"},
      {{R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a"]})"},
       R"({"verbs":["get"],"apiGroups":[""],"resources":["secrets"]})",
       R"({APIGroups:[""], Resources:["secrets"], Verbs:["get"]})"},
      {{R"({"verbs":["get"],"apiGroups":["apps"],"resources":["*/scale"]})"},
       R"({"verbs":["get"],"apiGroups":["apps"],"resources":["deployments/scale"]})",
       ""},
      {{R"({"verbs":["get"],"nonResourceURLs":["/a/*"]})"},
       R"({"verbs":["get","put"],"nonResourceURLs":["/a/b","*"]})",
       R"({NonResourceURLs:["/a/b"], Verbs:["put"]})"
       "\n"
       R"({NonResourceURLs:["*"], Verbs:["get"]})"
       "\n"
       R"({NonResourceURLs:["*"], Verbs:["put"]})"},
  };
  for (const auto& c : kCases) {
    List<PolicyRule> held;
    for (std::string_view text : c.held) held.push_back(Rule(text));
    const List<PolicyRule> wanted = {Rule(c.wanted)};
    std::string missing;
    for (const PolicyRule& rule : CompactRules(MissingRules(held, wanted))) {
      missing += (missing.empty() ? "" : "\n") + RuleText(rule);
    }
    EXPECT_EQ(missing, c.missing) << c.wanted;
  }
}

}  // namespace
}  // namespace cox::apiserver
