// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/event_rate_limit/event_rate_limit.h"
#include "apiserver/admission/plugins/pod_node_selector/pod_node_selector.h"
#include "apiserver/admission/plugins/pod_toleration_restriction/pod_toleration_restriction.h"
#include "apiserver/testing/admission_harness.h"

// Tests of plugins that have a configuration.
namespace cox::apiserver {
namespace {

using core::v1::Event;
using core::v1::Namespace;
using core::v1::Pod;

class ConfiguredPluginsTest : public PluginTest {
 protected:
  AdmissionParts With(std::string_view plugin, std::string_view json) {
    AdmissionParts parts = parts_;
    const Result<Value> value = json::Parse(json);
    EXPECT_TRUE(value.ok()) << json;
    parts.configs.emplace(plugin, *value);
    const Status checked = CheckPluginConfigs(parts.configs);
    EXPECT_TRUE(checked.ok()) << checked.message();
    return parts;
  }
  void AddNamespace(const std::string& name, const std::string& annotations) {
    api_.Create(Of<Namespace>(R"({"metadata":{"name":")" + name + R"(","annotations":)" +
                              annotations + "}}"));
  }
  static Object PodIn(const std::string& ns, const std::string& spec) {
    return Of<Pod>(R"({"metadata":{"name":"p","namespace":")" + ns + R"("},"spec":)" + spec + "}");
  }
};

TEST_F(ConfiguredPluginsTest, PodsGetTheNodeSelectorOfTheirNamespace) {
  auto plugin = NewPodNodeSelector(With("PodNodeSelector", R"({"podNodeSelectorPluginConfig":
      {"clusterDefaultNodeSelector":"pool=shared","strict":"pool=own,disk=ssd"}})"));
  AddNamespace("says", R"({"scheduler.alpha.kubernetes.io/node-selector":"pool=a, arch=arm"})");
  AddNamespace("strict", R"({"scheduler.alpha.kubernetes.io/node-selector":"pool=own"})");
  const std::string refused = "pods \"p\" is forbidden: pod node label selector ";
  const struct {
    std::string ns, own, want, pool;
  } kCases[] = {
      {"default", "{}", "", "shared"},
      {"says", R"({"x":"y"})", "", "a"},
      {"says", R"({"pool":"b"})", refused + "conflicts with its namespace node label selector",
       "b"},
      {"strict", R"({"disk":"ssd"})", "", "own"},
      {"strict", R"({"disk":"hdd"})", refused + "labels conflict with its namespace whitelist",
       "own"},
  };
  for (const auto& c : kCases) {
    Object pod = PodIn(c.ns, R"({"nodeSelector":)" + c.own + "}");
    EXPECT_EQ(OnCreate(*plugin, pod), c.want) << c.ns << c.own;
    EXPECT_EQ(*pod.As<Pod>()->spec.nodeSelector.Get("pool"), c.pool) << c.ns << c.own;
  }
}

TEST_F(ConfiguredPluginsTest, TolerationsAreDefaultedAndCheckedAgainstTheWhitelist) {
  auto plugin = NewPodTolerationRestriction(With("PodTolerationRestriction", R"({
      "apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","kind":"Configuration",
      "default":[{"key":"a","operator":"Exists"}],
      "whitelist":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}]})"));
  AddNamespace("own", R"({"scheduler.alpha.kubernetes.io/defaultTolerations":
      "[{\"key\":\"c\",\"operator\":\"Exists\"}]",
      "scheduler.alpha.kubernetes.io/tolerationsWhitelist":""})");
  AddNamespace("broken", R"({"scheduler.alpha.kubernetes.io/defaultTolerations":"["})");
  const auto keys = [&](const std::string& ns, const std::string& tolerations) {
    Object pod = PodIn(ns, R"({"tolerations":)" + tolerations + "}");
    const std::string refused = OnCreate(*plugin, pod);
    if (!refused.empty()) return refused;
    std::string text;
    for (const auto& toleration : pod.As<Pod>()->spec.tolerations) text += toleration.key + " ";
    return text;
  };
  EXPECT_EQ(keys("default", "[]"), "a ");
  EXPECT_EQ(keys("default", R"([{"key":"a","operator":"Equal","value":"1"}])"), "a ");
  EXPECT_EQ(keys("default", R"([{"key":"b","operator":"Equal","value":"1"}])"), "b a ");
  EXPECT_EQ(keys("default", R"([{"key":"x","operator":"Exists"}])"),
            "pods \"p\" is forbidden: pod tolerations (possibly merged with namespace default "
            "tolerations) conflict with its cluster whitelist");
  EXPECT_EQ(keys("own", R"([{"key":"x","operator":"Exists"}])"), "x c ");
  EXPECT_NE(keys("broken", "[]").find("is forbidden: annotation"), std::string::npos);
  Object reserves = PodIn("own", R"({"containers":[{"name":"c","resources":{"requests":
      {"memory":"1Mi"}}}]})");
  EXPECT_EQ(OnCreate(*plugin, reserves), "");
  EXPECT_EQ(reserves.As<Pod>()->spec.tolerations.back().key, "node.kubernetes.io/memory-pressure");
}

TEST_F(ConfiguredPluginsTest, EventsAboveTheRateLimitAreRejected) {
  auto plugin = NewEventRateLimit(With("EventRateLimit", R"({
      "apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","kind":"Configuration",
      "limits":[{"type":"Namespace","qps":1,"burst":2,"cacheSize":2}]})"));
  const auto event = [&](const std::string& ns) {
    Object object = Of<Event>(R"({"metadata":{"name":"e","namespace":")" + ns + "\"}}");
    return OnCreate(*plugin, object);
  };
  EXPECT_EQ(event("a"), "");
  EXPECT_EQ(event("a"), "");
  EXPECT_EQ(event("a"), "Too many requests: limit reached on type Namespace for key a");
  EXPECT_EQ(event("b"), "");
  api_.clock().Advance(std::chrono::seconds(1));
  EXPECT_EQ(event("a"), "");
  EXPECT_NE(event("a"), "");
  // The LRU cache has two entries; "b" is the least recently used.
  EXPECT_EQ(event("c"), "");
  EXPECT_NE(event("a"), "");
  Object pod = PodIn("a", "{}");
  EXPECT_EQ(OnCreate(*plugin, pod), "");
}

TEST_F(ConfiguredPluginsTest, InvalidConfigurationsAreRejected) {
  const struct {
    std::string plugin, json;
  } kCases[] = {
      {"PodNodeSelector", R"({"podNodeSelector":{}})"},
      {"PodNodeSelector", R"({"podNodeSelectorPluginConfig":{"a":1}})"},
      {"PodNodeSelector", R"({"podNodeSelectorPluginConfig":{"a":"b"}})"},
      {"PodTolerationRestriction", R"({"kind":"Configuration",
          "apiVersion":"podtolerationrestriction.admission.k8s.io/v1alpha1","defaults":[]})"},
      {"EventRateLimit", R"({"kind":"Configuration",
          "apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","limits":[]})"},
      {"EventRateLimit", R"({"kind":"Configuration",
          "apiVersion":"eventratelimit.admission.k8s.io/v1alpha1",
          "limits":[{"type":"Planet","qps":1,"burst":1}]})"},
      {"EventRateLimit", R"({"kind":"Configuration",
          "apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","limits":[{"type":"Server"}]})"},
  };
  for (const auto& c : kCases) {
    EXPECT_FALSE(CheckPluginConfigs({{c.plugin, *json::Parse(c.json)}}).ok()) << c.json;
  }
}

}  // namespace
}  // namespace cox::apiserver
