// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/streaming/proxy_headers.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kConnectionHeaders[] = {
    "connection",          "content-length",   "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te",         "trailer",
    "transfer-encoding",   "upgrade"};
constexpr std::string_view kCrossOrigin[] = {
    "access-control-allow-credentials", "access-control-allow-headers",
    "access-control-allow-methods", "access-control-allow-origin"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The additional hop-by-hop headers that "connection" lists.
std::vector<std::string> NamedByConnection(const net::Headers& headers) {
  std::vector<std::string> names;
  for (const std::string_view line : headers.All("connection")) {
    for (const std::string_view token : Split(line, ',')) {
      names.push_back(Lower(TrimSpace(token)));
    }
  }
  return names;
}

net::Headers WithoutConnection(const net::Headers& headers) {
  const std::vector<std::string> named = NamedByConnection(headers);
  net::Headers kept;
  for (const auto& [name, value] : headers) {
    const bool dropped = std::find(std::begin(kConnectionHeaders), std::end(kConnectionHeaders),
                                   name) != std::end(kConnectionHeaders) ||
                         std::find(named.begin(), named.end(), name) != named.end();
    if (!dropped) kept.Add(name, value);
  }
  return kept;
}

// Returns "10.0.0.1" for "10.0.0.1:41234", and "::1" for "[::1]:41234".
std::string_view AddressOf(std::string_view peer) {
  const size_t colon = peer.rfind(':');
  if (colon == peer.npos) return {};
  peer = peer.substr(0, colon);
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return peer;
}

}  // namespace

net::Headers ForwardedHeaders(const net::Request& request) {
  net::Headers headers = WithoutConnection(request.headers);
  headers.Remove("host");
  const std::string_view peer =
      request.peer == nullptr ? std::string_view() : AddressOf(request.peer->address);
  if (!peer.empty()) {
    std::string way;
    for (const std::string_view before : headers.All("x-forwarded-for")) {
      way.append(before).append(", ");
    }
    headers.Set("x-forwarded-for", way.append(peer));
  }
  return headers;
}

void AddFrontHeaders(const ProxyFront& front, std::string_view subpath, net::Headers* headers) {
  headers->Set("x-forwarded-uri", front.prefix + std::string(subpath));
  headers->Set("x-forwarded-host", front.host);
  headers->Set("x-forwarded-proto", "https");
}

net::Headers ResponseHeaders(const net::Headers& headers) {
  net::Headers kept = WithoutConnection(headers);
  for (const std::string_view name : kCrossOrigin) kept.Remove(name);
  return kept;
}

std::string RewriteLocation(std::string_view location, const ProxyFront& front,
                            std::string_view behind) {
  std::string_view path = location;
  if (path.starts_with(behind) && (path.size() == behind.size() || path[behind.size()] == '/')) {
    path.remove_prefix(behind.size());
  } else if (!path.starts_with('/') || path.starts_with("//")) {
    return std::string(location);  // relative, or on another server
  }
  if (path.starts_with(front.prefix)) return std::string(path);  // already has the prefix
  return front.prefix + (path.empty() ? "/" : "") + std::string(path);
}

}  // namespace cox::apiserver
