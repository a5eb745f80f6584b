// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "controllers/testing/test_services.h"
#include "coxswain/conditions.h"
#include "harness.h"

namespace cox::controllers {

// Services, Pods and nodes without kubelets: tests write the statuses.
class ServiceTest : public ControllerTest {
 protected:
  void CreateNode(const std::string& name, const std::string& zone) {
    core::v1::Node node;
    node.metadata.name = name;
    if (!zone.empty()) node.metadata.labels["topology.kubernetes.io/zone"] = zone;
    Create(std::move(node));
  }
  // Writes the node's status; no `cpu`: no allocatable CPU.
  void SetNode(const std::string& name, bool ready, const std::string& cpu) {
    auto node = client().Get<core::v1::Node>(*ctx, {"", name});
    ASSERT_TRUE(node.ok()) << node.status().ToString();
    node->status.allocatable.clear();
    if (!cpu.empty()) node->status.allocatable["cpu"] = *Quantity::Parse(cpu);
    SetCondition(node->status.conditions, {.type = "Ready", .status = ready ? "True" : "False"},
                 TimeNow(cluster->clock()));
    const auto stored = client().UpdateStatus(*ctx, *std::move(node));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  core::v1::Service CreateService(const std::string& name) {
    core::v1::Service service;
    service.metadata = {.name = name, .namespace_ = "default"};
    service.spec.selector["app"] = name;
    service.spec.ports = {HttpPort()};
    return Create(std::move(service));
  }
  // A Pod of Service "web".
  void CreatePod(const std::string& name, const std::string& ip, bool ready,
                 const std::string& node = "n1") {
    core::v1::Pod pod;
    pod.metadata = {.name = name, .namespace_ = "default", .labels = {{"app", "web"}}};
    core::v1::Container container;
    container.name = "c";
    container.image = "nginx";
    container.ports = {{.name = "http", .containerPort = 8080, .protocol = "TCP"}};
    pod.spec.containers = {container};
    pod.spec.nodeName = node;
    core::v1::Pod created = Create(std::move(pod));
    created.status.phase = "Running";
    created.status.podIP = ip;
    created.status.podIPs = {{.ip = ip}};
    SetReady(created, ready);
  }
  void SetReady(const std::string& name, bool ready) {
    auto pod = client().Get<core::v1::Pod>(*ctx, {"default", name});
    ASSERT_TRUE(pod.ok()) << pod.status().ToString();
    SetReady(*std::move(pod), ready);
  }
  void SetReady(core::v1::Pod pod, bool ready) {
    SetCondition(pod.status.conditions, {.type = "Ready", .status = ready ? "True" : "False"},
                 TimeNow(cluster->clock()));
    const auto stored = client().UpdateStatus(*ctx, std::move(pod));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  void Relabel(const std::string& name, const std::string& app) {
    const auto stored = client().PatchObject<core::v1::Pod>(
        *ctx, {"default", name}, Patch::Merge(R"({"metadata":{"labels":{"app":")" + app + "\"}}}"));
    ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  }
  void DeleteNow(const std::string& name) {
    const Status gone = client().Delete<core::v1::Pod>(*ctx, {"default", name},
                                                       {.grace_period = std::chrono::seconds(0)});
    ASSERT_TRUE(gone.ok()) << gone.ToString();
  }
};

}  // namespace cox::controllers
