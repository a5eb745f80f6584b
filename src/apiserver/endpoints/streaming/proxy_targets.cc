// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/proxy_targets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

std::optional<uint16_t> PortNumber(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool IsProxyableV4(const unsigned char* b) {
  const bool none = b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0;
  const bool all = b[0] == 255 && b[1] == 255 && b[2] == 255 && b[3] == 255;
  return !none && !all && b[0] != 127 && !(b[0] == 169 && b[1] == 254) && (b[0] & 0xf0) != 0xe0;
}

Status NotAllowed() { return Status::BadRequest("address not allowed"); }

}  // namespace

std::optional<ProxyName> SplitProxyName(std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string_view part : Split(text, ':')) parts.emplace_back(part);
  ProxyName name;
  if (parts.size() == 1) {
    name.name = parts[0];
  } else if (parts.size() == 2) {
    name.name = parts[0];
    name.port = parts[1];
  } else if (parts.size() == 3) {
    name.scheme = parts[0];
    name.name = parts[1];
    name.port = parts[2];
    if (name.scheme != "http" && name.scheme != "https") return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (name.name.empty()) return std::nullopt;
  return name;
}

bool IsProxyable(std::string_view ip) {
  const std::string text(ip);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    return IsProxyableV4(reinterpret_cast<const unsigned char*>(&v4));
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return IsProxyableV4(v6.s6_addr + 12);
  return !IN6_IS_ADDR_UNSPECIFIED(&v6) && !IN6_IS_ADDR_LOOPBACK(&v6) &&
         !IN6_IS_ADDR_LINKLOCAL(&v6) && !IN6_IS_ADDR_MULTICAST(&v6);
}

Result<uint16_t> ProxyPort(std::string_view text) {
  const std::optional<uint16_t> port = PortNumber(text);
  if (!port) return Status::BadRequest("invalid port " + Quote(text));
  return *port;
}

Result<ProxyTarget> PodTarget(const core::v1::Pod& pod, const ProxyName& name) {
  ProxyTarget target;
  target.tls = name.scheme == "https";
  target.host = pod.status.podIP;
  if (target.host.empty() && !pod.status.podIPs.empty()) target.host = pod.status.podIPs[0].ip;
  if (!IsProxyable(target.host)) return NotAllowed();
  target.port = target.tls ? 443 : 80;
  if (!name.port.empty()) {
    COX_ASSIGN_OR_RETURN(target.port, ProxyPort(name.port));
    return target;
  }
  for (const core::v1::Container& container : pod.spec.containers) {
    if (container.ports.empty()) continue;
    target.port = static_cast<uint16_t>(container.ports[0].containerPort);
    break;
  }
  return target;
}

Result<std::string> ServicePortName(const core::v1::Service& service, const ProxyName& name) {
  const std::optional<uint16_t> number = PortNumber(name.port);
  if (!number) return name.port;
  for (const core::v1::ServicePort& port : service.spec.ports) {
    if (port.port == *number) return port.name;
  }
  return Status::Unavailable("no service port " + name.port + " found for service " +
                             Quote(service.metadata.name));
}

Result<std::vector<ProxyTarget>> ServiceTargets(const List<discovery::v1::EndpointSlice>& slices,
                                                const ProxyName& name,
                                                const std::string& port_name) {
  std::vector<ProxyTarget> targets;
  bool refused = false;
  for (const discovery::v1::EndpointSlice& slice : slices) {
    if (slice.addressType == "FQDN") continue;
    for (const discovery::v1::EndpointPort& port : slice.ports) {
      if (port.name.value_or("") != port_name || !port.port) continue;
      for (const discovery::v1::Endpoint& endpoint : slice.endpoints) {
        if (!endpoint.conditions.ready.value_or(true) || endpoint.addresses.empty()) continue;
        if (!IsProxyable(endpoint.addresses[0])) {
          refused = true;
          continue;
        }
        targets.push_back(
            {name.scheme == "https", endpoint.addresses[0], static_cast<uint16_t>(*port.port)});
      }
    }
  }
  if (!targets.empty()) return targets;
  if (refused) return NotAllowed();
  return Status::Unavailable("no endpoints available for service " + Quote(name.name));
}

std::string_view ProxySubpath(std::string_view raw_path, size_t segments_before) {
  size_t at = 0;
  for (size_t i = 0; i < segments_before; ++i) {
    at = raw_path.find_first_not_of('/', at);
    if (at == raw_path.npos) return {};
    at = std::min(raw_path.find('/', at), raw_path.size());
  }
  return raw_path.substr(at);
}

}  // namespace cox::apiserver
