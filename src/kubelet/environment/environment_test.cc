// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "kubelet/testing/fake_objects.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using core::v1::Service;
using ::testing::ElementsAre;
using testing::FakeObjects;
using ::testing::IsEmpty;
using testing::MakePod;
using ::testing::Pair;

std::shared_ptr<const Service> MakeService(std::string ns, std::string name, std::string ip) {
  auto service = std::make_shared<Service>();
  service->metadata.namespace_ = std::move(ns);
  service->metadata.name = std::move(name);
  service->spec.clusterIP = std::move(ip);
  service->spec.ports = {{.port = 80}};
  return service;
}

class EnvironmentTest : public ::testing::Test {
 protected:
  EnvironmentTest() {
    objects_.PutConfigMap("map", {{"A", "1"}, {"b.c", "2"}, {"with=", "no"}});
    objects_.PutSecret("secret", {{"K", "s3"}, {"A", "from secret"}});
  }
  // `container` is the JSON of the container without its name; `spec` is appended to the Pod's
  // spec.
  Result<Environment> Make(const std::string& container, const std::string& spec = "",
                           std::vector<std::shared_ptr<const Service>> services = {}) {
    pod_ = MakePod(R"({"containers":[{"name":"c",)" + container + "}]" + spec + "}");
    return MakeEnvironment(
        ctx_, {pod_, pod_.spec.containers[0], {.pod_ips = {"10.0.0.1"}}, services}, objects_);
  }

  TestClock clock_;
  Context ctx_{clock_};
  FakeObjects objects_;
  core::v1::Pod pod_;
};

TEST_F(EnvironmentTest, EnvFromWithPrefix) {
  const auto got = Make(R"("envFrom":[{"prefix":"P_","configMapRef":{"name":"map"}},
      {"secretRef":{"name":"secret"}},{"configMapRef":{"name":"none","optional":true}}])");
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_THAT(got->variables, ElementsAre(Pair("P_A", "1"), Pair("P_b.c", "2"),
                                          Pair("A", "from secret"), Pair("K", "s3")));
  EXPECT_THAT(got->skipped, ElementsAre("with="));
}

TEST_F(EnvironmentTest, LaterVariablesOverrideAndExpandEarlierOnes) {
  const auto got =
      Make(R"j("envFrom":[{"configMapRef":{"name":"map"}},{"secretRef":{"name":"secret"}}],
      "env":[{"name":"X","value":"<$(A)|$(K)|$(LATER)|$$(A)>"},{"name":"A","value":"own"},{"name":"Y","value":"$(A)"},
        {"name":"LATER","value":"l"},{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
        {"name":"Z","value":"$(IP)"}])j");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got->Find("X"), "<from secret|s3|$(LATER)|$(A)>");
  EXPECT_EQ(*got->Find("Y"), "own");
  EXPECT_EQ(*got->Find("Z"), "10.0.0.1");
}

TEST_F(EnvironmentTest, ErrorsNameMissingObjectOrKey) {
  const std::pair<std::string, std::string> kCases[] = {
      {R"("envFrom":[{"configMapRef":{"name":"none"}}])", "configmap \"none\" not found"},
      {R"("envFrom":[{"secretRef":{"name":"none"}}])", "secret \"none\" not found"},
      {R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"none","key":"k"}}}])",
       "configmap \"none\" not found"},
      {R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"map","key":"k"}}}])",
       "couldn't find key k in ConfigMap default/map"},
      {R"("env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"secret","key":"k"}}}])",
       "couldn't find key k in Secret default/secret"},
      {R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.x"}}}])",
       "unsupported fieldPath: spec.x"},
  };
  for (const auto& [container, want] : kCases) {
    EXPECT_EQ(Make(container).status().message(), want) << container;
  }
}

TEST_F(EnvironmentTest, OptionalSourcesMayBeMissing) {
  const auto got = Make(R"("env":[
      {"name":"A","valueFrom":{"configMapKeyRef":{"name":"none","key":"k","optional":true}}},
      {"name":"B","valueFrom":{"configMapKeyRef":{"name":"map","key":"k","optional":true}}},
      {"name":"C","valueFrom":{"secretKeyRef":{"name":"none","key":"k","optional":true}}},
      {"name":"D","valueFrom":{"secretKeyRef":{"name":"secret","key":"K","optional":true}}}])");
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(got->variables, ElementsAre(Pair("D", "s3")));
}

TEST_F(EnvironmentTest, ServiceVariables) {
  const std::vector<std::shared_ptr<const Service>> services = {
      MakeService("default", "kubernetes", "10.1.0.1"), MakeService("default", "db", "10.1.0.2"),
      MakeService("other", "far", "10.1.0.3")};
  const auto with = Make(R"j("env":[{"name":"URL","value":"http://$(DB_SERVICE_HOST)"
}])j",
                         "", services);
  EXPECT_EQ(*with->Find("URL"), "http://10.1.0.2");
  EXPECT_NE(with->Find("KUBERNETES_SERVICE_HOST"), nullptr);
  EXPECT_EQ(with->Find("FAR_SERVICE_HOST"), nullptr);
  const auto without = Make(R"("env":[])", R"(,"enableServiceLinks":false)", services);
  EXPECT_EQ(without->Find("DB_SERVICE_HOST"), nullptr);
  EXPECT_EQ(*without->Find("KUBERNETES_SERVICE_HOST"), "10.1.0.1");
}

TEST_F(EnvironmentTest, ExpandsWordsAndPaths) {
  const Environment environment{.variables = {{"A", "1"}, {"D", "dir"}}, .skipped = {}};
  EXPECT_THAT(ExpandWords({"x$(A)", "$(B)", "$$(A)"}, environment),
              ElementsAre("x1", "$(B)", "$(A)"));
  EXPECT_EQ(*ExpandPath("logs/$(D)", environment), "logs/dir");
  EXPECT_FALSE(ExpandPath("logs/$(NONE)", environment).ok());
}

}  // namespace
}  // namespace cox::kubelet
