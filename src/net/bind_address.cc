// SPDX-License-Identifier: Apache-2.0
#include "net/bind_address.h"

#include <charconv>
#include <utility>

#include "base/strings.h"

namespace cox::net {

Result<std::optional<BindAddress>> ParseBindAddress(std::string_view text) {
  if (text.empty() || text == "0") return std::optional<BindAddress>();
  const auto wrong = [&] {
    return Status::BadRequest("bind address " + Quote(text) +
                              ": want host:port, :port, or 0 for none");
  };
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return wrong();
  BindAddress address;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return wrong();
  }
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return wrong();
  return std::optional<BindAddress>(std::move(address));
}

Result<std::unique_ptr<Server>> ListenOn(const Context& ctx, const BindAddress& address,
                                         ServerOptions options, const Handler& handler) {
  const bool all = address.host.empty();
  options.port = address.port;
  // "::" accepts IPv4, too.
  options.bind_address = all ? "::" : address.host;
  Result<std::unique_ptr<Server>> server = Server::Start(ctx, options, handler);
  if (server.ok() || !all) return server;
  options.bind_address = "0.0.0.0";
  return Server::Start(ctx, std::move(options), handler);
}

}  // namespace cox::net
