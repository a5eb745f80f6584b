// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/node_address.h"

namespace cox::apiserver {

std::string JoinHostPort(const std::string& host, uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Backend::Url() const {
  return (client.tls ? "https://" : "http://") + JoinHostPort(client.host, client.port) + target;
}

Result<std::string> PreferredAddress(const core::v1::Node& node,
                                     const std::vector<std::string>& types) {
  for (const std::string& type : types) {
    for (const core::v1::NodeAddress& address : node.status.addresses) {
      if (address.type == type && !address.address.empty()) return address.address;
    }
  }
  std::string known;
  for (const core::v1::NodeAddress& address : node.status.addresses) {
    known += (known.empty() ? "{" : " {") + address.type + " " + address.address + "}";
  }
  return Status(Reason::kUnknown, "no preferred addresses found; known addresses: [" + known + "]");
}

Result<net::ClientOptions> KubeletOf(const core::v1::Node& node,
                                     const KubeletClientOptions& options) {
  // `coxswain simulate` sets this label. Its nodes have addresses but no kubelet.
  if (node.metadata.labels.Get("coxswain.dev/simulated") != nullptr) {
    return Status::BadRequest("node " + node.metadata.name +
                              " is simulated: its Pods have no logs, exec, attach or port-forward");
  }
  net::ClientOptions client;
  COX_ASSIGN_OR_RETURN(client.host, PreferredAddress(node, options.preferred_address_types));
  const int32_t port = node.status.daemonEndpoints.kubeletEndpoint.Port;
  client.port = port > 0 && port < 65536 ? static_cast<uint16_t>(port) : options.port;
  client.connect_timeout = options.timeout;
  // Each connection serves one request, so HTTP/2 has no benefit.
  client.http2 = false;
  if (options.tls == nullptr) {
    client.tls_options.insecure = true;
    return client;
  }
  COX_ASSIGN_OR_RETURN(client.tls_options, options.tls());
  return client;
}

}  // namespace cox::apiserver
