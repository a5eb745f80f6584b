// SPDX-License-Identifier: Apache-2.0
#include "preset.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"
#include "object/type/equal.h"

namespace preset {
namespace {

using cox::core::v1::ConfigMap;
using cox::core::v1::Pod;

ConfigMap Map(const std::string& name,
              std::vector<std::pair<std::string, std::string>> entries = {}) {
  ConfigMap map;
  map.metadata.name = name;
  map.metadata.resourceVersion = "7";
  map.data["selector"] = "matchLabels: {role: frontend}";
  for (const auto& [key, value] : entries) map.data[key] = value;
  return map;
}

Preset Parsed(const ConfigMap& map) {
  cox::Result<Preset> preset = ParsePreset(map);
  EXPECT_TRUE(preset.ok()) << preset.status().ToString();
  return preset.ok() ? *std::move(preset) : Preset();
}

Pod Frontend() {
  auto pod = cox::json::Decode<Pod>(R"({"metadata":{"name":"web","labels":{"role":"frontend"}},
      "spec":{"initContainers":[{"name":"init"}],
              "containers":[{"name":"web","env":[{"name":"OWN","value":"1"}]},{"name":"log"}]}})");
  EXPECT_TRUE(pod.ok());
  return *pod;
}

const std::vector<std::pair<std::string, std::string>> kDatabase = {
    {"env",
     "- {name: DB_PORT, value: '6379'}\n"
     "- name: DB_PASSWORD\n  valueFrom: {secretKeyRef: {name: db, key: password}}\n"},
    {"envFrom", "[{configMapRef: {name: more}}]"},
    {"volumes", R"([{"name":"cache","emptyDir":{}}])"},
    {"volumeMounts", "- {name: cache, mountPath: /cache}"}};

TEST(ParsePresetTest, ReadsYamlAndJson) {
  const Preset preset = Parsed(Map("database", kDatabase));
  EXPECT_EQ(preset.name, "database");
  EXPECT_EQ(preset.resource_version, "7");
  EXPECT_TRUE(preset.selector.Matches(Frontend().metadata.labels));
  EXPECT_FALSE(preset.selector.Matches(Pod().metadata.labels));
  ASSERT_EQ(preset.env.size(), 2U);
  EXPECT_EQ(preset.env[1].valueFrom->secretKeyRef->key, "password");
  EXPECT_EQ(preset.env_from.size(), 1U);
  EXPECT_EQ(preset.volumes[0].name, "cache");
  EXPECT_EQ(preset.volume_mounts[0].mountPath, "/cache");
}

TEST(ParsePresetTest, EmptySelectorMatchesAllPods) {
  EXPECT_TRUE(Parsed(Map("all", {{"selector", "{}"}})).selector.Matches(Pod().metadata.labels));
}

TEST(ParsePresetTest, ErrorsNameTheInvalidEntry) {
  struct Case {
    const char* entry;
    const char* text;
    const char* says;
  };
  for (const Case& test :
       {Case{"selector", "matchLabels: 7", "selector"},
        Case{"selector", "matchLabel: {a: b}", "selector: unknown field"},
        Case{"selector", "matchExpressions: [{key: a, operator: Maybe}]", "selector"},
        Case{"env", "name: A", "env: is not a list"},
        Case{"env", "[{name: A, valu: b}]", "env: unknown field"}, Case{"env", "[", "env"},
        Case{"volumes", "[{name: 7}]", "volumes"}}) {
    const auto preset = ParsePreset(Map("bad", {{test.entry, test.text}}));
    EXPECT_TRUE(preset.status().Is(cox::Reason::kBadRequest)) << test.text;
    EXPECT_TRUE(preset.status().message().starts_with(test.says)) << preset.status().message();
  }
  ConfigMap none = Map("none");
  none.data.erase("selector");
  EXPECT_FALSE(ParsePreset(none).ok());
  EXPECT_FALSE(ParsePreset(Map(std::string(64, 'a'))).ok());
}

TEST(MergeTest, MergesThePresetIntoEachContainer) {
  Pod pod = Frontend();
  EXPECT_FALSE(Merge({Parsed(Map("database", kDatabase))}, pod).has_value());
  ASSERT_EQ(pod.spec.volumes.size(), 1U);
  for (const auto* containers : {&pod.spec.initContainers, &pod.spec.containers}) {
    for (const auto& container : *containers) {
      SCOPED_TRACE(container.name);
      EXPECT_EQ(container.env.back().name, "DB_PASSWORD");
      EXPECT_EQ(container.envFrom.size(), 1U);
      EXPECT_EQ(container.volumeMounts.size(), 1U);
    }
  }
  EXPECT_EQ(pod.spec.containers[0].env.size(), 3U);
  EXPECT_EQ(*pod.metadata.annotations.Get("podpreset.example.com/database"), "7");
}

TEST(MergeTest, MergeIsIdempotent) {
  Pod pod = Frontend();
  const std::vector<Preset> presets = {Parsed(Map("database", kDatabase))};
  EXPECT_FALSE(Merge(presets, pod).has_value());
  const Pod once = pod;
  EXPECT_FALSE(Merge(presets, pod).has_value());
  EXPECT_TRUE(cox::DeepEqual(pod, once));
}

TEST(MergeTest, ConflictLeavesThePodUnchanged) {
  struct Case {
    const char* entry;
    const char* text;
    const char* what;
  };
  const Case cases[] = {
      {"env", "[{name: OWN, value: '2'}]", "the environment variable OWN of container web"},
      {"env", "[{name: DB_PORT, value: '1'}]",
       "the environment variable DB_PORT of container init"},
      {"volumes", "[{name: cache, hostPath: {path: /tmp}}]", "the volume cache"},
      {"volumeMounts", "[{name: cache, mountPath: /cache, readOnly: true}]",
       "the mount at /cache of container init"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.what);
    Pod pod = Frontend();
    const Pod before = pod;
    const auto clash = Merge(
        {Parsed(Map("other", {{test.entry, test.text}})), Parsed(Map("database", kDatabase))}, pod);
    ASSERT_TRUE(clash.has_value());
    EXPECT_EQ(clash->preset, "other");
    EXPECT_EQ(clash->what, test.what);
    EXPECT_TRUE(cox::DeepEqual(pod, before));
  }
}

TEST(MergeTest, EqualItemsAreNoConflict) {
  Pod pod = Frontend();
  EXPECT_FALSE(Merge({Parsed(Map("a", kDatabase)), Parsed(Map("b", kDatabase))}, pod).has_value());
  EXPECT_EQ(pod.spec.volumes.size(), 1U);
  EXPECT_TRUE(pod.metadata.annotations.contains("podpreset.example.com/a"));
  EXPECT_TRUE(pod.metadata.annotations.contains("podpreset.example.com/b"));
}

TEST(WantsTest, ExcludesAnnotatedAndMirrorPods) {
  Pod pod;
  EXPECT_TRUE(Wants(pod));
  pod.metadata.annotations[kExcludeAnnotation] = "true";
  EXPECT_FALSE(Wants(pod));
  pod.metadata.annotations[kExcludeAnnotation] = "false";
  EXPECT_TRUE(Wants(pod));
  pod.metadata.annotations["kubernetes.io/config.mirror"] = "x";
  EXPECT_FALSE(Wants(pod));
}

TEST(ConfigurationTest, AppliesOnlyToTheCreationOfPods) {
  const auto configuration = Configuration("preset", {.url = "https://hook/x"}, "system");
  const auto& webhook = configuration.webhooks.at(0);
  EXPECT_EQ(webhook.rules.size(), 1U);
  EXPECT_EQ(webhook.rules[0].operations, std::vector<std::string>{"CREATE"});
  EXPECT_EQ(webhook.rules[0].rule.apiGroups, std::vector<std::string>{""});
  EXPECT_EQ(webhook.rules[0].rule.resources, std::vector<std::string>{"pods"});
}

}  // namespace
}  // namespace preset
