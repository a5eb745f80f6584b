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

// What answers a request in our place.
struct Backend {
  net::ClientOptions client;
  std::string target = "/";  // path and query
  // "https://10.0.0.1:10250/path?query", for people.
  std::string Url() const;
};

// "host:port", with brackets around IPv6.
std::string JoinHostPort(const std::string& host, uint16_t port);

// Without a type that the Node has: an error without a reason (500) that names what it has.
Result<std::string> PreferredAddress(const core::v1::Node& node,
                                     const std::vector<std::string>& types);

// Where the kubelet of `node` listens.
Result<net::ClientOptions> KubeletOf(const core::v1::Node& node,
                                     const KubeletClientOptions& options);

}  // namespace cox::apiserver
