// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/strategy.h"

#include <gmock/gmock.h>

#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "apiserver/testing/test_pods.h"
#include "base/testing/test_clock.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PodStrategyTest : public ::testing::Test {
 protected:
  Pod Created(Pod pod) {
    Object object = Object::Of(std::move(pod));
    strategy_->PrepareForCreate(write_, object);
    return *object.As<Pod>();
  }
  Pod Updated(Pod pod, const Pod& old, std::string_view subresource = "") {
    Object object = Object::Of(std::move(pod));
    const UpdateStrategy* how =
        subresource.empty() ? strategy_.get() : strategy_->Subresource(subresource);
    how->PrepareForUpdate(write_, object, Object::Of(old));
    return *object.As<Pod>();
  }

  StrategyPtr strategy_ = NewPodStrategy();
  TestClock clock_;
  Context ctx_{clock_};
  UserInfo user_;
  WriteContext write_{.ctx = ctx_, .user = user_, .now = Time::FromUnix(1'700'000'000)};
};

TEST_F(PodStrategyTest, NewPodIsPending) {
  Pod pod = PodWith(R"("schedulingGates":[{"name":"a"}])");
  pod.metadata.generation = 5;
  pod.status.phase = "Running";
  pod.status.podIP = "1.2.3.4";
  pod = Created(pod);
  EXPECT_EQ(pod.metadata.generation, 1);
  EXPECT_EQ(json::Encode(pod.status),
            R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",)"
            R"("lastProbeTime":null,"lastTransitionTime":"2023-11-14T22:13:20Z",)"
            R"("reason":"SchedulingGated",)"
            R"("message":"Scheduling is blocked due to non-empty scheduling gates"}],)"
            R"("qosClass":"BestEffort"})");
}

TEST_F(PodStrategyTest, MatchLabelKeysCompleteSelectors) {
  Pod pod = PodWith(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
      {"labelSelector":{},"topologyKey":"z","matchLabelKeys":["v"],"mismatchLabelKeys":["w","x"]}]}},
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":
      "DoNotSchedule","labelSelector":{},"matchLabelKeys":["v"]}])",
                    R"("labels":{"v":"1","w":"2"})");
  pod = Created(pod);
  EXPECT_EQ(json::Encode(
                *pod.spec.affinity->podAffinity->requiredDuringSchedulingIgnoredDuringExecution[0]
                     .labelSelector),
            R"({"matchExpressions":[{"key":"v","operator":"In","values":["1"]},)"
            R"({"key":"w","operator":"NotIn","values":["2"]}]})");
  EXPECT_EQ(json::Encode(*pod.spec.topologySpreadConstraints[0].labelSelector),
            R"({"matchExpressions":[{"key":"v","operator":"In","values":["1"]}]})");
}

TEST_F(PodStrategyTest, FieldsOfDisabledFeaturesAreDroppedUnlessInUse) {
  Pod pod = PodWithContainer(R"("lifecycle":{"stopSignal":"SIGTERM"})");
  EXPECT_FALSE(Created(pod).spec.containers[0].lifecycle);
  EXPECT_TRUE(Updated(pod, pod).spec.containers[0].lifecycle);
}

TEST_F(PodStrategyTest, AppArmorAnnotationsBecomeFields) {
  Pod pod = Created(PodWith(
      "", R"("annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/x"})"));
  ASSERT_TRUE(pod.spec.containers[0].securityContext);
  EXPECT_EQ(json::Encode(*pod.spec.containers[0].securityContext),
            R"({"appArmorProfile":{"type":"Localhost","localhostProfile":"x"}})");
}

TEST_F(PodStrategyTest, GenerationCountsSpecChanges) {
  Pod old = PodWith("");
  old.metadata.generation = 3;
  old.status.phase = "Running";
  Pod pod = old;
  pod.metadata.labels["a"] = "b";
  pod.status.phase = "Failed";
  EXPECT_EQ(Updated(pod, old).metadata.generation, 3);
  EXPECT_EQ(Updated(pod, old).status.phase, "Running");
  pod.spec.containers[0].image = "other";
  EXPECT_EQ(Updated(pod, old).metadata.generation, 4);
}

TEST_F(PodStrategyTest, StatusUpdateKeepsSpec) {
  Pod old = PodWith("");
  old.status.qosClass = "BestEffort";
  Pod pod = old;
  pod.spec.containers[0].image = "other";
  pod.status = {};
  pod.status.phase = "Running";
  pod.metadata.labels["a"] = "b";
  pod.metadata.ownerReferences.emplace_back();
  pod = Updated(pod, old, "status");
  EXPECT_EQ(pod.spec.containers[0].image, "registry.example/app:1");
  EXPECT_EQ(pod.status.phase, "Running");
  EXPECT_EQ(pod.status.qosClass, "BestEffort");
  EXPECT_TRUE(pod.metadata.labels.contains("a"));
  EXPECT_THAT(pod.metadata.ownerReferences, IsEmpty());
}

