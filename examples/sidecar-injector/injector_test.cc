// SPDX-License-Identifier: Apache-2.0
#include "injector.h"

#include <gtest/gtest.h>

#include "object/type/equal.h"

namespace sidecar {
namespace {

using cox::core::v1::Pod;

Pod App() {
  Pod pod;
  pod.metadata.name = "app";
  pod.spec.containers.emplace_back().name = "main";
  return pod;
}

TEST(InjectTest, InsertsTheProxyAsTheFirstContainer) {
  Pod pod = App();
  EXPECT_EQ(Inject({.proxy_image = "proxy:v2"}, pod), Outcome::kInjected);
  ASSERT_EQ(pod.spec.containers.size(), 2U);
  EXPECT_EQ(pod.spec.containers[0].name, "proxy");
  EXPECT_EQ(pod.spec.containers[0].image, "proxy:v2");
  EXPECT_EQ(pod.spec.containers[0].ports[0].containerPort, 15001);
  EXPECT_EQ(pod.spec.containers[1].name, "main");
  EXPECT_TRUE(pod.spec.initContainers.empty());
  EXPECT_EQ(*pod.metadata.annotations.Get(kStatusAnnotation), "proxy:v2");
}

TEST(InjectTest, AddsTheInitContainerOnlyIfItHasAnImage) {
  Pod pod = App();
  pod.spec.initContainers.emplace_back().name = "migrate";
  EXPECT_EQ(Inject({.init_image = "init:v1"}, pod), Outcome::kInjected);
  ASSERT_EQ(pod.spec.initContainers.size(), 2U);
  EXPECT_EQ(pod.spec.initContainers[0].name, "proxy-init");
  EXPECT_EQ(pod.spec.initContainers[0].args, (std::vector<std::string>{"--redirect-to", "15001"}));
  EXPECT_EQ(pod.spec.initContainers[1].name, "migrate");
}

TEST(InjectTest, InjectionIsIdempotent) {
  Pod pod = App();
  const InjectorOptions options{.init_image = "init:v1"};
  (void)Inject(options, pod);
  const Pod once = pod;
  EXPECT_EQ(Inject(options, pod), Outcome::kThereAlready);
  EXPECT_TRUE(cox::DeepEqual(pod, once));
}

TEST(InjectTest, SkipsExcludedPods) {
  struct Case {
    const char* name;
    void (*change)(Pod&);
    Outcome wanted;
  };
  const Case cases[] = {
      {"opted out", [](Pod& pod) { pod.metadata.annotations[kInjectAnnotation] = "false"; },
       Outcome::kOptedOut},
      {"the node's network", [](Pod& pod) { pod.spec.hostNetwork = true; }, Outcome::kHostNetwork},
      {"a proxy of its own", [](Pod& pod) { pod.spec.containers[0].name = kProxyName; },
       Outcome::kThereAlready},
      {"a proxy among the init containers",
       [](Pod& pod) { pod.spec.initContainers.emplace_back().name = kProxyName; },
       Outcome::kThereAlready},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    Pod pod = App();
    test.change(pod);
    const Pod before = pod;
    EXPECT_EQ(Inject({.init_image = "init:v1"}, pod), test.wanted);
    EXPECT_TRUE(cox::DeepEqual(pod, before));
  }
  Pod wanted = App();
  wanted.metadata.annotations[kInjectAnnotation] = "true";
  EXPECT_EQ(Inject({}, wanted), Outcome::kInjected);
}

TEST(ConfigurationTest, AppliesToNewPodsInLabeledNamespaces) {
  const auto configuration = Configuration("injector", {.url = "https://hook/x"}, "system");
  ASSERT_EQ(configuration.webhooks.size(), 1U);
  const auto& webhook = configuration.webhooks[0];
  EXPECT_EQ(webhook.clientConfig.url, "https://hook/x");
  EXPECT_EQ(webhook.rules[0].operations, std::vector<std::string>{"CREATE"});
  EXPECT_EQ(webhook.rules[0].rule.resources, std::vector<std::string>{"pods"});
  EXPECT_EQ(*webhook.namespaceSelector->matchLabels.Get(kNamespaceLabel), kNamespaceValue);
  EXPECT_EQ(webhook.namespaceSelector->matchExpressions[0].values,
            std::vector<std::string>{"system"});
}

}  // namespace
}  // namespace sidecar
