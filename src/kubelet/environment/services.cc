// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/services.h"

#include <algorithm>

namespace cox::kubelet {

using core::v1::Service;

namespace {

// Converts to the form of variable names: "my-db" to "MY_DB".
std::string Upper(std::string text) {
  for (char& c : text) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}
std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

void AddService(const Service& service, EnvironmentList& out) {
  const std::string& ip = service.spec.clusterIP;
  const std::string prefix = Upper(service.metadata.name);
  const auto port_of = [](const core::v1::ServicePort& port) { return std::to_string(port.port); };
  out.emplace_back(prefix + "_SERVICE_HOST", ip);
  out.emplace_back(prefix + "_SERVICE_PORT", port_of(service.spec.ports.front()));
  for (const core::v1::ServicePort& port : service.spec.ports) {
    if (!port.name.empty()) {
      out.emplace_back(prefix + "_SERVICE_PORT_" + Upper(port.name), port_of(port));
    }
  }
  const std::string host = ip.find(':') == std::string::npos ? ip : "[" + ip + "]";
  for (size_t i = 0; i < service.spec.ports.size(); ++i) {
    const core::v1::ServicePort& port = service.spec.ports[i];
    const std::string protocol = port.protocol.empty() ? "TCP" : port.protocol;
    const std::string url = Lower(protocol) + "://" + host + ":" + port_of(port);
    if (i == 0) out.emplace_back(prefix + "_PORT", url);
    const std::string name = prefix + "_PORT_" + port_of(port) + "_" + Upper(protocol);
    out.emplace_back(name, url);
    out.emplace_back(name + "_PROTO", Lower(protocol));
    out.emplace_back(name + "_PORT", port_of(port));
    out.emplace_back(name + "_ADDR", ip);
  }
}

}  // namespace

EnvironmentList ServiceEnvironment(const std::vector<std::shared_ptr<const Service>>& services) {
  std::vector<std::shared_ptr<const Service>> sorted = services;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a->metadata.name < b->metadata.name; });
  EnvironmentList out;
  for (const auto& service : sorted) {
    const std::string& ip = service->spec.clusterIP;
    if (ip.empty() || ip == "None" || service->spec.ports.empty()) continue;
    AddService(*service, out);
  }
  return out;
}

}  // namespace cox::kubelet
