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

// Where the servers of an operator listen: probes, metrics, webhooks.
namespace cox::net {

struct BindAddress {
  std::string host;  // empty: all of this computer's addresses
  uint16_t port = 0;

  bool operator==(const BindAddress&) const = default;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0", ":8080"; none of "0" and "". BadRequest for
// others.
Result<std::optional<BindAddress>> ParseBindAddress(std::string_view text);

// Starts a server there; `options` are the rest of it. Without a host that is every address, of
// IPv6 and IPv4 or, on a computer that has no IPv6, of IPv4.
Result<std::unique_ptr<Server>> ListenOn(const Context& ctx, const BindAddress& address,
                                         ServerOptions options, const Handler& handler);

}  // namespace cox::net
