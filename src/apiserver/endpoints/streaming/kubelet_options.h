// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls.h"

namespace cox::apiserver {

// Options for connections to kubelets.
struct KubeletClientOptions {
  // The first type in this list for which the Node has an address is used.
  std::vector<std::string> preferred_address_types = {"Hostname", "InternalDNS", "InternalIP",
                                                      "ExternalDNS", "ExternalIP"};
  uint16_t port = 10250;                     // if the Node's status has none
  std::chrono::milliseconds timeout{5'000};  // to connect
  // CA and client certificate; called for each connection, so that files can be rotated. Null:
  // kubelets are not verified and no client certificate is sent.
  std::function<Result<net::ClientTls>()> tls;
  // Reports whether the proxy subresources may connect to an address. Null: IsProxyable(). Tests
  // replace it, because their servers are on the loopback interface.
  std::function<bool(const std::string& ip)> proxyable;
};

}  // namespace cox::apiserver
