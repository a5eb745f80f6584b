// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/update/update_validation.h"

#include <gmock/gmock.h>

#include <functional>

#include "apiserver/testing/test_pods.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

Pod Stored() {
  return PodWithContainer(R"("env":[{"name":"A","value":"b"}])",
                          R"("tolerations":[{"key":"a","operator":"Exists"}])");
}

struct Change {
  std::function<void(Pod&)> apply;
  std::vector<std::string> errors = {};
};

TEST(PodUpdateValidation, AcceptsMutableFields) {
  const std::vector<Change> changes = {
      {[](Pod& pod) { pod.spec.containers[0].image = "other:2"; }},
      {[](Pod& pod) { pod.spec.activeDeadlineSeconds = 10; }},
      {[](Pod& pod) { pod.metadata.labels["a"] = "b"; }},
      {[](Pod& pod) {
        pod.spec.tolerations.push_back(
            FromJson<core::v1::Toleration>(R"({"key":"b","operator":"Exists"})"));
      }},
  };
  for (const Change& change : changes) {
    Pod pod = Stored();
    change.apply(pod);
    EXPECT_THAT(Texts(ValidatePodUpdate(pod, Stored())), IsEmpty());
  }
}

TEST(PodUpdateValidation, ErrorForImmutableFieldsContainsDiff) {
  Pod pod = Stored();
  pod.spec.containers[0].env[0].value = "z";
  EXPECT_THAT(
      Texts(ValidatePodUpdate(pod, Stored())),
      ElementsAre("spec: Forbidden: pod updates may not change fields other than "
                  "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
                  "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
                  "it was previously negative)\n"
                  "@@ -13,7 +13,7 @@\n"
                  "    \"Env\": [\n"
                  "     {\n"
                  "      \"Name\": \"A\",\n"
                  "-     \"Value\": \"b\",\n"
                  "+     \"Value\": \"z\",\n"
                  "      \"ValueFrom\": null\n"
                  "     }\n"
                  "    ],\n"));
}

TEST(PodUpdateValidation, RejectsInvalidChanges) {
  const std::vector<Change> changes = {
      {[](Pod& pod) {
         pod.spec.containers.push_back(
             FromJson<core::v1::Container>(R"({"name":"d","image":"x"})"));
       },
       {"spec.containers[1].terminationMessagePolicy: Required value",
        "spec.containers[1].imagePullPolicy: Required value",
        "spec.containers: Forbidden: pod updates may not add or remove containers"}},
      // Reported by the rules for all pods and by those for updates.
      {[](Pod& pod) { pod.spec.containers[0].image = ""; },
       {"spec.containers[0].image: Required value", "spec.containers[0].image: Required value"}},
      {[](Pod& pod) { pod.spec.tolerations.clear(); },
       {"spec.tolerations: Forbidden: existing toleration can not be modified except its "
        "tolerationSeconds"}},
      {[](Pod& pod) { pod.spec.schedulingGates = {{.name = "x"}}; },
       {"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
        "scheduling gate 'x'"}},
      {[](Pod& pod) { pod.metadata.annotations["kubernetes.io/config.mirror"] = "x"; },
       {"metadata.annotations[kubernetes.io/config.mirror]: Invalid value: \"x\": must set "
        "spec.nodeName if mirror pod annotation is set",
        "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod "
        "annotation"}},
  };
  for (const Change& change : changes) {
    Pod pod = Stored();
    change.apply(pod);
    EXPECT_THAT(Texts(ValidatePodUpdate(pod, Stored())), ElementsAreArray(change.errors));
  }
}

TEST(PodUpdateValidation, DeadlineCanOnlyDecrease) {
  const std::string at = "spec.activeDeadlineSeconds: Invalid value: ";
  const std::vector<std::tuple<std::optional<int64_t>, std::vector<std::string>>> cases = {
      {5, {}},
      {20, {at + "20: must be less than or equal to previous value"}},
      {std::nullopt, {at + "null: must not update from a positive integer to nil value"}},
  };
  for (const auto& [deadline, errors] : cases) {
    Pod old = Stored(), pod = Stored();
    old.spec.activeDeadlineSeconds = 10;
    pod.spec.activeDeadlineSeconds = deadline;
    EXPECT_THAT(Texts(ValidatePodUpdate(pod, old)), ElementsAreArray(errors));
  }
}

Pod Gated() {
  return PodWith(R"("schedulingGates":[{"name":"a"},{"name":"b"}],"nodeSelector":{"a":"b"},
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
        "nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}})");
}

TEST(PodUpdateValidation, GatedPodSchedulingCanBeNarrowed) {
  Pod pod = Gated();
  pod.spec.schedulingGates.erase(pod.spec.schedulingGates.begin());
  pod.spec.nodeSelector["c"] = "d";
  auto& terms = pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution
                    ->nodeSelectorTerms;
  terms[0].matchExpressions.push_back(
      FromJson<core::v1::NodeSelectorRequirement>(R"({"key":"b","operator":"Exists"})"));
  EXPECT_THAT(Texts(ValidatePodUpdate(pod, Gated())), IsEmpty());
  // The same change of a pod without gates is invalid.
  Pod old = Gated();
  old.spec.schedulingGates.clear();
  pod.spec.schedulingGates.clear();
  EXPECT_EQ(ValidatePodUpdate(pod, old).size(), 1u);
}

