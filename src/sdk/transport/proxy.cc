// SPDX-License-Identifier: Apache-2.0
#include "sdk/transport/proxy.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <charconv>

#include "base/strings.h"

namespace cox::sdk {
namespace {

namespace ip = boost::asio::ip;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::optional<ip::address> AddressOf(const std::string& text) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(text, error);
  if (error) return std::nullopt;
  return address;
}

bool IsInNetwork(const std::string& network, const ip::address& address) {
  boost::system::error_code error;
  if (address.is_v4()) {
    const auto v4 = ip::make_network_v4(network, error);
    if (error) return false;
    const uint32_t mask = v4.netmask().to_uint();
    return (v4.address().to_uint() & mask) == (address.to_v4().to_uint() & mask);
  }
  const auto v6 = ip::make_network_v6(network, error);
  if (error) return false;
  const auto ours = ip::make_network_v6(address.to_v6(), v6.prefix_length());
  return ours.canonical() == v6.canonical();
}

// "host", "host:port", "[::1]", "[::1]:port", "::1"; port 0 means any. False if there is no host.
bool SplitHost(std::string_view text, std::string* host, uint16_t* port) {
  std::string_view number;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    *host = text.substr(1, close - 1);
    number = text.substr(close + 1);
  } else if (std::ranges::count(text, ':') == 1) {
    const size_t colon = text.find(':');
    *host = text.substr(0, colon);
    number = text.substr(colon);
  } else {
    *host = text;
  }
  *port = 0;
  if (number.empty()) return !host->empty();
  number.remove_prefix(1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), *port);
  return error == std::errc() && end == number.data() + number.size() && !host->empty();
}

bool Excludes(std::string_view item, const std::string& host, uint16_t port,
              const std::optional<ip::address>& address) {
  if (item == "*") return true;
  if (item.find('/') != std::string_view::npos) {
    return address && IsInNetwork(std::string(item), *address);
  }
  std::string name;
  uint16_t only_port = 0;
  if (!SplitHost(item, &name, &only_port)) return false;
  if (only_port != 0 && only_port != port) return false;
  if (const auto excluded = AddressOf(name)) return address == excluded;
  if (address) return false;
  if (name.starts_with("*.")) name.erase(0, 1);
  if (name.starts_with('.')) return host.ends_with(name);
  return host == name || host.ends_with("." + name);
}

bool IsLoopback(const std::string& host, const std::optional<ip::address>& address) {
  return host == "localhost" || (address && address->is_loopback());
}

Result<std::optional<net::Proxy>> Parse(const std::string& text, const std::string& where) {
  // The usual form in the variables: "proxy:3128".
  const std::string whole = text.find("://") == std::string::npos ? "http://" + text : text;
  const auto url = net::ParseUrl(whole);
  if (!url.ok()) return url.status().WithContext(where);
  struct Known {
    std::string_view scheme;
    net::Proxy::Kind kind;
    uint16_t port;
  };
  static constexpr Known kKnown[] = {{"http", net::Proxy::Kind::kHttp, 80},
                                     {"https", net::Proxy::Kind::kHttps, 443},
                                     {"socks5", net::Proxy::Kind::kSocks5, 1080},
                                     {"socks5h", net::Proxy::Kind::kSocks5, 1080}};
  const auto* const known = std::ranges::find(kKnown, url->scheme, &Known::scheme);
  if (known == std::end(kKnown)) {
    return Status::BadRequest(where + ": want an http, https or socks5 URL");
  }
  return std::optional<net::Proxy>(net::Proxy{.kind = known->kind,
                                              .host = url->host,
                                              .port = url->port != 0 ? url->port : known->port,
                                              .username = url->username,
                                              .password = Secret<std::string>(url->password)});
}

}  // namespace

bool IsExcluded(std::string_view list, std::string_view host, uint16_t port) {
  const std::string name = Lower(host);
  const std::optional<ip::address> address = AddressOf(name);
  for (const std::string_view part : Split(list, ',')) {
    const std::string item = Lower(TrimSpace(part));
    if (!item.empty() && Excludes(item, name, port, address)) return true;
  }
  return false;
}

Result<std::optional<net::Proxy>> ProxyFor(const std::string& proxy_url, const net::Url& server,
                                           const Environment& environment) {
  if (!proxy_url.empty()) return Parse(proxy_url, "proxy-url");
  const auto variable = [&environment](const std::string& upper) {
    const std::string value = environment.variable(upper);
    return !value.empty() ? value : environment.variable(Lower(upper));
  };
  const bool tls = server.scheme == "https";
  const std::string name = tls ? "HTTPS_PROXY" : "HTTP_PROXY";
  const std::string url = variable(name);
  const uint16_t port = server.port != 0 ? server.port : tls ? 443 : 80;
  const std::string host = Lower(server.host);
  if (url.empty() || IsLoopback(host, AddressOf(host)) ||
      IsExcluded(variable("NO_PROXY"), host, port)) {
    return std::optional<net::Proxy>();
  }
  return Parse(url, name);
}

}  // namespace cox::sdk
