// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/endpoints/streaming/kubelet_options.h"
#include "base/result.h"
#include "net/client.h"

namespace cox::apiserver {

// The server that a request is forwarded to.
struct Backend {
  net::ClientOptions client;
  std::string target = "/";  // path and query
  // "https://10.0.0.1:10250/path?query", for messages.
  std::string Url() const;
};

// "host:port", with brackets around IPv6.
std::string JoinHostPort(const std::string& host, uint16_t port);

// Errors: an error without a reason (500) that lists the Node's addresses if no type matches.
Result<std::string> PreferredAddress(const core::v1::Node& node,
                                     const std::vector<std::string>& types);

// The address and TLS options of the kubelet of `node`.
Result<net::ClientOptions> KubeletOf(const core::v1::Node& node,
                                     const KubeletClientOptions& options);

}  // namespace cox::apiserver
