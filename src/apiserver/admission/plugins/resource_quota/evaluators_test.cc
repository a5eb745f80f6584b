// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/resource/v1.h"
#include "apiserver/admission/plugins/resource_quota/evaluator.h"
#include "object/codec/json/json.h"

namespace cox::apiserver::quota {
namespace {

using core::v1::PersistentVolumeClaim;
using core::v1::Pod;
using core::v1::Service;

constexpr int64_t kNow = 1'700'000'000;

template <class T>
Object Of(std::string_view json) {
  Object object(T::kKind);
  const Result<Value> value = json::Parse(json);
  EXPECT_TRUE(value.ok()) << json;
  if (value.ok()) {
    EXPECT_TRUE(object.FromValue(*value).ok()) << json;
  }
  return object;
}

std::string UsageOf(const Evaluator& evaluator, const Object& object) {
  return ToText(evaluator.Usage(object, Time::FromUnix(kNow)));
}

TEST(PodEvaluator, SumsTheResourcesOfContainers) {
  const struct {
    std::string_view what, json, want;
  } kCases[] = {
      {"nothing said", R"({"spec":{"containers":[{"name":"a"}]}})", "count/pods=1,pods=1"},
      {"two containers",
       R"({"spec":{"containers":[
           {"name":"a","resources":{"requests":{"cpu":"100m","memory":"1Gi"},"limits":{"cpu":"1"}}},
           {"name":"b","resources":{"requests":{"cpu":"200m"},
                                    "limits":{"cpu":"2","memory":"64Mi"}}}]}})",
       "count/pods=1,cpu=300m,limits.cpu=3,limits.memory=64Mi,memory=1Gi,pods=1,requests.cpu=300m,"
       "requests.memory=1Gi"},
      {"an init container that takes more",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[{"name":"i","resources":{"requests":{"cpu":"3"}}},
                             {"name":"j","resources":{"requests":{"cpu":"2"}}}]}})",
       "count/pods=1,cpu=3,pods=1,requests.cpu=3"},
      {"a sidecar beside both",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[
             {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
             {"name":"i","resources":{"requests":{"cpu":"3"}}}]}})",
       "count/pods=1,cpu=5,pods=1,requests.cpu=5"},
      {"overhead",
       R"({"spec":{"overhead":{"cpu":"250m","memory":"1Mi"},"containers":[{"name":"a","resources":
           {"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}})",
       "count/pods=1,cpu=1250m,limits.cpu=1250m,memory=1Mi,pods=1,requests.cpu=1250m,"
       "requests.memory=1Mi"},
      {"of the Pod as a whole",
       R"({"spec":{"resources":{"requests":{"cpu":"4"},"limits":{"cpu":"5"}},
           "containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"1Mi"}}}]}})",
       "count/pods=1,cpu=4,limits.cpu=5,memory=1Mi,pods=1,requests.cpu=4,requests.memory=1Mi"},
      {"hugepages, devices and disk",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"hugepages-2Mi":"4Mi",
           "example.com/gpu":"2","ephemeral-storage":"1Gi"},"limits":{"hugepages-2Mi":"4Mi",
           "example.com/gpu":"2"}}}]}})",
       "count/pods=1,ephemeral-storage=1Gi,hugepages-2Mi=4Mi,pods=1,requests.ephemeral-storage=1Gi,"
       "requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi"},
      {"one that has ended",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
           "status":{"phase":"Succeeded"}})",
       "count/pods=1"},
      {"a resize under way",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
           "status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"},
             "resources":{"requests":{"cpu":"2"}}}]}})",
       "count/pods=1,cpu=3,pods=1,requests.cpu=3"},
      {"a resize that cannot be",
       R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]},
           "status":{"conditions":[{"type":"PodResizePending","reason":"Infeasible"}],
             "containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"},
             "resources":{"requests":{"cpu":"2"}}}]}})",
       "count/pods=1,cpu=3,pods=1,requests.cpu=3"},
  };
  const EvaluatorPtr pods = NewPodEvaluator();
  for (const auto& c : kCases) EXPECT_EQ(UsageOf(*pods, Of<Pod>(c.json)), c.want) << c.what;
}

