// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/discovery/v1.h"
#include "base/result.h"

// Where the proxy of pods, services and nodes leads to. Pure functions.
namespace cox::apiserver {

// "web", "web:8080", "https:web:https", "https:web:".
struct ProxyName {
  std::string scheme;  // "http" or "https"; empty: not said
  std::string name;
  std::string port;  // a number or a name; empty: not said
};
// None for what is no such name.
std::optional<ProxyName> SplitProxyName(std::string_view text);

// Of an address that the API server may be sent to: not its own, nor one of the link.
bool IsProxyable(std::string_view ip);

struct ProxyTarget {
  bool tls = false;
  std::string host;
  uint16_t port = 0;
};

// BadRequest for a Pod without an address, or with one that is nobody's business.
Result<ProxyTarget> PodTarget(const core::v1::Pod& pod, const ProxyName& name);

// The port of the service's endpoints that is meant, by its name. ServiceUnavailable for a number
// that the service does not have.
Result<std::string> ServicePortName(const core::v1::Service& service, const ProxyName& name);
// The endpoints of a service that are ready and have the port. ServiceUnavailable if none is.
Result<std::vector<ProxyTarget>> ServiceTargets(const List<discovery::v1::EndpointSlice>& slices,
                                                const ProxyName& name,
                                                const std::string& port_name);

// What follows ".../proxy" in the path of a request, as it was sent: "/metrics" or "".
std::string_view ProxySubpath(std::string_view raw_path, size_t segments_before);

}  // namespace cox::apiserver
