// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"

// A Service and its Pods, for tests of endpoints.
namespace cox::controllers {

// Port 80 with the named target port "http".
inline core::v1::ServicePort HttpPort() {
  core::v1::ServicePort port;
  port.name = "http";
  port.protocol = "TCP";
  port.port = 80;
  port.targetPort = "http";
  return port;
}

// Service "web" in namespace "ns".
inline core::v1::Service WebService() {
  core::v1::Service service;
  service.metadata = {.name = "web", .namespace_ = "ns"};
  service.spec.selector["app"] = "web";
  service.spec.ipFamilies = {"IPv4"};
  service.spec.ports = {HttpPort()};
  return service;
}

// A ready Pod "web-<number>" on node n1 with address 10.0.0.<number> and port "http".
inline core::v1::Pod WebPod(int number) {
  core::v1::Pod pod;
  pod.metadata.name = "web-" + std::to_string(number);
  pod.metadata.namespace_ = "ns";
  pod.metadata.uid = "uid-" + std::to_string(number);
  core::v1::Container container;
  container.name = "c";
  container.ports = {{.name = "http", .containerPort = 8080, .protocol = "TCP"}};
  pod.spec.containers = {container};
  pod.spec.nodeName = "n1";
  pod.status.phase = "Running";
  pod.status.podIP = "10.0.0." + std::to_string(number);
  pod.status.podIPs = {{.ip = pod.status.podIP}};
  pod.status.conditions = {{.type = "Ready", .status = "True"}};
  return pod;
}

}  // namespace cox::controllers
