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

// How kubelets are reached.
struct KubeletClientOptions {
  // Of a Node's addresses the first that there is, in this order.
  std::vector<std::string> preferred_address_types = {"Hostname", "InternalDNS", "InternalIP",
                                                      "ExternalDNS", "ExternalIP"};
  uint16_t port = 10250;                     // where a Node does not say
  std::chrono::milliseconds timeout{5'000};  // to connect
  // Whom to trust and who we are; asked for each connection, so that files may change. Null: any
  // kubelet is trusted, and none knows us.
  std::function<Result<net::ClientTls>()> tls;
};

}  // namespace cox::apiserver
