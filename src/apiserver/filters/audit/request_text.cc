// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/request_text.h"

#include <algorithm>
#include <optional>

#include "base/secret.h"
#include "base/strings.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

constexpr size_t kMaxUserAgent = 1024;
constexpr std::string_view kCut = "...TRUNCATED";
constexpr std::string_view kTokenParameter = "access_token=";

// Clients control these headers, so only valid addresses are copied.
void AddAddress(std::string_view text, std::vector<std::string>& to) {
  const std::optional<validation::IpAddress> ip = validation::ParseIpSloppy(TrimSpace(text));
  if (ip) to.push_back(ip->ToString());
}

// Removes the port and the brackets of IPv6.
std::string_view HostOf(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return {};
  address = address.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  return address;
}

}  // namespace

std::vector<std::string> SourceIps(const net::Request& request) {
  std::vector<std::string> ips;
  if (const auto forwarded = request.headers.Get("x-forwarded-for")) {
    for (std::string_view part : Split(*forwarded, ',')) AddAddress(part, ips);
  }
  if (const auto real = request.headers.Get("x-real-ip")) {
    std::vector<std::string> one;
    AddAddress(*real, one);
    if (!one.empty() && std::find(ips.begin(), ips.end(), one.front()) == ips.end()) {
      ips.push_back(std::move(one.front()));
    }
  }
  // The peer is always included, because clients cannot forge it.
  const std::string_view peer =
      request.peer != nullptr ? HostOf(request.peer->address) : std::string_view();
  if (!peer.empty() && (ips.empty() || ips.back() != peer)) ips.emplace_back(peer);
  return ips;
}

std::string AuditedUserAgent(const net::Request& request) {
  const std::string_view agent = request.headers.Get("user-agent").value_or("");
  std::string text(agent.substr(0, kMaxUserAgent));
  if (agent.size() > kMaxUserAgent) text += kCut;
  return text;
}

std::string AuditedUri(const net::Request& request) {
  std::string uri = request.target;
  size_t at = uri.find('?');
  while (at != std::string::npos && (at = uri.find(kTokenParameter, at)) != std::string::npos) {
    const bool whole = uri[at - 1] == '?' || uri[at - 1] == '&';
    at += kTokenParameter.size();
    if (!whole) continue;
    const size_t end = std::min(uri.find('&', at), uri.size());
    uri.replace(at, end - at, Redacted::kText);
  }
  return uri;
}

}  // namespace cox::apiserver
