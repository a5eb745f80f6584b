// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "base/result.h"

// Backends of the proxy subresource of pods, services and nodes. Pure functions.
namespace cox::apiserver {

// "web", "web:8080", "https:web:https", "https:web:".
struct ProxyName {
  std::string scheme;  // "http" or "https"; empty: not specified
  std::string name;
  std::string port;  // a number or a name; empty: not specified
};
// Returns nullopt if `text` is not a valid proxy name.
std::optional<ProxyName> SplitProxyName(std::string_view text);

// Security: reports whether the API server may connect to `ip`. Loopback, link-local, multicast and
// unspecified addresses are not allowed.
bool IsProxyable(std::string_view ip);

struct ProxyTarget {
  bool tls = false;
  std::string host;
  uint16_t port = 0;
};

// Errors: BadRequest if it is not a port number.
Result<uint16_t> ProxyPort(std::string_view text);

// Errors: BadRequest if the Pod has no IP or its IP is not proxyable.
Result<ProxyTarget> PodTarget(const core::v1::Pod& pod, const ProxyName& name);

// The name of the requested port of the service's endpoints. Errors: ServiceUnavailable for a port
// number that the service does not have.
Result<std::string> ServicePortName(const core::v1::Service& service, const ProxyName& name);
// The ready endpoints of a service that have the port. Errors: ServiceUnavailable if there are
// none.
Result<std::vector<ProxyTarget>> ServiceTargets(const List<discovery::v1::EndpointSlice>& slices,
                                                const ProxyName& name,
                                                const std::string& port_name);

// The part of the request path after ".../proxy", still escaped: "/metrics" or "".
std::string_view ProxySubpath(std::string_view raw_path, size_t segments_before);

}  // namespace cox::apiserver