TEST_F(PodStrategyTest, ResizeAndEphemeralContainersChangeOnlyTheirPart) {
  Pod old = PodWith("");
  old.metadata.generation = 1;
  Pod pod = old;
  pod.metadata.labels["a"] = "b";
  pod.spec.containers[0].image = "other";
  EXPECT_EQ(Updated(pod, old, "resize").metadata.generation, 1);
  pod.spec.containers[0].resources.requests["cpu"] = Quantity(1);
  pod.spec.ephemeralContainers.emplace_back();
  Pod resized = Updated(pod, old, "resize");
  EXPECT_EQ(resized.spec.containers[0].image, "registry.example/app:1");
  EXPECT_TRUE(resized.spec.containers[0].resources.requests.contains("cpu"));
  EXPECT_THAT(resized.spec.ephemeralContainers, IsEmpty());
  EXPECT_FALSE(resized.metadata.labels.contains("a"));
  EXPECT_EQ(resized.metadata.generation, 2);
  Pod debugged = Updated(pod, old, "ephemeralcontainers");
  EXPECT_EQ(debugged.spec.ephemeralContainers.size(), 1u);
  EXPECT_TRUE(debugged.spec.containers[0].resources.requests.empty());
  EXPECT_EQ(strategy_->Subresource("nope"), nullptr);
}

TEST_F(PodStrategyTest, GracePeriodDependsOnRequestAndPod) {
  EXPECT_TRUE(strategy_->DeletesGracefully());
  auto granted = [&](Pod pod, std::optional<int64_t> requested) {
    return strategy_->GracePeriodSeconds(Object::Of(std::move(pod)), requested);
  };
  Pod pod = PodWith(R"("nodeName":"n")");
  EXPECT_EQ(granted(pod, std::nullopt), 30);
  EXPECT_EQ(granted(pod, 7), 7);
  EXPECT_EQ(granted(pod, -1), 1);
  EXPECT_EQ(granted(PodWith(""), std::nullopt), 0);
  pod.status.phase = "Succeeded";
  EXPECT_EQ(granted(pod, 7), 0);
}

TEST_F(PodStrategyTest, SelectableFields) {
  Pod pod = PodWith(R"("nodeName":"n","hostNetwork":true)");
  pod.status.podIP = "10.0.0.1";
  SetPodDefaults(pod);
  FieldPairs fields = strategy_->Fields(Object::Of(pod));
  ASSERT_EQ(fields.size(), strategy_->FieldNames().size());
  for (size_t i = 0; i < fields.size(); ++i) EXPECT_EQ(fields[i].first, strategy_->FieldNames()[i]);
  EXPECT_EQ(fields[0].second, "n");
  EXPECT_EQ(fields[4].second, "true");
  EXPECT_EQ(fields[6].second, "10.0.0.1");
}

TEST_F(PodStrategyTest, WarnsOnCreateOnly) {
  Object pod = Object::Of(PodWithContainer(
      R"x("env":[{"name":"A","value":"1"},{"name":"A","value":"2"},{"name":"A","value":"$(A)3"}],
         "ports":[{"containerPort":1},{"containerPort":1}],
         "resources":{"requests":{"memory":"1m"}})x",
      R"("nodeSelector":{"beta.kubernetes.io/arch":"x"},"imagePullSecrets":[{},{"name":"a"},
         {"name":"a"}],"volumes":[{"name":"v","gitRepo":{"repository":"x"}},
         {"name":"w","configMap":{"name":"m","items":[{"key":"a","path":"x"},
         {"key":"b","path":"x/y"}]}}],"topologySpreadConstraints":[{"topologyKey":"z"}])"));
  EXPECT_THAT(
      strategy_->WarnOnCreate(write_, pod),
      ElementsAre(
          "spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "
          "\"kubernetes.io/arch\" instead",
          "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in "
          "matching no pod",
          "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
          "spec.imagePullSecrets[0].name: invalid empty name \"\"",
          "spec.imagePullSecrets[2].name: duplicate name \"a\"",
          "spec.containers[0].resources.requests[memory]: fractional byte value \"1m\" is "
          "invalid, must be an integer",
          "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped "
          "when using apply",
          "spec.containers[0].ports[1]: duplicate port definition with "
          "spec.containers[0].ports[0]",
          "volume \"w\" (ConfigMap \"m\"): overlapping paths: \"x/y\" with \"x\""));
  EXPECT_THAT(strategy_->WarnOnUpdate(write_, pod, pod), IsEmpty());
}

TEST(PodTemplateStrategy, ValidatesTemplate) {
  core::v1::PodTemplateSpec object = FromJson<core::v1::PodTemplateSpec>(
      R"({"metadata":{"labels":{"a b":"c"}},"spec":{"ephemeralContainers":[{"name":"e",
          "image":"x"}],"volumes":[{"name":"v","image":{}}]}})");
  SetPodTemplateDefaults(object);
  EXPECT_THAT(
      Texts(ValidatePodTemplateSpec(object, FieldPath("template"))),
      ElementsAre("template.labels: Invalid value: \"a b\": name part must consist of "
                  "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                  "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
                  "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                  "template.spec.containers: Required value",
                  "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed "
                  "in pod template"));
}

TEST(PodValidationOptions, AllowInvalidValuesThatAreStored) {
  Pod old = PodWith(R"("hostAliases":[{"ip":"010.0.0.1"}],"hostNetwork":true,
                       "securityContext":{"sysctls":[{"name":"net.x","value":"1"}]})");
  PodValidationOptions options = PodValidationOptionsFor(&old.spec);
  EXPECT_THAT(Texts(ValidatePodSpec(old.spec, nullptr, FieldPath("spec"), options)), IsEmpty());
  EXPECT_EQ(ValidatePodSpec(old.spec, nullptr, FieldPath("spec")).size(), 2u);
}

}  // namespace
}  // namespace cox::apiserver
