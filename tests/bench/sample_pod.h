// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

// Typical Pods as a base for benchmarks.
namespace cox::bench {

inline core::v1::Container SampleContainer(int i) {
  core::v1::Container c{
      .name = "container-" + std::to_string(i),
      .image = "registry.example.com/team/service-" + std::to_string(i) + ":v1.2.3",
      .args = {"--listen=0.0.0.0:8080", "--log-level=info"},
      .ports = {{.name = "http", .containerPort = 8080, .protocol = "TCP"}},
      .env = {{.name = "NAMESPACE", .value = "production"},
              {.name = "SERVICE_NAME", .value = "checkout"}},
      .volumeMounts = {{.name = "kube-api-access-abcde",
                        .readOnly = true,
                        .mountPath = "/var/run/secrets/kubernetes.io/serviceaccount"}},
      .terminationMessagePath = "/dev/termination-log",
      .terminationMessagePolicy = "File",
      .imagePullPolicy = "IfNotPresent"};
  c.resources.limits["cpu"] = *Quantity::Parse("500m");
  c.resources.limits["memory"] = *Quantity::Parse("256Mi");
  c.resources.requests["cpu"] = *Quantity::Parse("250m");
  c.livenessProbe.emplace();
  c.livenessProbe->handler.httpGet =
      core::v1::HTTPGetAction{.path = "/healthz", .port = 8080, .scheme = "HTTP"};
  c.livenessProbe->periodSeconds = 10;
  return c;
}

inline core::v1::ContainerStatus SampleContainerStatus(int i) {
  return {.name = "container-" + std::to_string(i),
          .ready = true,
          .image = "registry.example.com/team/service:v1.2.3",
          .imageID =
              "registry.example.com/team/"
              "service@sha256:0123456789abcdef0123456789abcdef0123456789abcdef",
          .containerID =
              "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
}

// A Pod without containers.
inline core::v1::Pod SamplePod() {
  core::v1::Pod pod;
  pod.metadata = {
      .name = "checkout-7d9f8b6c5d-x2x4z",
      .generateName = "checkout-7d9f8b6c5d-",
      .namespace_ = "production",
      .uid = "0f3c7a1e-5a0e-4c39-9f55-0d3f6f1f2a3b",
      .resourceVersion = "123456789",
      .creationTimestamp = Time::FromUnix(1'790'000'000),
      .labels = {{"app", "checkout"}, {"pod-template-hash", "7d9f8b6c5d"}, {"team", "payments"}},
      .annotations = {{"prometheus.io/scrape", "true"}, {"prometheus.io/port", "8080"}},
      .ownerReferences = {{.apiVersion = "apps/v1",
                           .kind = "ReplicaSet",
                           .name = "checkout-7d9f8b6c5d",
                           .uid = "6a1f3c44-61f5-4a4c-8e0e-3a3f0e1d2c3b",
                           .controller = true,
                           .blockOwnerDeletion = true}}};
  pod.spec.restartPolicy = "Always";
  pod.spec.serviceAccountName = "checkout";
  pod.spec.nodeName = "node-17.example.com";
  pod.spec.schedulerName = "default-scheduler";
  pod.spec.terminationGracePeriodSeconds = 30;
  pod.spec.tolerations = {
      {.key = "node.kubernetes.io/not-ready", .operator_ = "Exists", .effect = "NoExecute"}};
  pod.status.phase = "Running";
  pod.status.podIP = "10.1.2.3";
  for (const char* type : {"Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    pod.status.conditions.push_back(
        {.type = type, .status = "True", .lastTransitionTime = Time::FromUnix(1'790'000'100)});
  }
  return pod;
}

}  // namespace cox::bench