TEST(PodEvaluator, PodAfterItsGracePeriodUsesNothing) {
  const EvaluatorPtr pods = NewPodEvaluator();
  Object pod = Of<Pod>(R"({"spec":{"containers":[{"name":"a"}]}})");
  pod.object_meta()->deletionGracePeriodSeconds = 30;
  pod.object_meta()->deletionTimestamp = Time::FromUnix(kNow - 30);
  EXPECT_EQ(UsageOf(*pods, pod), "count/pods=1,pods=1");
  pod.object_meta()->deletionTimestamp = Time::FromUnix(kNow - 31);
  EXPECT_EQ(UsageOf(*pods, pod), "count/pods=1");
}

TEST(PodEvaluator, MeasuresPodResources) {
  const EvaluatorPtr pods = NewPodEvaluator();
  for (std::string_view name :
       {"pods", "count/pods", "cpu", "memory", "ephemeral-storage", "requests.cpu", "limits.memory",
        "limits.ephemeral-storage", "hugepages-2Mi", "requests.hugepages-1Gi",
        "requests.example.com/gpu"}) {
    EXPECT_TRUE(pods->Measures(name)) << name;
  }
  for (std::string_view name : {"services", "requests.storage", "limits.example.com/gpu",
                                "example.com/gpu", "count/configmaps", "configmaps"}) {
    EXPECT_FALSE(pods->Measures(name)) << name;
  }
}

TEST(PodEvaluator, ScopesMatchPods) {
  const EvaluatorPtr pods = NewPodEvaluator();
  const Object plain = Of<Pod>(R"({"spec":{"containers":[{"name":"a"}]}})");
  const Object other = Of<Pod>(R"({"spec":{"activeDeadlineSeconds":5,"priorityClassName":"high",
      "affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
        [{"topologyKey":"z","namespaces":["other"]}]}},
      "containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}})");
  const struct {
    std::string_view scope, op;
    std::vector<std::string> values;
    bool plain, other;
  } kCases[] = {
      {"Terminating", "Exists", {}, false, true},
      {"NotTerminating", "Exists", {}, true, false},
      {"BestEffort", "Exists", {}, true, false},
      {"NotBestEffort", "Exists", {}, false, true},
      {"PriorityClass", "Exists", {}, false, true},
      {"PriorityClass", "DoesNotExist", {}, true, false},
      {"PriorityClass", "In", {"low", "high"}, false, true},
      {"PriorityClass", "NotIn", {"high"}, true, false},
      {"PriorityClass", "NotIn", {"low"}, true, true},
      {"CrossNamespacePodAffinity", "Exists", {}, false, true},
      {"VolumeAttributesClass", "Exists", {}, false, false},
  };
  for (const auto& c : kCases) {
    Scope scope;
    scope.scopeName = c.scope;
    scope.operator_ = c.op;
    scope.values = c.values;
    EXPECT_EQ(pods->InScope(scope, plain), c.plain) << c.scope << c.op;
    EXPECT_EQ(pods->InScope(scope, other), c.other) << c.scope << c.op;
  }
}

TEST(PodEvaluator, ContainersMustSpecifyLimitedResources) {
  const EvaluatorPtr pods = NewPodEvaluator();
  const Amounts bounds = {{"requests.cpu", Quantity(1)},
                          {"limits.memory", Quantity(1)},
                          {"requests.ephemeral-storage", Quantity(1)},
                          {"pods", Quantity(1)}};
  EXPECT_EQ(pods->Missing(bounds, Of<Pod>(R"({"spec":{"containers":[{"name":"b"},
      {"name":"a","resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"name":"i"}]}})")),
            "must specify limits.memory for: a,b,i; requests.cpu for: b,i");
  EXPECT_EQ(pods->Missing(bounds, Of<Pod>(R"({"spec":{"resources":{"limits":{"cpu":"1"}},
      "containers":[{"name":"b"}]}})")),
            "");
}

