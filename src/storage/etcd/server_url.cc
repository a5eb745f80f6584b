// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/server_url.h"

#include <charconv>
#include <string>

namespace cox::storage {
namespace {

constexpr uint16_t kEtcdPort = 2379;

}  // namespace

Result<net::grpc::Endpoint> ParseServerUrl(std::string_view url) {
  net::grpc::Endpoint endpoint;
  std::string_view rest = url;
  const auto bad = [&]() {
    return Status::BadRequest("\"" + std::string(url) +
                              "\" is not an etcd server: want https://host:port");
  };
  if (rest.starts_with("https://")) {
    endpoint.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.find("://") != std::string_view::npos) {
    return bad();
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  std::string_view port;
  if (rest.starts_with('[')) {  // IPv6
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) return bad();
    endpoint.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && rest.front() != ':') return bad();
    port = rest.empty() ? rest : rest.substr(1);
    if (!rest.empty() && port.empty()) return bad();
  } else {
    const size_t colon = rest.find(':');
    endpoint.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = rest.substr(colon + 1);
      if (port.empty()) return bad();
    }
  }
  if (endpoint.host.empty() || endpoint.host.find_first_of("/@?# ") != std::string::npos) {
    return bad();
  }
  endpoint.port = kEtcdPort;
  if (!port.empty()) {
    const char* end = port.data() + port.size();
    const auto [at, error] = std::from_chars(port.data(), end, endpoint.port);
    if (error != std::errc() || at != end || endpoint.port == 0) return bad();
  }
  return endpoint;
}

}  // namespace cox::storage
