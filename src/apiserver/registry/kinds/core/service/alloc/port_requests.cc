// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/service/alloc/port_requests.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "apiserver/registry/kinds/core/service/service_rules.h"
#include "object/validation/field_error.h"

namespace cox::apiserver {
namespace {

namespace cv = core::v1;
using cv::Service;

// Returns an error text if the port cannot be allocated, else empty.
std::string Take(int32_t port, PortBitmap& ports, PortChanges& changes) {
  if (!ports.range().Contains(port)) {
    return "provided port is not in the valid range. The range of valid ports is " +
           ports.range().ToString();
  }
  if (ports.Has(port)) return "provided port is already allocated";
  ports.Set(port);
  changes.taken.push_back(port);
  return "";
}

Result<int32_t> TakeNext(PortBitmap& ports, const Random& random, PortChanges& changes,
                         std::string_view what) {
  const std::optional<int32_t> port = ports.FindFree(random);
  if (!port) {
    return Status::Internal("Internal error occurred: failed to allocate a " + std::string(what) +
                            ": range is full");
  }
  ports.Set(*port);
  changes.taken.push_back(*port);
  return *port;
}

Status RejectPort(const Service& service, size_t index, int32_t port, std::string detail) {
  const FieldPath path = FieldPath("spec").Child("ports").Index(index).Child("nodePort");
  return NewInvalid("", "Service", service.metadata.name,
                    {FieldError::Invalid(path, port, std::move(detail))});
}

Status TakeHealthCheckPort(Service& service, PortBitmap& ports, const Random& random,
                           PortChanges& changes) {
  int32_t& port = service.spec.healthCheckNodePort;
  if (port == 0) {
    COX_ASSIGN_OR_RETURN(port, TakeNext(ports, random, changes, "HealthCheck NodePort"));
    return {};
  }
  const std::string fault = Take(port, ports, changes);
  if (fault.empty()) return {};
  return Status::Internal(
      "Internal error occurred: failed to allocate requested HealthCheck "
      "NodePort " +
      std::to_string(port) + ": " + fault);
}

// The node port that the client chose for this port number, with any protocol; 0 if none.
int32_t RequestedNodePort(const Service& service, int32_t number) {
  for (const cv::ServicePort& port : service.spec.ports) {
    if (port.port == number && port.nodePort != 0) return port.nodePort;
  }
  return 0;
}

// New services: ports that differ only in protocol share a node port, so that a DNS service has the
// same port for UDP and TCP.
Status TakeNodePorts(Service& service, PortBitmap& ports, const Random& random,
                     PortChanges& changes) {
  std::map<int32_t, int32_t> chosen;  // port to node port
  for (size_t i = 0; i < service.spec.ports.size(); ++i) {
    cv::ServicePort& port = service.spec.ports[i];
    if (port.nodePort == 0 && !AllocatesNodePorts(service)) continue;
    const auto known = chosen.find(port.port);
    if (known == chosen.end()) {
      int32_t node_port = RequestedNodePort(service, port.port);
      if (node_port != 0) {
        if (std::string fault = Take(node_port, ports, changes); !fault.empty()) {
          return RejectPort(service, i, node_port, std::move(fault));
        }
      } else {
        COX_ASSIGN_OR_RETURN(node_port, TakeNext(ports, random, changes, "nodePort"));
      }
      port.nodePort = node_port;
      chosen[port.port] = node_port;
    } else if (port.nodePort == 0) {
      port.nodePort = known->second;
    } else if (port.nodePort != known->second) {
      if (std::string fault = Take(port.nodePort, ports, changes); !fault.empty()) {
        return RejectPort(service, i, port.nodePort, std::move(fault));
      }
    }
  }
  return {};
}

std::set<int32_t> NodePortsOf(const Service& service) {
  std::set<int32_t> node_ports;
  for (const cv::ServicePort& port : service.spec.ports) {
    if (port.nodePort != 0) node_ports.insert(port.nodePort);
  }
  return node_ports;
}

Status ChangeNodePorts(Service& service, const Service& old, PortBitmap& ports,
                       const Random& random, PortChanges& changes) {
  const std::set<int32_t> before = NeedsNodePort(old) ? NodePortsOf(old) : std::set<int32_t>();
  std::set<int32_t> now;
  if (NeedsNodePort(service)) {
    for (size_t i = 0; i < service.spec.ports.size(); ++i) {
      cv::ServicePort& port = service.spec.ports[i];
      if (port.nodePort != 0) {
        if (!before.contains(port.nodePort) && !now.contains(port.nodePort)) {
          if (std::string fault = Take(port.nodePort, ports, changes); !fault.empty()) {
            return RejectPort(service, i, port.nodePort, std::move(fault));
          }
        }
      } else if (AllocatesNodePorts(service)) {
        COX_ASSIGN_OR_RETURN(port.nodePort, TakeNext(ports, random, changes, "nodePort"));
      }
      if (port.nodePort != 0) now.insert(port.nodePort);
    }
  }
  for (int32_t port : before) {
    if (!now.contains(port)) changes.released.push_back(port);
  }
  return {};
}

}  // namespace

Result<PortChanges> TakePortsForCreate(Service& service, PortBitmap& ports, const Random& random) {
  PortChanges changes;
  if (NeedsNodePort(service)) {
    COX_RETURN_IF_ERROR(TakeNodePorts(service, ports, random, changes));
  }
  if (NeedsHealthCheckNodePort(service)) {
    COX_RETURN_IF_ERROR(TakeHealthCheckPort(service, ports, random, changes));
  }
  return changes;
}

Result<PortChanges> TakePortsForUpdate(Service& service, const Service& old, PortBitmap& ports,
                                       const Random& random) {
  PortChanges changes;
  COX_RETURN_IF_ERROR(ChangeNodePorts(service, old, ports, random, changes));
  const bool before = NeedsHealthCheckNodePort(old), now = NeedsHealthCheckNodePort(service);
  const int32_t old_port = old.spec.healthCheckNodePort;
  if (now && !before) {
    COX_RETURN_IF_ERROR(TakeHealthCheckPort(service, ports, random, changes));
  } else if (before && !now) {
    if (old_port != 0) changes.released.push_back(old_port);
  } else if (now && service.spec.healthCheckNodePort != old_port) {
    return NewInvalid(
        "", "Service", service.metadata.name,
        {FieldError::Invalid(FieldPath("spec").Child("healthCheckNodePort"),
                             service.spec.healthCheckNodePort, "field is immutable")});
  }
  return changes;
}

std::vector<int32_t> PortsOf(const Service& service) {
  std::set<int32_t> ports;
  if (NeedsNodePort(service)) ports = NodePortsOf(service);
  if (NeedsHealthCheckNodePort(service) && service.spec.healthCheckNodePort != 0) {
    ports.insert(service.spec.healthCheckNodePort);
  }
  return {ports.begin(), ports.end()};
}

}  // namespace cox::apiserver