TEST(ServiceEvaluator, UsageDependsOnTheServiceType) {
  const EvaluatorPtr services = NewServiceEvaluator();
  const std::string ports = R"("ports":[{"port":1},{"port":2,"nodePort":30002}])";
  const struct {
    std::string spec, nodeports, balancers;
  } kCases[] = {
      {R"("type":"ClusterIP",)", "0", "0"},
      {R"("type":"NodePort",)", "2", "0"},
      {R"("type":"LoadBalancer",)", "2", "1"},
      {R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,)", "1", "1"},
      {R"("type":"ExternalName",)", "0", "0"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(UsageOf(*services, Of<Service>("{\"spec\":{" + c.spec + ports + "}}")),
              "count/services=1,services=1,services.loadbalancers=" + c.balancers +
                  ",services.nodeports=" + c.nodeports);
  }
  EXPECT_TRUE(services->Handles(Operation::kUpdate, ""));
  EXPECT_FALSE(services->Handles(Operation::kUpdate, "status"));
}

TEST(ClaimEvaluator, CountsStorageInTotalAndByClass) {
  const EvaluatorPtr claims = NewClaimEvaluator();
  EXPECT_EQ(UsageOf(*claims, Of<PersistentVolumeClaim>(
                                 R"({"spec":{"resources":{"requests":{"storage":"1500m"}}}})")),
            "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=2");
  EXPECT_EQ(UsageOf(*claims, Of<PersistentVolumeClaim>(R"({"spec":{"storageClassName":"gold",
      "resources":{"requests":{"storage":"1Gi"}}},
      "status":{"allocatedResources":{"storage":"2Gi"}}})")),
            "count/persistentvolumeclaims=1,"
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
            "gold.storageclass.storage.k8s.io/requests.storage=2Gi,"
            "persistentvolumeclaims=1,requests.storage=2Gi");
  EXPECT_TRUE(claims->Measures("gold.storageclass.storage.k8s.io/requests.storage"));
  EXPECT_FALSE(claims->Measures("gold.storageclass.storage.k8s.io/requests.cpu"));
}

TEST(ClaimEvaluator, ScopeMatchesCurrentAndRequestedAttributesClasses) {
  const EvaluatorPtr claims = NewClaimEvaluator();
  const Object claim = Of<PersistentVolumeClaim>(R"({"spec":{"volumeAttributesClassName":"new"},
      "status":{"currentVolumeAttributesClassName":"old"}})");
  for (std::string_view name : {"new", "old", "else"}) {
    Scope scope;
    scope.scopeName = "VolumeAttributesClass";
    scope.operator_ = "In";
    scope.values = {std::string(name)};
    EXPECT_EQ(claims->InScope(scope, claim), name != "else") << name;
  }
}

TEST(ResourceClaimEvaluator, CountsTheMaximumOfDevicesPerClass) {
  const EvaluatorPtr claims = NewResourceClaimEvaluator();
  EXPECT_EQ(UsageOf(*claims, Of<resource::v1::ResourceClaim>(R"({"spec":{"devices":{"requests":[
      {"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}},
      {"name":"b","firstAvailable":[
        {"name":"x","deviceClassName":"gpu","allocationMode":"ExactCount","count":4},
        {"name":"y","deviceClassName":"gpu","allocationMode":"ExactCount","count":3},
        {"name":"z","deviceClassName":"nic","allocationMode":"All"}]}]}}})")),
            "count/resourceclaims.resource.k8s.io=1,gpu.deviceclass.resource.k8s.io/devices=6,"
            "nic.deviceclass.resource.k8s.io/devices=32");
}

TEST(CountEvaluator, LegacyNamesAreSupported) {
  EXPECT_EQ(UsageOf(*NewCountEvaluator({"", "secrets"}), Of<core::v1::Secret>("{}")),
            "count/secrets=1,secrets=1");
  EXPECT_EQ(UsageOf(*NewCountEvaluator({"apps", "deployments"}), Of<core::v1::Secret>("{}")),
            "count/deployments.apps=1");
  EXPECT_FALSE(NewCountEvaluator({"other.io", "secrets"})->Measures("secrets"));
}

}  // namespace
}  // namespace cox::apiserver::quota
