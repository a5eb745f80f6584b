// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "net/server.h"

// Bind addresses of the probe, metrics and webhook servers.
namespace cox::net {

struct BindAddress {
  std::string host;  // empty: all addresses of the host
  uint16_t port = 0;

  bool operator==(const BindAddress&) const = default;
};

// Parses "127.0.0.1:8080", "[::1]:8080", "localhost:0" and ":8080". Returns nullopt for "0" and "".
// BadRequest for any other text.
Result<std::optional<BindAddress>> ParseBindAddress(std::string_view text);

// Starts a server that listens on `address`; `options` holds the remaining settings. Without a host
// it listens on all IPv6 and IPv4 addresses, or on IPv4 only if the host has no IPv6.
Result<std::unique_ptr<Server>> ListenOn(const Context& ctx, const BindAddress& address,
                                         ServerOptions options, const Handler& handler);

}  // namespace cox::net