TEST(PodUpdateValidation, GatedPodSchedulingCannotBeWidened) {
  Pod pod = Gated();
  pod.spec.nodeSelector["a"] = "z";
  pod.spec.affinity->nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution
      ->nodeSelectorTerms[0]
      .matchExpressions[0]
      .key = "z";
  EXPECT_THAT(
      Texts(ValidatePodUpdate(pod, Gated())),
      ElementsAre("spec.nodeSelector: Invalid value: {\"a\":\"z\"}: only additions to "
                  "spec.nodeSelector are allowed (no mutations or deletions)",
                  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                  "nodeSelectorTerms[0]: Invalid value: {\"MatchExpressions\":[{\"Key\":\"z\","
                  "\"Operator\":\"Exists\",\"Values\":null}],\"MatchFields\":null}: only additions "
                  "are allowed (no mutations or deletions)"));
}

TEST(PodUpdateValidation, EphemeralContainersCanOnlyBeAdded) {
  auto with = [](std::string_view containers) {
    return PodWith(R"("ephemeralContainers":)" + std::string(containers));
  };
  const Pod old = with(R"([{"name":"dbg","image":"dbg:1"}])");
  EXPECT_THAT(Texts(ValidatePodEphemeralContainersUpdate(
                  with(R"([{"name":"dbg","image":"dbg:1"},{"name":"e","image":"x"}])"), old)),
              IsEmpty());
  EXPECT_THAT(Texts(ValidatePodEphemeralContainersUpdate(with("[]"), old)),
              ElementsAre("spec.ephemeralContainers: Forbidden: existing ephemeral containers "
                          "\"dbg\" may not be removed\n"));
  EXPECT_THAT(
      Texts(ValidatePodEphemeralContainersUpdate(with(R"([{"name":"dbg","image":"dbg:2"}])"), old)),
      ElementsAre("spec.ephemeralContainers: Forbidden: existing ephemeral containers "
                  "\"dbg\" may not be changed\n"
                  "@@ -1,6 +1,6 @@\n {\n  \"Name\": \"dbg\",\n- \"Image\": \"dbg:1\",\n"
                  "+ \"Image\": \"dbg:2\",\n  \"Command\": null,\n  \"Args\": null,\n"
                  "  \"WorkingDir\": \"\",\n"));
  EXPECT_THAT(
      Texts(ValidatePodEphemeralContainersUpdate(
          with(R"([{"name":"dbg","image":"dbg:1"},{"name":"c","image":"x","ports":[{
                   "containerPort":1}],"targetContainerName":"nope"}])"),
          old)),
      ElementsAre("spec.ephemeralContainers[1].name: Duplicate value: \"c\"",
                  "spec.ephemeralContainers[1].targetContainerName: Not found: \"nope\"",
                  "spec.ephemeralContainers[1].ports: Forbidden: cannot be set for an Ephemeral "
                  "Container"));
}

TEST(PodUpdateValidation, ResizeChangesOnlyCpuAndMemory) {
  auto with = [](std::string_view resources) {
    Pod pod = PodWithContainer(R"("resources":)" + std::string(resources));
    pod.status.qosClass = "Burstable";
    return pod;
  };
  const Pod old = with(R"({"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}})");
  EXPECT_THAT(Texts(ValidatePodResize(with(R"({"requests":{"cpu":"150m","memory":"1Gi"},
                                       "limits":{"cpu":"200m"}})"),
                                      old)),
              IsEmpty());
  EXPECT_THAT(Texts(ValidatePodResize(with("{}"), old)),
              ElementsAre("spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a "
                          "result of resizing",
                          "spec.containers[0].resources.requests: Forbidden: resource requests "
                          "cannot be removed",
                          "spec.containers[0].resources.limits: Forbidden: resource limits cannot "
                          "be removed"));
  EXPECT_THAT(Texts(ValidatePodResize(with(R"({"requests":{"cpu":"100m","ephemeral-storage":"1"},
                                       "limits":{"cpu":"200m"}})"),
                                      old)),
              ElementsAre("spec: Forbidden: only cpu and memory resources are mutable"));
}

TEST(PodStatusValidation, ReportsInvalidStatuses) {
  const Pod old = PodWith(R"("restartPolicy":"Never")");
  auto with = [&](std::string_view status) {
    Pod pod = old;
    pod.status = FromJson<core::v1::PodStatus>(status);
    return pod;
  };
  const std::vector<std::tuple<std::string_view, std::vector<std::string>>> cases = {
      {R"({"phase":"Weird","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]})", {}},
      {R"({"podIPs":[{"ip":"x"}]})",
       {"status.podIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)"}},
      {R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]})",
       {"status.podIPs: Invalid value: [\"10.0.0.1\",\"10.0.0.2\"]: may specify no more than one "
        "IP "
        "for each IP family"}},
      {R"({"resourceClaimStatuses":[{"name":"x"}]})",
       {"status.resourceClaimStatuses[0].name: Invalid value: \"x\": must match the name of an "
        "entry in `spec.resourceClaims`"}},
  };
  for (const auto& [status, errors] : cases) {
    EXPECT_THAT(Texts(ValidatePodStatusUpdate(with(status), old)), ElementsAreArray(errors))
        << status;
  }
}

TEST(PodStatusValidation, TerminatedContainersStayTerminatedWithoutRestart) {
  auto with = [](std::string_view state) {
    Pod pod = PodWith(R"("restartPolicy":"Never")");
    pod.status = FromJson<core::v1::PodStatus>(R"({"containerStatuses":[{"name":"c","state":)" +
                                               std::string(state) + "}]}");
    return pod;
  };
  EXPECT_THAT(Texts(ValidatePodStatusUpdate(with(R"({"running":{}})"),
                                            with(R"({"terminated":{"exitCode":0}})"))),
              ElementsAre("status.containerStatuses[0].state: Forbidden: may not be transitioned "
                          "to non-terminated state"));
}

}  // namespace
}  // namespace cox::apiserver
